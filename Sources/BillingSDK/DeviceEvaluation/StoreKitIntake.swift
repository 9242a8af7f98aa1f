import Foundation
internal import TollgateCore

/// Turns what StoreKit has verified into facts.
///
/// The second translator of the App Store's words; the first is the server's. Both must give the
/// same facts, which a test holds them to on shared fixtures.
enum StoreKitIntake {
    /// The facts of one statement; none where it lacks what makes it one.
    static func facts(_ statement: StoreKitStatement) -> [Fact] {
        guard
            let payload = try? JSONDecoder().decode(
                TransactionPayload.self,
                from: statement.transaction
            ), let (key, period) = period(payload)
        else { return [] }
        let source = period.value.transactionID
        var facts = [
            Fact(
                purchase: key,
                source: source,
                stated: Stated(period.signed),
                statement: .period(period.value)
            )
        ]
        guard let bytes = statement.renewalInfo,
            let renewal = try? JSONDecoder().decode(RenewalPayload.self, from: bytes),
            let signed = renewal.signedDate.flatMap(instant)
        else { return facts }
        facts.append(
            Fact(
                purchase: key,
                source: source,
                stated: Stated(signed),
                statement: .renewal(terms(renewal))
            )
        )
        if let status = statement.status {
            let stated = SubscriptionStatus(
                value: Int64(status),
                reachesTo: renewal.renewalDate.flatMap(instant)
            )
            facts.append(
                Fact(
                    purchase: key,
                    source: source,
                    stated: Stated(signed),
                    statement: .status(stated)
                )
            )
        }
        return facts
    }

    /// The date, id and account token of a purchase.
    struct Bought: Sendable {
        var transactionID: UInt64?
        /// When the period began, UNIX milliseconds.
        var date: Int64
        /// The account token that it bears.
        var token: UUID?
    }

    /// The date, id and account token in a statement; `nil` if its transaction has no date.
    static func purchase(in statement: StoreKitStatement) -> Bought? {
        guard
            let payload = try? JSONDecoder().decode(
                TransactionPayload.self,
                from: statement.transaction
            ), let date = payload.purchaseDate
        else { return nil }
        return Bought(
            transactionID: payload.transactionId.flatMap { UInt64($0) },
            date: date,
            token: payload.appAccountToken.flatMap(UUID.init)
        )
    }

    private static func period(
        _ payload: TransactionPayload
    ) -> (Purchase.Key, (value: Period, signed: Instant))? {
        guard let transactionID = payload.transactionId,
            let originalID = payload.originalTransactionId, let product = payload.productId,
            let bundleID = payload.bundleId, let purchased = payload.purchaseDate.flatMap(instant),
            let signed = payload.signedDate.flatMap(instant),
            let environment = environment(payload.environment), let kind = kind(payload.type)
        else { return nil }
        let key = Purchase.Key(
            store: .appStore,
            environment: environment,
            application: bundleID,
            id: originalID
        )
        let period = Period(
            id: periodID(payload, kind) ?? (kind == .autoRenewable ? transactionID : originalID),
            transactionID: transactionID,
            product: product,
            kind: kind,
            start: purchased,
            end: payload.expiresDate.flatMap(instant),
            revoked: payload.revocationDate.flatMap(instant),
            revokedShare: payload.revocationPercentage,
            isUpgraded: payload.isUpgraded ?? false,
            quantity: payload.quantity ?? 1,
            token: payload.appAccountToken.flatMap(UUID.init)?.uuidString.lowercased(),
            isFamilyShared: ["FAMILY_SHARED", "ASSIGNED"].contains(payload.inAppOwnershipType),
            price: charged(payload),
            currency: payload.currency,
            offerType: payload.offerType,
            discount: payload.offerDiscountType,
            offer: payload.offerIdentifier,
            storefront: payload.storefront,
            previous: payload.previousOriginalTransactionId,
            additionalReason: payload.additionalTransactionReason,
            revokedSeats: payload.revocationDate == nil
                ? payload.revokedSeatQuantity ?? payload.multiSeatInfo?.revokedSeatQuantity : nil,
            isSwitched: isSwitch(payload)
        )
        return (key, (period, signed))
    }

    /// What keeps an auto-renewable period apart from others (RULES §1); `nil`: the transaction.
    private static func periodID(_ payload: TransactionPayload, _ kind: Period.Kind) -> String? {
        guard kind == .autoRenewable, let lineItem = payload.webOrderLineItemId else { return nil }
        let isMultiSeat =
            payload.multiSeatInfo != nil || payload.additionalTransactionReason != nil
        guard isMultiSeat, let purchased = payload.purchaseDate else { return lineItem }
        return "\(lineItem)@\(purchased)"
    }

