internal import Crypto
internal import Foundation
internal import GooglePlayAPI
internal import Logging
internal import Storage
internal import Stores
internal import StrictJSON
internal import TollgateCore

/// Reads purchases and orders from Google Play and journals what they say.
///
/// A read states the second before it was sent, by Google's `Date`: Google's objects carry no version
/// (RULES §4.2).
struct GooglePlayReads: Sendable {
    let context: StoreContext
    let setUp: GooglePlaySetUp
    let quotas: PlayQuotas
    /// Called while a quota leaves no room; `nil`: the call fails at once.
    private var rest: (@Sendable () async throws -> Void)?
    private let order = VirtualOrder()
    /// The pace of alarms about a refused service account.
    private let alarmPace = WorkPace()
    private let foreignPace = WorkPace()
    /// Tokens that Google did not show.
    private let unknown = RecentlyUnknown<String>()
    /// Orders that Google did not show.
    let missing = MissingOrders()

    init(_ context: StoreContext, _ setUp: GooglePlaySetUp, _ quotas: PlayQuotas) {
        (self.context, self.setUp, self.quotas) = (context, setUp, quotas)
    }

    /// These reads by somebody who waits for room in the quotas.
    ///
    /// - Parameter rest: returns after a moment; throws where that took too long.
    func waiting(_ rest: @escaping @Sendable () async throws -> Void) -> Self {
        var reads = self
        reads.rest = rest
        return reads
    }

    /// The outcome of a read.
    struct Outcome: Sendable {
        /// As of when it speaks.
        var instant: Instant
        /// `true` where it said anything that the record did not.
        var isNews: Bool
        /// The purchase that it is about; `nil` where it names none.
        var key: Purchase.Key?
        /// The instant from which on the record says the same.
        var knownSince: Instant?
        /// The acts at Google that the read requires.
        var acts: [Wanted] = []
        /// `true` where nothing was kept, as the reader asked.
        var isLeftOut = false
    }

    /// Reads a subscription.
    ///
    /// - Parameters:
    ///   - claim: the reader's claim to the purchase, journalled with the read.
    ///   - confirms: the read is journalled though it says what the record says.
    ///   - retried: an act that is being tried again, which the read does not raise anew.
    func read(
        subscription token: String,
        of app: GooglePlaySetUp.App,
        claim: PlayClaim? = nil,
        expecting product: String? = nil,
        leaving reserve: Int64 = 0,
        confirms: Bool = false,
        retrying retried: PlayAct? = nil
    ) async throws -> Outcome {
        let answer = try await call(.subscriptions, app, leaving: reserve) {
            try await $0.subscription(token)
        }
        try Self.require(product, among: answer.value.lineItems.map(\.productID))
        let instant = await instant(of: answer.seconds)
        let read = PlayRead(
            GooglePlayTranslator.message(
                reading: answer.value,
                token: token,
                of: app.packageName,
                at: instant
            ),
            acts: PlayAct.acts(for: answer.value, token: token, readAt: instant),
            retrying: retried
        )
        return try await journal(
            read,
            "subscription",
            token,
            answer.body,
            instant,
            claim,
            confirms: confirms
        )
    }

    /// Reads a purchase of one-time products.
    ///
    /// - Parameters:
    ///   - retried: an act that is being tried again, which the read does not raise anew.
    ///   - isLeftOut: tells of which purchases nothing is kept.
    func read(
        product token: String,
        of app: GooglePlaySetUp.App,
        claim: PlayClaim? = nil,
        expecting product: String? = nil,
        leaving reserve: Int64 = 0,
        retrying retried: PlayAct? = nil,
        leavingOut isLeftOut: (GooglePlay.ProductPurchase) -> Bool = { _ in false }
    ) async throws -> Outcome {
        let answer = try await call(.oneTime, app, leaving: reserve) { try await $0.product(token) }
        try Self.require(product, among: answer.value.lineItems.map(\.productID))
        let instant = await instant(of: answer.seconds)
        if isLeftOut(answer.value) {
            return Outcome(instant: instant, isNews: false, isLeftOut: true)
        }
        let read = PlayRead(
            GooglePlayTranslator.message(
                reading: answer.value,
                token: token,
                of: app.packageName,
                at: instant
            ),
            acts: PlayAct.acts(for: answer.value, token: token, readAt: instant) { item in
                context.records.history.product(
                    item,
                    of: answer.value,
                    in: app.packageName,
                    readAt: instant
                )
            },
            retrying: retried
        )
        return try await journal(read, "product", token, answer.body, instant, claim)
    }

