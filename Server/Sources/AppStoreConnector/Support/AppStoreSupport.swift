public import AppStoreAPI
package import Foundation
internal import Stores
internal import TollgateAPI
public import TollgateCore

/// What support does at the App Store itself, where the customer bought: refunds are looked up, an
/// order's number is resolved, renewal dates are extended.
///
/// The App Store tells what has changed by notifications, so nothing is written here.
public struct AppStoreSupport: Sendable {
    let app: AppStoreClients.App
    let verifier: AppStore.SignedDataVerifier
    let now: @Sendable () async -> Instant

    /// - Parameter now: the stores' time, at which signatures are checked.
    public init(
        app: AppStoreClients.App,
        verifier: AppStore.SignedDataVerifier,
        now: @escaping @Sendable () async -> Instant
    ) {
        self.app = app
        self.verifier = verifier
        self.now = now
    }

    /// The reason of an extension, as the App Store is told.
    public enum Reason: String, CaseIterable, Sendable {
        case undeclared, satisfaction, outage, other

        var ofAppStore: AppStore.ExtendReasonCode {
            switch self {
            case .undeclared: .undeclared
            case .satisfaction: .customerSatisfaction
            case .outage: .serviceIssueOrOutage
            case .other: .other
            }
        }
    }

    /// One transaction that the App Store has signed.
    public struct Transaction: Hashable, Sendable {
        public var transactionID: String
        public var originalTransactionID: String
        /// The app that sold it.
        public var bundleID: String
        /// Of App Store Connect.
        public var productID: String
        public var purchased: Instant?
        public var revoked: Instant?
        /// In Apple's words: `REFUND_FULL`, `REFUND_PRORATED`, `FAMILY_REVOKE`.
        public var revocationType: String?
        /// In thousandths of the currency's unit.
        public var price: Int64?
        public var currency: String?

        init(_ transaction: AppStore.Transaction) {
            transactionID = transaction.transactionID ?? ""
            originalTransactionID = transaction.originalTransactionID ?? ""
            bundleID = transaction.bundleID ?? ""
            productID = transaction.productID ?? ""
            purchased = transaction.purchaseDate.map(Instant.init(milliseconds:))
            revoked = transaction.revocationDate.map(Instant.init(milliseconds:))
            revocationType = transaction.revocationType?.rawValue
            price = transaction.price
            currency = transaction.currency
        }
    }

    /// The progress of an extension for all subscribers of a product.
    public struct ExtensionStatus: Hashable, Sendable {
        public var isComplete: Bool
        public var completed: Instant?
        public var succeeded: Int64
        public var failed: Int64
    }

    /// An extension of renewal dates.
    public struct Extension: Hashable, Sendable {
        /// 1 to 90; the App Store extends a customer's subscription twice a year at most.
        public var days: Int
        public var reason: Reason
        /// Names the request in the audit log and, for all subscribers of a product, at the App
        /// Store; at most 128 characters.
        public var requestIdentifier: String

        public init(days: Int, reason: Reason, requestIdentifier: String) {
            self.days = days
            self.reason = reason
            self.requestIdentifier = requestIdentifier
        }
    }

    /// Get Refund History: what was refunded or revoked of all that a customer bought, the oldest
    /// revocation first.
    ///
    /// - Parameter transactionID: any transaction of the customer.
    public func refunds(
        of transactionID: String,
        in environment: StoreEnvironment
    ) async throws -> [Transaction] {
        try await answer {
            var refunds: [Transaction] = []
            for try await page in app[environment].refundHistory(transactionID) {
                refunds += try await verified(page.signedTransactions)
            }
            return refunds
        }
    }

    /// Look Up Order ID: the transactions of the order in a customer's receipt by e-mail.
    ///
    /// Production only. `nil` where the order is not one of this app's.
    public func order(_ orderID: String) async throws -> [Transaction]? {
        try await answer {
            let order = try await app.production.lookUpOrderID(orderID)
            return order.isValid ? try await verified(order.signedTransactions) : nil
        }
    }

