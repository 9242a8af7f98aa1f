public import Stores
public import AppStoreAPI
internal import Foundation
public import TollgateCore

/// Facts of what `verifyReceipt` answers about a legacy receipt.
public enum AppStoreReceiptTranslator {
    /// What a legacy receipt leaves to the catalog: the kind of a product, and how long a period of
    /// it lasts.
    public typealias CatalogEntry = (kind: Catalog.Product.Kind, duration: CalendarDuration?)

    /// One statement of a legacy receipt's answer.
    public struct ReceiptStatement: Sendable {
        public var message: Translation.Meaning
        /// `receipt:` and the transaction or purchase.
        public var source: String
        /// The entry as it came.
        public var body: [UInt8]
    }

    /// The facts of what `verifyReceipt` answered.
    ///
    /// Its entries do not name the kind of a product: what expires or has a line item is an
    /// auto-renewable subscription, of all else the catalog knows the kind. Where a subscription's
    /// period carries no expiry, the catalog's duration counts from the purchase date.
    ///
    /// - Parameters:
    ///   - bundleID: the app whose shared secret the App Store accepted.
    ///   - clock: when the answer came, by the stores' time; the receipt's own clock is preferred.
    ///   - entry: the product of an App Store product id at an instant, by the catalog.
    public static func statements(
        _ receipt: AppStore.VerifiedReceipt,
        bundleID: String,
        at clock: Instant,
        entry: (_ productID: String, _ purchased: Instant) -> CatalogEntry?
    ) -> [ReceiptStatement] {
        guard let environment = AppStoreTranslator.environment(receipt.environment) else {
            return []
        }
        let clock = receipt.requestDate.map { Instant(milliseconds: $0) } ?? clock
        func key(_ id: String) -> Purchase.Key {
            Purchase.Key(store: .appStore, environment: environment, application: bundleID, id: id)
        }
        var statements = receipt.purchases.map { purchase in
            statement(purchase, at: clock, entry: entry, key: key)
        }
        for renewal in receipt.renewals {
            let source = "receipt:\(renewal.originalTransactionID)"
            let key = key(renewal.originalTransactionID)
            var stated: [Statement] = [.renewal(terms(renewal))]
            if let status = status(renewal, at: clock) { stated.append(.status(status)) }
            statements.append(
                ReceiptStatement(
                    message: .facts(
                        stated.map {
                            Fact(
                                purchase: key,
                                source: source,
                                stated: Stated(clock),
                                statement: $0
                            )
                        },
                        about: key
                    ),
                    source: source,
                    body: renewal.body
                )
            )
        }
        if receipt.status == .expired, receipt.renewals.isEmpty {
            statements += expiry(receipt, at: clock, key: key)
        }
        return statements
    }

    /// 21006 in words of ours: the newest subscription has expired.
    private static func expiry(
        _ receipt: AppStore.VerifiedReceipt,
        at clock: Instant,
        key: (String) -> Purchase.Key
    ) -> [ReceiptStatement] {
        let newest = receipt.purchases.max { $0.purchaseDate < $1.purchaseDate }
        guard let newest else { return [] }
        let key = key(newest.originalTransactionID)
        let source = "receipt:\(newest.originalTransactionID)"
        let fact = Fact(
            purchase: key,
            source: source,
            stated: Stated(clock),
            statement: .status(SubscriptionStatus(value: SubscriptionStatus.expired))
        )
        return [
            ReceiptStatement(
                message: .facts([fact], about: key),
                source: source,
                body: Array("{\"status\":\(receipt.status.rawValue)}".utf8)
            )
        ]
    }

