public import AppStoreAPI
internal import Foundation
public import TollgateCore

/// Turns what the App Store signed into facts.
///
/// The only place that speaks Apple's language and ours.
public enum AppStoreIntake {
    /// The facts of a verified notification.
    ///
    /// The stated `status` is believed over what the type's name suggests.
    public static func message(_ notification: AppStore.Notification) -> StoreMessage {
        guard let data = notification.data else {
            return .nothing(reason: notification.notificationType.rawValue)
        }
        guard let transaction = data.transaction else {
            return .nothing(reason: notification.notificationType.rawValue)
        }
        let source = notification.notificationUUID.uuidString.lowercased()
        switch message(transaction, source: source) {
        case .facts(var facts, let key):
            if let renewal = data.renewalInfo {
                facts += terms(renewal, key: key, source: source)
            }
            if let status = data.status {
                let clock = data.renewalInfo?.signedDate ?? notification.signedDate
                facts += self.status(
                    status,
                    reaching: data.renewalInfo?.renewalDate,
                    at: clock,
                    key: key,
                    source: source
                )
            }
            if notification.notificationType == .refundReversed,
                let signed = notification.signedDate
            {
                facts.append(
                    Fact(
                        purchase: key,
                        source: source,
                        stated: Stated(Instant(milliseconds: signed)),
                        statement: .refundReversed
                    )
                )
            }
            return .facts(facts, about: key)
        case let other:
            return other
        }
    }

    /// What a verified notification asks us, beside what it states.
    public static func wanted(by notification: AppStore.Notification) -> [Wanted] {
        guard notification.notificationType == .consumptionRequest,
            let transaction = notification.data?.transaction?.transactionID
        else { return [] }
        return [Wanted(kind: .consumption, object: transaction)]
    }

    /// The facts of one verified transaction.
    ///
    /// - Parameter source: the id of the message it came in; the transaction's own if it came alone.
    public static func message(
        _ transaction: AppStore.Transaction,
        source: String? = nil
    ) -> StoreMessage {
        guard let transactionID = transaction.transactionID,
            let originalID = transaction.originalTransactionID, let product = transaction.productID,
            let bundleID = transaction.bundleID, let purchased = transaction.purchaseDate,
            let signed = transaction.signedDate
        else { return .parked(reason: "a transaction without its ids, product or dates") }
        guard let environment = environment(transaction.environment) else {
            return .parked(reason: "a transaction of an environment we keep no record of")
        }
        guard let kind = kind(transaction.type) else {
            return .parked(reason: "a transaction of an unknown product type")
        }
        let key = Purchase.Key(
            store: .appStore,
            environment: environment,
            application: bundleID,
            id: kind == .autoRenewable ? originalID : transactionID
        )
        let period = Period(
            id: kind == .autoRenewable
                ? transaction.webOrderLineItemID ?? transactionID : transactionID,
            transactionID: transactionID,
            product: product,
            kind: kind,
            start: Instant(milliseconds: purchased),
            end: transaction.expiresDate.map { Instant(milliseconds: $0) },
            revoked: transaction.revocationDate.map { Instant(milliseconds: $0) },
            revokedShare: transaction.revocationPercentage,
            isUpgraded: transaction.isUpgraded ?? false,
            quantity: Int64(transaction.quantity ?? 1),
            token: transaction.appAccountToken?.uuidString.lowercased(),
            isFamilyShared: transaction.inAppOwnershipType == .familyShared,
            price: transaction.price,
            currency: transaction.currency,
            offerType: (transaction.offerType?.rawValue).map { Int64($0) }
        )
        let fact = Fact(
            purchase: key,
            source: source ?? transactionID,
            stated: Stated(Instant(milliseconds: signed)),
            statement: .period(period)
        )
        return .facts([fact], about: key)
    }

    private static func terms(
        _ renewal: AppStore.RenewalInfo,
        key: Purchase.Key,
        source: String
    ) -> [Fact] {
        guard let signed = renewal.signedDate else { return [] }
        let terms = RenewalTerms(
            willRenew: renewal.autoRenewStatus == .on,
            nextProduct: renewal.autoRenewProductID,
            graceEnd: renewal.gracePeriodExpiresDate.map { Instant(milliseconds: $0) },
            awaitsConsent: renewal.priceIncreaseStatus == .notResponded,
            isInBillingRetry: renewal.isInBillingRetryPeriod ?? false,
            expirationIntent: (renewal.expirationIntent?.rawValue).map { Int64($0) },
            renewalDate: renewal.renewalDate.map { Instant(milliseconds: $0) }
        )
        return [
            Fact(
                purchase: key,
                source: source,
                stated: Stated(Instant(milliseconds: signed)),
                statement: .renewal(terms)
            )
        ]
    }

    private static func status(
        _ status: AppStore.Status,
        reaching: Int64?,
        at clock: Int64?,
        key: Purchase.Key,
        source: String
    ) -> [Fact] {
        guard let clock else { return [] }
        let stated = SubscriptionStatus(
            value: Int64(status.rawValue),
            reachesTo: reaching.map { Instant(milliseconds: $0) }
        )
        return [
            Fact(
                purchase: key,
                source: source,
                stated: Stated(Instant(milliseconds: clock)),
                statement: .status(stated)
            )
        ]
    }

    private static func environment(_ environment: AppStore.Environment?) -> StoreEnvironment? {
        switch environment {
        case .production?: .production
        case .sandbox?: .sandbox
        default: nil
        }
    }

    private static func kind(_ type: AppStore.ProductType?) -> Period.Kind? {
        switch type {
        case .autoRenewableSubscription?: .autoRenewable
        case .nonRenewingSubscription?: .nonRenewing
        case .nonConsumable?: .nonConsumable
        case .consumable?: .consumable
        default: nil
        }
    }
}