    /// - Throws: a refusal where a device named another product than Google does.
    private static func require(_ product: String?, among products: [String]) throws {
        guard let product, !products.contains(product) else { return }
        throw Refusal.invalid(
            "product_id",
            "This token is not of '\(product.prefix(80))': leave product_id out, or send the product that was bought."
        )
    }

    /// Reads an order: the only place where Google states money and past periods.
    @discardableResult
    func read(
        order id: String,
        of app: GooglePlaySetUp.App,
        leaving reserve: Int64 = 0
    ) async throws -> Outcome {
        let answer = try await call(.orders, app, leaving: reserve) { try await $0.order(id) }
        return try await take(order: answer, id, of: app, leaving: reserve)
    }

    /// Reads orders in one call.
    ///
    /// - Returns: the outcome of each order, by its id; orders that the answer lacks are missing.
    /// - Throws: Google's fault where one of the orders cannot be read.
    func read(
        orders ids: [String],
        of app: GooglePlaySetUp.App,
        leaving reserve: Int64 = 0
    ) async throws -> [String: Outcome] {
        let answers = try await call(.orders, app, leaving: reserve) { try await $0.orders(ids) }
        let wanted = Set(ids)
        var outcomes: [String: Outcome] = [:]
        for answer in answers where wanted.contains(answer.value.id) {
            let id = answer.value.id
            outcomes[id] = try await take(order: answer, id, of: app, leaving: reserve)
        }
        return outcomes
    }

    /// Journals an order that was read, after its purchase.
    @discardableResult
    func take(
        order answer: GooglePlay.Client.Answer<GooglePlay.Order>,
        _ id: String,
        of app: GooglePlaySetUp.App,
        leaving reserve: Int64 = 0
    ) async throws -> Outcome {
        missing.forget(id)
        let instant = await instant(of: answer.seconds)
        guard let token = answer.value.purchaseToken else {
            return Outcome(instant: instant, isNews: false)
        }
        // Only the purchase says whether money is behind it: a licence tester's has none.
        guard let named = try await known(token, of: app, leaving: reserve) else {
            context.counters.count(
                "tollgate_google_play_faults_total",
                "bucket=\"orders\",meaning=\"unknownPurchase\""
            )
            return Outcome(instant: instant, isNews: false)
        }
        let keeper = try await keeper(of: id, named)
        let message = GooglePlayTranslator.message(
            reading: answer.value,
            token: keeper.key.id,
            of: app.packageName,
            in: keeper.key.environment,
            at: instant
        )
        return try await journal(
            PlayRead(message),
            "order",
            id,
            answer.body,
            instant,
            nil,
            known: keeper
        )
    }

    /// Journals an entry of the list of voided purchases.
    @discardableResult
    func record(
        _ void: GooglePlay.VoidedPurchase,
        of app: GooglePlaySetUp.App,
        at instant: Instant,
        leaving reserve: Int64 = 0
    ) async throws -> Outcome {
        guard let known = try await known(void.purchaseToken, of: app, leaving: reserve) else {
            return Outcome(instant: instant, isNews: false)
        }
        let message = GooglePlayTranslator.message(
            void: void,
            of: app.packageName,
            in: known.key.environment,
            at: instant
        )
        if case .facts(let facts, let key) = message,
            !facts.allSatisfy({ known.states($0.statement) })
        {
            // What became of the access, the purchase itself says. It is queued first: a crash between
            // the two costs one more read.
            let isOnce = known.googlePlay?.subscription == nil
            let kind: Wanted.Kind = isOnce ? .googlePlayPurchase : .googlePlaySubscription
            try await context.records.questions.want(
                Wanted(kind: kind, object: void.purchaseToken),
                about: key,
                at: min(instant, Instant(milliseconds: max(0, void.voidedTime)))
            )
        }
        return try await journal(
            PlayRead(message),
            "void",
            void.purchaseToken,
            Array(void.json.rawBytes),
            instant,
            nil,
            known: known
        )
    }

