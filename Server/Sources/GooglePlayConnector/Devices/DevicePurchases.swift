internal import Foundation
internal import GooglePlayAPI
internal import Storage
internal import Stores
internal import StrictJSON
internal import Synchronization
public import TollgateAPI
public import TollgateCore

/// Purchases that devices present by their tokens.
///
/// A token proves nothing: Google is asked. How often a stranger may have it asked is bounded, so that
/// genuine hints keep their quota.
public struct DevicePurchases: Sendable {
    let reads: GooglePlayReads
    private var context: StoreContext { reads.context }
    /// Reads of tokens that Google does not know, for all callers together: 120 a minute.
    private let unknown = CallLimit(calls: 120, seconds: 60)
    private let pause = UnknownPause()
    /// Those of one customer, whom others' junk does not keep out before they are used up: 5 a minute.
    private let ownUnknown = CallLimit(calls: 5, seconds: 60)
    /// Reads that one customer may cause.
    private let perCustomer = CallLimit(calls: 60, seconds: 3600)
    /// Restores of one purchase by one customer.
    private let restores = CallLimit(calls: 10, seconds: 86_400)

    /// Hundredths of the quota that devices leave to hints.
    private static let reserve: Int64 = 50

    init(_ reads: GooglePlayReads) { self.reads = reads }

    /// Takes in a purchase that a device presents.
    ///
    /// - Parameters:
    ///   - customer: who is signed in on the device; `nil` claims for nobody.
    ///   - package: the package of the app that asks, where the request names none.
    /// - Throws: a refusal 400 `parameter_invalid` for what is no token, or not of this product; 404
    ///   `resource_missing` where Google knows no such purchase; 409 `owned_elsewhere`; 429
    ///   `rate_limited`; 503 `store_unavailable`.
    public func receive(
        _ request: API.GooglePlayPurchaseRequest,
        from customer: Customer.ID?,
        in package: String? = nil
    ) async throws -> API.GooglePlayPurchaseReply {
        let app = try app(of: request, package)
        let isSigned = try isSigned(request, of: app)
        let token = request.purchaseToken
        let now = await context.clocks.now()
        let claim = customer.map { customer in
            PlayClaim(
                claim: Claim(
                    customer: customer,
                    mode: Claim.Mode(rawValue: request.mode.rawValue) ?? .observed
                ),
                stated: now
            )
        }
        let known = try await reads.record(ofToken: token, of: app.packageName)
        var isClaim = false
        if let known, let customer {
            isClaim = try await !context.records.holds(customer, known.key)
            if isClaim, request.mode == .restored {
                try restores.admit("\(customer) \(known.key)", at: context.clocks.wall())
            }
        }
        if let known, !isClaim, known.isAnswer(at: now, in: context.records.history) {
            return reply(known.key, customer, isNew: false)
        }
        let outcome: GooglePlayReads.Outcome
        do {
            // Junk has no signature and no record.
            let isTrusted = isSigned || known != nil
            outcome = try await read(request, of: app, claim, isTrusted: isTrusted)
        } catch {
            // What was bought once is theirs already, whatever became of the read.
            guard let known, !isClaim, known.isBoughtOnce else { throw error }
            return reply(known.key, customer, isNew: false)
        }
        guard let key = outcome.key else {
            throw Refusal.invalid(
                "purchase_token",
                "Google's answer about this purchase cannot be used. It is kept for your staff as a parked message."
            )
        }
        if let customer, try await !context.records.holds(customer, key) {
            throw Refusal(
                409,
                "owned_elsewhere",
                "This purchase belongs to another customer; the ownership policy of the catalog decides that."
            )
        }
        return reply(key, customer, isNew: outcome.isNews)
    }

    private func reply(
        _ key: Purchase.Key,
        _ customer: Customer.ID?,
        isNew: Bool
    ) -> API.GooglePlayPurchaseReply {
        API.GooglePlayPurchaseReply(
            environment: API.Environment(rawValue: key.environment.rawValue),
            purchase: key.canonical,
            customer: customer?.rawValue,
            new: isNew
        )
    }

    // MARK: - Before Google is asked

    private func app(
        of request: API.GooglePlayPurchaseRequest,
        _ asking: String?
    ) throws -> GooglePlaySetUp.App {
        guard Self.isToken(request.purchaseToken) else {
            throw Refusal.invalid(
                "purchase_token",
                "This is not a purchase token: send the value of Purchase.getPurchaseToken() unchanged."
            )
        }
        return try reads.setUp.requireApp(request.packageName ?? asking)
    }

