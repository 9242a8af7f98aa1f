extension AppStore {
    /// Whether the subscription will renew; 0 is off.
    public struct AutoRenewStatus: RawRepresentable, Hashable, Codable, Sendable {
        public let rawValue: Int
        public init(rawValue: Int) { self.rawValue = rawValue }

        public static let on = Self(rawValue: 1)
    }
}

extension AppStore {
    /// Why a subscription expired: 1 is cancelled by the customer, 2 a billing error, 3 a price increase
    /// without consent, 4 a product that is no longer sold, 5 anything else.
    public struct ExpirationIntent: RawRepresentable, Hashable, Codable, Sendable {
        public let rawValue: Int
        public init(rawValue: Int) { self.rawValue = rawValue }
    }
}

extension AppStore {
    /// Whether the customer answered to a price increase; 1 is a consent, or that none is needed.
    public struct PriceIncreaseStatus: RawRepresentable, Hashable, Codable, Sendable {
        public let rawValue: Int
        public init(rawValue: Int) { self.rawValue = rawValue }

        public static let notResponded = Self(rawValue: 0)
    }
}
