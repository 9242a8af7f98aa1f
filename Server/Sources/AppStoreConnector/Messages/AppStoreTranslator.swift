public import Stores
public import AppStoreAPI
internal import Foundation
public import TollgateCore

/// Turns what the App Store signed into facts.
///
/// The only place that speaks Apple's language and ours.
public enum AppStoreTranslator {
    /// The facts of a verified notification.
    ///
    /// The stated `status` is believed over what the type's name suggests.
    public static func message(_ notification: AppStore.Notification) -> Translation.Meaning {
        guard let data = notification.data else {
            return .nothing(reason: notification.notificationType.rawValue)
        }
        guard let transaction = data.transaction else {
            return .nothing(reason: notification.notificationType.rawValue)
        }
        let source = notification.notificationUUID.uuidString.lowercased()
        let stated = message(
            transaction,
            renewalInfo: data.renewalInfo,
            status: data.status,
            at: notification.signedDate,
            source: source
        )
        guard case .facts(var facts, let key) = stated,
            notification.notificationType == .refundReversed, let signed = notification.signedDate,
            case .period(let period)? = facts.first?.statement
        else { return stated }
        facts.append(
            Fact(
                purchase: key,
                source: source,
                stated: Stated(Instant(milliseconds: signed)),
                statement: .refundReversed(period: period.id)
            )
        )
        return .facts(facts, about: key)
    }

    /// The facts of a verified transaction and what came beside it: in a notification, or in an
    /// answer about a subscription's status.
    ///
    /// - Parameters:
    ///   - outer: the clock of the status where no renewal info has one (RULES §11).
    ///   - source: the id of the message.
    public static func message(
        _ transaction: AppStore.Transaction,
        renewalInfo: AppStore.RenewalInfo?,
        status: AppStore.Status?,
        at outer: Int64?,
        source: String
    ) -> Translation.Meaning {
        guard case .facts(var facts, let key) = message(transaction, source: source) else {
            return message(transaction, source: source)
        }
        if let renewalInfo { facts += terms(renewalInfo, key: key, source: source) }
        if let status {
            facts += self.status(
                status,
                reaching: renewalInfo?.renewalDate,
                at: renewalInfo?.signedDate ?? outer,
                key: key,
                source: source
            )
        }
        return .facts(facts, about: key)
    }

    /// The task for the app's team that a notification contains; `nil` for most.
    ///
    /// A guardian withdrew consent for the app (it names no purchase, and what must be restricted
    /// is not said), seats were released that the app itself assigns, or a token of an external
    /// purchase is to be reported to Apple. That a token was made (`CREATED`) asks for nothing yet.
    public static func leftToTheTeam(
        by notification: AppStore.Notification
    ) -> Translation.LeftToTheTeam? {
        let type = notification.notificationType
        return switch (type, notification.subtype) {
        case (.rescindConsent, _), (.unclaimSeats, _): .init(type: type.rawValue)
        case (.externalPurchaseToken, .unreported?),
            (.externalPurchaseToken, .activeTokenReminder?):
            .init(type: type.rawValue, subtype: notification.subtype?.rawValue)
        default: nil
        }
    }

    /// What a verified notification asks us, beside what it states.
    public static func wanted(by notification: AppStore.Notification) -> [Wanted] {
        guard notification.notificationType == .consumptionRequest,
            let transaction = notification.data?.transaction?.transactionID
        else { return [] }
        return [Wanted(kind: .consumption, object: transaction)]
    }

    /// The facts of one verified transaction of the App Store.
    ///
    /// - Parameter source: the id of the message it came in; the transaction's own if it came alone.
    public static func message(
        _ transaction: AppStore.Transaction,
        source: String? = nil
    ) -> Translation.Meaning {
        guard let transactionID = transaction.transactionID,
            let originalID = transaction.originalTransactionID
        else { return incomplete }
        guard let environment = environment(transaction.environment) else {
            return .parked(reason: "a transaction of an environment we keep no record of")
        }
        return message(
            transaction,
            named: Names(
                environment: environment,
                original: originalID,
                transaction: transactionID,
                period: lineItem(transaction),
                previous: transaction.previousOriginalTransactionID
            ),
            source: source
        )
    }

    /// The names under which a transaction is recorded.
    struct Names {
        var environment: StoreEnvironment
        var original: String
        var transaction: String
        /// The key of an auto-renewable period, Apple's `webOrderLineItemId`; `nil`: the transaction's id.
        var period: String?
        /// The purchase that it continues.
        var previous: String?
    }

    private static let incomplete = Translation.Meaning.parked(
        reason: "a transaction without its ids, product or dates"
    )