    /// Google's tokens are letters, digits, `.`, `-` and `_`.
    static func isToken(_ text: String) -> Bool {
        (8...1_000).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"),
                    UInt8(ascii: "_"):
                    true
                default: false
                }
            }
    }

    /// Returns `true` if Google signed the purchase for the app, where that can be checked.
    private func isSigned(
        _ request: API.GooglePlayPurchaseRequest,
        of app: GooglePlaySetUp.App
    ) throws -> Bool {
        guard let signed = request.signed, let key = app.licenseKey else { return false }
        func refuse(_ message: String) -> Refusal { Refusal.invalid("signed", message) }
        guard signed.originalJSON.utf8.count <= 16_384,
            key.isSigned(signed.originalJSON, by: signed.signature)
        else {
            throw refuse(
                "The signature is not Google's for this app: send getOriginalJson() and getSignature() as they are, and compare TOLLGATE_GOOGLE_PLAY_LICENSE_KEY with the Play Console."
            )
        }
        guard let json = try? JSON(Array(signed.originalJSON.utf8)),
            json["purchaseToken"]?.string == request.purchaseToken
        else { throw refuse("What was signed is another purchase.") }
        guard json["packageName"]?.string == app.packageName else {
            throw refuse("What was signed is a purchase in another app.")
        }
        return true
    }

    // MARK: - Asking Google

    private func read(
        _ request: API.GooglePlayPurchaseRequest,
        of app: GooglePlaySetUp.App,
        _ claim: PlayClaim?,
        isTrusted: Bool
    ) async throws -> GooglePlayReads.Outcome {
        let wall = context.clocks.wall()
        let customer = claim?.claim.customer.rawValue
        let hasRoom = customer.map { ownUnknown.hasRoom(for: $0, at: wall) } ?? false
        if !isTrusted, !hasRoom { try pause.requireOver(at: wall) }
        if let customer { try perCustomer.admit(customer, at: wall) }
        do {
            let token = request.purchaseToken
            return switch request.kind {
            case .subscription:
                try await reads.read(
                    subscription: token,
                    of: app,
                    claim: claim,
                    expecting: request.productID,
                    leaving: Self.reserve
                )
            case .oneTime:
                try await reads.read(
                    product: token,
                    of: app,
                    claim: claim,
                    expecting: request.productID,
                    leaving: Self.reserve
                )
            }
        } catch let used as QuotaUsedUp {
            throw refusal(for: used, app, at: wall)
        } catch let fault as GooglePlay.APIFault {
            switch fault.meaning {
            case .notFound, .invalid, .noLongerReadable:
                // A 410 is of a genuine purchase.
                if !isTrusted, fault.meaning != .noLongerReadable {
                    if let customer { try? ownUnknown.admit(customer, at: wall) }
                    pause.note(unknown, at: wall)
                }
                throw Refusal(
                    404,
                    .resourceMissing,
                    "Google Play does not show this purchase: '\(request.purchaseToken.prefix(24))…'.",
                    param: "purchase_token"
                )
            default: throw fault
            }
        }
    }
}

extension DevicePurchases {
    private func refusal(
        for used: QuotaUsedUp,
        _ app: GooglePlaySetUp.App,
        at wall: Instant
    ) -> Refusal {
        let until = reads.quotas.forbiddenUntil(used.bucket, of: app.packageName)
        guard let until, until > wall.milliseconds else {
            var refusal = Refusal(
                429,
                .rateLimited,
                "Google Play is asked as often as it allows; try again in 5 s."
            )
            refusal.retryAfter = 5
            return refusal
        }
        let seconds = (until - wall.milliseconds + 999) / 1000
        var refusal = Refusal(
            503,
            .storeUnavailable,
            "Google Play refuses this server's service account, so nothing was done; try again in \(seconds) s."
        )
        refusal.retryAfter = seconds
        return refusal
    }
}

/// The time for which no unsigned token is read: too many were unknown to Google.
private final class UnknownPause: Sendable {
    private let until = Mutex<Int64>(0)

    func requireOver(at wall: Instant) throws {
        let left = until.withLock { $0 } - wall.milliseconds
        // A clock that went back locks nobody out for long.
        guard (1...60_000).contains(left) else { return }
        var refusal = Refusal(
            429,
            .rateLimited,
            "Too many unknown purchase tokens; try again in \((left + 999) / 1000) s."
        )
        refusal.retryAfter = (left + 999) / 1000
        throw refusal
    }

    /// Counts a token that Google does not know.
    func note(_ limit: CallLimit, at wall: Instant) {
        do { try limit.admit("all", at: wall) } catch {
            let seconds = (error as? Refusal)?.retryAfter ?? 1
            until.withLock { $0 = wall.milliseconds + min(60, max(10, seconds)) * 1000 }
        }
    }
}
