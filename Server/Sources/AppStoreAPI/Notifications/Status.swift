extension AppStore {
    /// The state of an auto-renewable subscription.
    ///
    /// A customer is entitled in `active` and `billingGracePeriod`.
    public struct Status: RawRepresentable, Hashable, Codable, Sendable {
        public let rawValue: Int
        public init(rawValue: Int) { self.rawValue = rawValue }

        public static let active = Self(rawValue: 1)
        public static let expired = Self(rawValue: 2)
        public static let billingRetry = Self(rawValue: 3)
        public static let billingGracePeriod = Self(rawValue: 4)
        public static let revoked = Self(rawValue: 5)
    }
}