    static func message(
        _ transaction: AppStore.Transaction,
        named names: Names,
        source: String?
    ) -> Translation.Meaning {
        guard let product = transaction.productID, let bundleID = transaction.bundleID,
            let purchased = transaction.purchaseDate, let signed = transaction.signedDate
        else { return incomplete }
        guard let kind = kind(transaction.type) else {
            return .parked(reason: "a transaction of an unknown product type")
        }
        let key = Purchase.Key(
            store: .appStore,
            environment: names.environment,
            application: bundleID,
            id: names.original
        )
        // A restore may date anew what is bought once (RULES §2.8).
        let first = kind == .autoRenewable ? nil : transaction.originalPurchaseDate
        let period = Period(
            // Of everything else a restore may make a new transaction id, and a pass lasts once.
            id: kind == .autoRenewable ? names.period ?? names.transaction : names.original,
            transactionID: names.transaction,
            product: product,
            kind: kind,
            start: Instant(milliseconds: min(purchased, first ?? purchased)),
            end: transaction.expiresDate.map { Instant(milliseconds: $0) },
            revoked: transaction.revocationDate.map { Instant(milliseconds: $0) },
            revokedShare: transaction.revocationPercentage,
            isUpgraded: transaction.isUpgraded ?? false,
            quantity: Int64(transaction.quantity ?? 1),
            token: transaction.appAccountToken?.uuidString.lowercased(),
            // A seat that somebody else pays for is no purchase of its holder's either.
            isFamilyShared: transaction.inAppOwnershipType == .familyShared
                || transaction.inAppOwnershipType == .assigned,
            price: charged(transaction),
            currency: transaction.currency,
            offerType: (transaction.offerType?.rawValue).map { Int64($0) },
            discount: transaction.offerDiscountType?.rawValue,
            offer: transaction.offerIdentifier,
            storefront: transaction.storefront,
            previous: names.previous,
            additionalReason: transaction.additionalTransactionReason,
            // Beside a revocation, which is of every seat, it says nothing.
            revokedSeats: transaction.revocationDate == nil
                ? transaction.revokedSeatQuantity.map { Int64($0) } : nil,
            isSwitched: isSwitch(transaction),
            installment: transaction.billingPlanType == .monthly
                ? Installment(
                    transaction.commitmentInfo?.billingPeriodNumber.map { Int64($0) },
                    of: transaction.commitmentInfo?.totalBillingPeriods.map { Int64($0) }
                ) : nil
        )
        let fact = Fact(
            purchase: key,
            source: source ?? names.transaction,
            stated: Stated(Instant(milliseconds: signed)),
            statement: .period(period)
        )
        return .facts([fact], about: key)
    }

    /// What keeps an auto-renewable period apart from others (RULES §1); `nil`: the transaction.
    private static func lineItem(_ transaction: AppStore.Transaction) -> String? {
        guard let lineItem = transaction.webOrderLineItemID else { return nil }
        let isMultiSeat =
            transaction.multiSeatInfo != nil || transaction.additionalTransactionReason != nil
        guard isMultiSeat, let purchased = transaction.purchaseDate else { return lineItem }
        return "\(lineItem)@\(purchased)"
    }

    /// What was charged in all: of a multiseat purchase `price` is the average of one seat (RULES
    /// §2.11).
    private static func charged(_ transaction: AppStore.Transaction) -> Int64? {
        guard let seats = transaction.multiSeatInfo, let price = transaction.price else {
            return transaction.price
        }
        var tiers = seats.priceTiers.map { ($0.price, $0.quantity) }
        if tiers.isEmpty { tiers = [(price, Int64(transaction.quantity ?? 1))] }
        var sum: Int64 = 0
        for (price, quantity) in tiers {
            let (part, overflow) = price.multipliedReportingOverflow(by: quantity)
            let (next, overflows) = sum.addingReportingOverflow(part)
            if overflow || overflows { return nil }
            sum = next
        }
        return sum
    }

    /// Whether the revocation is no refund: the customer switched to a bundle (RULES §2.12).
    private static func isSwitch(_ transaction: AppStore.Transaction) -> Bool {
        guard transaction.revocationDate != nil, let reason = transaction.revocationReason else {
            return false
        }
        return reason != .other && reason != .issueInApp
            && transaction.revocationType?.rawValue.hasPrefix("REFUND_") != true
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
            renewalDate: renewal.renewalDate.map { Instant(milliseconds: $0) },
            price: renewal.renewalPrice,
            currency: renewal.currency
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

    static func environment(_ environment: AppStore.Environment?) -> StoreEnvironment? {
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