    private static func statement(
        _ purchase: AppStore.VerifiedReceipt.Purchase,
        at clock: Instant,
        entry: (String, Instant) -> CatalogEntry?,
        key: (String) -> Purchase.Key
    ) -> ReceiptStatement {
        let source = "receipt:\(purchase.transactionID)"
        let body = purchase.body
        let renews =
            purchase.expiresDate != nil || purchase.webOrderLineItemID != nil
            || purchase.subscriptionGroupIdentifier != nil
        var start = Instant(milliseconds: purchase.purchaseDate)
        let known = entry(purchase.productID, start)
        let kind: Period.Kind
        switch known?.kind {
        case _ where renews: kind = .autoRenewable
        case .autoRenewable?, .freeSubscription?: kind = .autoRenewable
        case .nonRenewing?: kind = .nonRenewing
        case .nonConsumable?: kind = .nonConsumable
        case .consumable?: kind = .consumable
        case nil:
            return ReceiptStatement(
                message: .parked(
                    reason: "a receipt's purchase of a product that the catalog does not know"
                ),
                source: source,
                body: body
            )
        }
        let end =
            purchase.expiresDate
            ?? (known?.kind == .autoRenewable
                ? known?.duration?.adding(to: purchase.purchaseDate) : nil)
        let isSubscription = kind == .autoRenewable
        if !isSubscription, let first = purchase.originalPurchaseDate {
            start = min(start, Instant(milliseconds: first))
        }
        let key = key(purchase.originalTransactionID)
        let period = Period(
            id: isSubscription
                ? purchase.webOrderLineItemID ?? purchase.transactionID
                : purchase.originalTransactionID,
            transactionID: purchase.transactionID,
            product: purchase.productID,
            kind: kind,
            start: start,
            end: end.map { Instant(milliseconds: $0) },
            revoked: purchase.cancellationDate.map { Instant(milliseconds: $0) },
            isUpgraded: purchase.isUpgraded,
            quantity: Int64(purchase.quantity),
            token: purchase.appAccountToken.flatMap(UUID.init(uuidString:))?
                .uuidString.lowercased(),
            isFamilyShared: purchase.ownershipType.map { $0 != .purchased } ?? false,
            offerType: offerType(purchase),
            discount: purchase.isTrialPeriod ? "FREE_TRIAL" : nil,
            offer: purchase.promotionalOfferID ?? purchase.offerCodeRefName
        )
        let fact = Fact(
            purchase: key,
            source: source,
            stated: Stated(clock),
            statement: .period(period)
        )
        return ReceiptStatement(message: .facts([fact], about: key), source: source, body: body)
    }

    /// Apple's `offerType`: 1 introductory, 2 promotional, 3 offer code.
    ///
    /// A trial may be any of them; whoever names the offer knows.
    private static func offerType(_ purchase: AppStore.VerifiedReceipt.Purchase) -> Int64? {
        if purchase.promotionalOfferID != nil { return 2 }
        if purchase.offerCodeRefName != nil { return 3 }
        return purchase.isTrialPeriod || purchase.isInIntroOfferPeriod ? 1 : nil
    }

    private static func terms(_ renewal: AppStore.VerifiedReceipt.Renewal) -> RenewalTerms {
        RenewalTerms(
            willRenew: renewal.willRenew,
            nextProduct: renewal.autoRenewProductID,
            graceEnd: renewal.gracePeriodExpiresDate.map { Instant(milliseconds: $0) },
            awaitsConsent: renewal.priceConsentStatus == 0,
            isInBillingRetry: renewal.isInBillingRetryPeriod,
            expirationIntent: renewal.expirationIntent.map { Int64($0) }
        )
    }

    /// The status that an entry amounts to; `nil` where it says no more than that it goes on.
    private static func status(
        _ renewal: AppStore.VerifiedReceipt.Renewal,
        at clock: Instant
    ) -> SubscriptionStatus? {
        if renewal.isInBillingRetryPeriod {
            let isInGrace = renewal.gracePeriodExpiresDate.map { $0 > clock.milliseconds } ?? false
            return SubscriptionStatus(
                value: isInGrace
                    ? SubscriptionStatus.billingGrace : SubscriptionStatus.billingRetry
            )
        }
        return renewal.expirationIntent == nil
            ? nil : SubscriptionStatus(value: SubscriptionStatus.expired)
    }
}