    /// Extend a Subscription Renewal Date; cannot be undone.
    ///
    /// - Returns: the new renewal date.
    public func extend(
        _ originalTransactionID: String,
        by wish: Extension,
        in environment: StoreEnvironment
    ) async throws -> Instant? {
        try await answer {
            let answer = try await app[environment].extendRenewalDate(
                originalTransactionID: originalTransactionID,
                days: wish.days,
                reason: wish.reason.ofAppStore,
                requestIdentifier: wish.requestIdentifier
            )
            guard answer.success else {
                throw Refusal(
                    502,
                    .storeUnavailable,
                    "The App Store did not extend the renewal date."
                )
            }
            return answer.effectiveDate.map(Instant.init(milliseconds:))
        }
    }

    /// Extend Subscription Renewal Dates for All Active Subscribers; cannot be undone.
    ///
    /// - Parameters:
    ///   - productID: of App Store Connect.
    ///   - storefronts: ISO 3166-1 alpha-3; none for all.
    public func extendAll(
        of productID: String,
        by wish: Extension,
        storefronts: [String],
        in environment: StoreEnvironment
    ) async throws -> String {
        try await answer {
            try await app[environment].extendRenewalDates(
                productID: productID,
                days: wish.days,
                reason: wish.reason.ofAppStore,
                requestIdentifier: wish.requestIdentifier,
                storefrontCountryCodes: storefronts
            )
        }
    }

    /// Get Status of Subscription Renewal Date Extensions.
    public func statusOfExtension(
        _ requestIdentifier: String,
        of productID: String,
        in environment: StoreEnvironment
    ) async throws -> ExtensionStatus {
        try await answer {
            let status = try await app[environment].statusOfRenewalDateExtensions(
                productID: productID,
                requestIdentifier: requestIdentifier
            )
            return ExtensionStatus(
                isComplete: status.complete,
                completed: status.completeDate.map(Instant.init(milliseconds:)),
                succeeded: status.succeededCount ?? 0,
                failed: status.failedCount ?? 0
            )
        }
    }

    /// The latest transaction of a purchase.
    package static func latestTransaction(of purchase: Purchase) -> String {
        purchase.newestPeriod?.transactionID ?? purchase.key.id
    }

    /// Finish Transaction, where the app does not come to it.
    public func finish(_ transactionID: String, in environment: StoreEnvironment) async throws {
        try await answer { try await app[environment].finishTransaction(transactionID) }
    }

    /// An app account token as somebody has typed it.
    ///
    /// - Throws: a refusal 400 `parameter_invalid` for what is no UUID.
    package static func appAccountToken(_ text: String) throws -> UUID {
        guard let token = UUID(uuidString: text.trimmingCharacters(in: .whitespaces)) else {
            throw Refusal.invalid("app_account_token", "An app account token is a UUID.")
        }
        return token
    }

    /// Set App Account Token, for the current period and those to come.
    package func setAppAccountToken(
        _ token: UUID,
        of originalTransactionID: String,
        in environment: StoreEnvironment
    ) async throws {
        try await answer {
            try await app[environment].setAppAccountToken(
                token,
                originalTransactionID: originalTransactionID
            )
        }
    }

    private func verified(_ signed: [String]) async throws -> [Transaction] {
        let now = await now().milliseconds
        return try signed.map {
            Transaction(try verifier.verifyTransaction(Array($0.utf8), now: now))
        }
    }

    /// The code of what the App Store refused: nothing was changed there.
    public static let refused = "app_store_refused"

    /// Tells a refusal of the App Store's in its own words: who asked can do something about it.
    func answer<Result>(_ work: () async throws -> Result) async throws -> Result {
        do {
            return try await work()
        } catch let error as AppStore.ServerAPIError {
            guard case .refused(let refusal) = error.cause, let code = refusal.code,
                !refusal.isRetryable
            else { throw error }
            throw Refusal(
                422,
                APIError.Code(rawValue: Self.refused),
                "The App Store refused this with \(code.rawValue): "
                    + (refusal.message ?? "no reason given")
            )
        }
    }
}
