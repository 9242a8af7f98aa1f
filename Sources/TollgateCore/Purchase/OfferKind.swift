/// An offer by which a period was bought; what was bought at the full price has none.
public enum OfferKind: String, CaseIterable, Codable, Hashable, Sendable {
    /// A time for nothing.
    case trial
    /// A reduced price for new subscribers.
    case introductory
    /// For current and former subscribers, by the developer's signature.
    case promotional
    case offerCode = "offer_code"
    /// For those who had left.
    case winBack = "win_back"
}

extension Period {
    /// The offer by which the period was bought.
    ///
    /// <https://developer.apple.com/documentation/appstoreserverapi/offertype>
    public var offerKind: OfferKind? {
        if discount == "FREE_TRIAL" { return .trial }
        return switch offerType {
        case 1: .introductory
        case 2: .promotional
        case 3: .offerCode
        case 4: .winBack
        default: nil
        }
    }
}

extension StripeSubscription {
    /// The offer of the present period; of coupons nothing is said.
    public var offerKind: OfferKind? { status == "trialing" ? .trial : nil }
}

extension GooglePlaySubscription.Item {
    /// The offer of the item's present phase.
    ///
    /// <https://developers.google.com/android-publisher/api-ref/rest/v3/purchases.subscriptionsv2>
    public var offerKind: OfferKind? {
        switch phase {
        case "freeTrial": .trial
        case "introductoryPrice": .introductory
        default: nil
        }
    }
}
