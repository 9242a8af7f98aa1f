extension AppStore {
    /// The kinds of in-app purchases.
    public struct ProductType: RawRepresentable, Hashable, Codable, Sendable {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }

        public static let autoRenewableSubscription = Self(rawValue: "Auto-Renewable Subscription")
        public static let nonConsumable = Self(rawValue: "Non-Consumable")
        public static let consumable = Self(rawValue: "Consumable")
        public static let nonRenewingSubscription = Self(rawValue: "Non-Renewing Subscription")
    }
}
