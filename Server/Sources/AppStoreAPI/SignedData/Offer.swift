extension AppStore {
    /// The kinds of offers.
    public struct OfferType: RawRepresentable, Hashable, Codable, Sendable {
        public let rawValue: Int
        public init(rawValue: Int) { self.rawValue = rawValue }

        public static let introductory = Self(rawValue: 1)
        public static let promotional = Self(rawValue: 2)
        public static let offerCode = Self(rawValue: 3)
        public static let winBack = Self(rawValue: 4)
    }
}

extension AppStore {
    /// How an offer is paid.
    public struct OfferDiscountType: RawRepresentable, Hashable, Codable, Sendable {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }

        public static let freeTrial = Self(rawValue: "FREE_TRIAL")
        public static let payAsYouGo = Self(rawValue: "PAY_AS_YOU_GO")
        public static let payUpFront = Self(rawValue: "PAY_UP_FRONT")
        /// Offer codes on products that are no subscriptions.
        public static let oneTime = Self(rawValue: "ONE_TIME")
    }
}
