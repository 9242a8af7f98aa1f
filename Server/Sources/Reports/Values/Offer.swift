package import TollgateCore

extension Reports {
    /// By which offer something was bought.
    public enum Offer: String, CaseIterable, Codable, Hashable, Sendable {
        /// At the standard price.
        case none = ""
        /// A free introductory offer.
        case trial
        /// An introductory offer that costs something.
        case introductory
        case promotional
        case code = "offer_code"
        case winBack = "win_back"
        /// A coupon or promotion code of Stripe that left something, or nothing, to pay.
        case discount

        /// The offer of an App Store period.
        ///
        /// A legacy receipt states no prices; of a trial it says that it is one.
        package init(_ period: Period) {
            switch period.offerType {
            case 1?:
                let isFree = period.discount == "FREE_TRIAL" || period.price == 0
                self = isFree ? .trial : .introductory
            case 2?: self = .promotional
            case 3?: self = .code
            case 4?: self = .winBack
            default: self = period.discount == "FREE_TRIAL" ? .trial : .none
            }
        }
    }
}