    // MARK: - Calls

    /// Milliseconds that a call waits for its quota at most: less than a lease lasts.
    private static let longestRest: Int64 = 90_000

    /// Makes one call within the quota.
    ///
    /// - Throws: `QuotaUsedUp` where the quota leaves no room now; Google's fault.
    func call<Value: Sendable>(
        _ bucket: PlayQuotas.Bucket,
        _ app: GooglePlaySetUp.App,
        leaving reserve: Int64 = 0,
        _ body: (GooglePlay.Client) async throws -> Value
    ) async throws -> Value {
        var now = context.clocks.wall().milliseconds
        let began = now
        while !quotas.take(bucket, of: app.packageName, now: now, leaving: reserve) {
            guard let rest, now - began < Self.longestRest else {
                throw QuotaUsedUp(bucket: bucket)
            }
            try await rest()
            now = context.clocks.wall().milliseconds
        }
        do {
            let value = try await body(app.client)
            quotas.answered(bucket, of: app.packageName, begun: now)
            return value
        } catch let error as GooglePlay.APIFault {
            context.counters.count(
                "tollgate_google_play_faults_total",
                "bucket=\"\(bucket.rawValue)\",meaning=\"\(error.meaning)\""
            )
            switch error.meaning {
            case .tooMany, .notAllowed: refused(error, bucket, app, begun: now)
            case .unavailable where error.retryAfter != nil:
                refused(error, bucket, app, begun: now)
            // It may be this object's own.
            case .unavailable, .unreadable: break
            case .notFound, .noLongerReadable, .invalid, .changedMeanwhile:
                quotas.answered(bucket, of: app.packageName, begun: now)
            }
            throw error
        }
    }

    private func refused(
        _ fault: GooglePlay.APIFault,
        _ bucket: PlayQuotas.Bucket,
        _ app: GooglePlaySetUp.App,
        begun: Int64
    ) {
        let wall = context.clocks.wall()
        quotas.refused(
            bucket,
            of: app.packageName,
            retryAfter: fault.retryAfter,
            isForbidden: fault.meaning == .notAllowed,
            begun: begun,
            now: wall.milliseconds
        )
        guard fault.meaning == .notAllowed, alarmPace.isDue(wall, every: 60_000) else { return }
        context.logger.error(
            "Google Play refuses this server's service account: calls of this kind wait until it has the permission",
            metadata: [
                "app": "\(app.packageName)", "calls": "\(bucket.rawValue)", "error": "\(fault)",
            ]
        )
    }

    /// The record of a token, whichever environment it turned out to be of.
    func record(ofToken token: String, of package: String) async throws -> Purchase? {
        for environment in StoreEnvironment.allCases {
            let key = GooglePlayTranslator.key(token, of: package, in: environment)
            if let record = try await context.records.record(of: key) { return record }
        }
        return nil
    }

    /// The record of a token, read first where there is none: only the purchase tells its environment.
    ///
    /// - Returns: `nil` for a purchase that Google does not tell any more.
    private func known(
        _ token: String,
        of app: GooglePlaySetUp.App,
        leaving reserve: Int64
    ) async throws -> Purchase? {
        if let record = try await record(ofToken: token, of: app.packageName) { return record }
        // The voided list names it each hour.
        guard !unknown.contains(token, at: context.clocks.wall()) else { return nil }
        do {
            do {
                _ = try await read(subscription: token, of: app, leaving: reserve)
            } catch let fault as GooglePlay.APIFault {
                guard [.notFound, .invalid].contains(fault.meaning) else { throw fault }
                _ = try await read(product: token, of: app, leaving: reserve)
            }
        } catch let fault as GooglePlay.APIFault {
            guard [.notFound, .invalid, .noLongerReadable].contains(fault.meaning) else {
                throw fault
            }
            unknown.insert(token, at: context.clocks.wall())
        }
        return try await record(ofToken: token, of: app.packageName)
    }