    /// What was charged in all (RULES §2.11).
    private static func charged(_ payload: TransactionPayload) -> Int64? {
        guard let seats = payload.multiSeatInfo, let price = payload.price else {
            return payload.price
        }
        var tiers = seats.priceTiers.map { ($0.price, $0.quantity) }
        if tiers.isEmpty { tiers = [(price, payload.quantity ?? 1)] }
        var sum: Int64 = 0
        for (price, quantity) in tiers {
            let (part, overflow) = price.multipliedReportingOverflow(by: quantity)
            let (next, overflows) = sum.addingReportingOverflow(part)
            if overflow || overflows { return nil }
            sum = next
        }
        return sum
    }

    /// Whether the revocation is no refund (RULES §2.12).
    private static func isSwitch(_ payload: TransactionPayload) -> Bool {
        guard payload.revocationDate != nil, let reason = payload.revocationReason else {
            return false
        }
        return reason != 0 && reason != 1
            && payload.revocationType?.hasPrefix("REFUND_") != true
    }

    private static func terms(_ renewal: RenewalPayload) -> RenewalTerms {
        RenewalTerms(
            willRenew: renewal.autoRenewStatus == 1,
            nextProduct: renewal.autoRenewProductId,
            graceEnd: renewal.gracePeriodExpiresDate.flatMap(instant),
            awaitsConsent: renewal.priceIncreaseStatus == 0,
            isInBillingRetry: renewal.isInBillingRetryPeriod ?? false,
            expirationIntent: renewal.expirationIntent,
            renewalDate: renewal.renewalDate.flatMap(instant),
            price: renewal.renewalPrice,
            currency: renewal.currency
        )
    }

    /// Only dates that a store can mean, 1970 to 2200, so that nothing overflows later.
    private static func instant(_ milliseconds: Int64) -> Instant? {
        (0...7_258_118_400_000).contains(milliseconds)
            ? Instant(milliseconds: milliseconds) : nil
    }

    private static func environment(_ word: String?) -> StoreEnvironment? {
        switch word {
        case "Production": .production
        case "Sandbox": .sandbox
        default: nil
        }
    }

    private static func kind(_ word: String?) -> Period.Kind? {
        switch word {
        case "Auto-Renewable Subscription": .autoRenewable
        case "Non-Renewing Subscription": .nonRenewing
        case "Non-Consumable": .nonConsumable
        case "Consumable": .consumable
        default: nil
        }
    }
}

/// The payload of a signed transaction, as far as access depends on it; Apple's words.
private struct TransactionPayload: Decodable {
    var transactionId: String?
    var originalTransactionId: String?
    var webOrderLineItemId: String?
    var bundleId: String?
    var productId: String?
    var purchaseDate: Int64?
    var expiresDate: Int64?
    var quantity: Int64?
    var type: String?
    var appAccountToken: String?
    var inAppOwnershipType: String?
    var signedDate: Int64?
    var revocationDate: Int64?
    var revocationPercentage: Int64?
    var isUpgraded: Bool?
    var offerType: Int64?
    var environment: String?
    var price: Int64?
    var currency: String?
    var offerDiscountType: String?
    var offerIdentifier: String?
    var storefront: String?
    var revocationReason: Int64?
    var revocationType: String?
    var previousOriginalTransactionId: String?
    var additionalTransactionReason: String?
    var revokedSeatQuantity: Int64?
    var multiSeatInfo: MultiSeatInfo?
}

/// The seats of a multiseat purchase; what is of another type than documented counts as absent.
private struct MultiSeatInfo: Decodable {
    struct PriceTier: Decodable {
        var price: Int64
        var quantity: Int64
    }

    var revokedSeatQuantity: Int64?
    var priceTiers: [PriceTier]

    private enum Keys: String, CodingKey { case revokedSeatQuantity, priceTiers }

    init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: Keys.self)
        revokedSeatQuantity = try? values.decode(Int64.self, forKey: .revokedSeatQuantity)
        priceTiers = (try? values.decode([PriceTier].self, forKey: .priceTiers)) ?? []
    }
}

/// The payload of signed renewal info, as far as access depends on it; Apple's words.
private struct RenewalPayload: Decodable {
    var autoRenewProductId: String?
    var autoRenewStatus: Int64?
    var expirationIntent: Int64?
    var isInBillingRetryPeriod: Bool?
    var gracePeriodExpiresDate: Int64?
    var priceIncreaseStatus: Int64?
    var renewalDate: Int64?
    var renewalPrice: Int64?
    var currency: String?
    var signedDate: Int64?
}
