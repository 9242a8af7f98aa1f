extension AppStore {
    /// Apple's `autoRenewStatus`: 0 is off, 1 is on.
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
    /// Apple's `priceIncreaseStatus`: 0 awaits an answer, 1 is a consent or needs none.
    public struct PriceIncreaseStatus: RawRepresentable, Hashable, Codable, Sendable {
        public let rawValue: Int
        public init(rawValue: Int) { self.rawValue = rawValue }

        public static let notResponded = Self(rawValue: 0)
    }
}