    /// Tells of questions about an app that is not configured: they wait until it is.
    func tellOfForeignApp(_ package: String) {
        guard foreignPace.isDue(context.clocks.wall(), every: 60_000) else { return }
        context.logger.error(
            "questions wait about an app that is not configured: name its package",
            metadata: ["store": "google_play", "app": "\(package)"]
        )
    }

    /// As of when a read speaks; see `StripeReads.instantOfRead`.
    func instant(of seconds: Int64?) async -> Instant {
        let now = await context.clocks.now()
        let wall = context.clocks.wall()
        if context.clocks.isVirtual || abs(now.milliseconds - wall.milliseconds) > 60_000 {
            return order.next(at: now)
        }
        return Instant(seconds: (seconds ?? wall.milliseconds / 1000) - 1)
    }

    // MARK: - The journal

    /// Journals what a read says, unless the record says it already (RULES §11).
    ///
    /// - Parameter record: the record as the reader has just seen it; `nil`: it is looked up.
    func journal(
        _ read: PlayRead,
        _ kind: String,
        _ object: String,
        _ body: [UInt8],
        _ instant: Instant,
        _ claim: PlayClaim?,
        known record: Purchase? = nil,
        confirms: Bool = false
    ) async throws -> Outcome {
        guard case .facts(var facts, let key) = read.meaning else {
            if case .parked = read.meaning {
                let evidence = Evidence(
                    source: "read:\(object)",
                    key: RowKey("play read", kind, object, "\(instant.milliseconds)"),
                    stated: instant,
                    kind: .fetched,
                    body: body
                )
                _ = try await context.journal(
                    Translation(read.meaning, evidence: evidence),
                    of: .googlePlay
                )
            }
            return Outcome(instant: instant, isNews: false)
        }
        var known = record
        if known?.key != key { known = try await context.records.record(of: key) }
        // A claim that changes nothing must not grow the journal.
        let claim = claim.flatMap { known?.knows($0.claim) == true ? nil : $0 }
        let isNews =
            confirms || known.map { known in !facts.allSatisfy { known.states($0) } } ?? true
        var outcome = Outcome(instant: instant, isNews: false, key: key, acts: read.acts)
        outcome.knownSince = known?.knownSince
        if !isNews, claim == nil {
            // What was not done yet is to be done, though nothing is to be written.
            for act in read.raised {
                try await context.records.questions.want(act, about: key, at: instant)
            }
            return outcome
        }
        if let claim { facts.append(claim.fact(about: key)) }
        let evidence = Evidence(
            source: "read:\(object)",
            // Entries of one list, and different reads of one second, are kept apart by what they say.
            key: RowKey(
                "play read",
                kind,
                object,
                "\(instant.milliseconds)",
                Data(SHA256.hash(data: body)).base64EncodedString(),
                claim?.turn ?? ""
            ),
            stated: instant,
            kind: .fetched,
            body: body
        )
        let receipt = try await context.journal(
            Translation(
                .facts(facts, about: key),
                evidence: evidence,
                questions: read.raised + GooglePlayTranslator.questions(facts, known)
            ),
            of: .googlePlay
        )
        outcome.isNews = receipt == .recorded
        return outcome
    }
}

/// The quota of a kind of call leaves no room now.
public struct QuotaUsedUp: Error, CustomStringConvertible {
    public var bucket: PlayQuotas.Bucket

    public var description: String {
        "Google Play allows no more calls of this kind for now (\(bucket.rawValue))"
    }
}
