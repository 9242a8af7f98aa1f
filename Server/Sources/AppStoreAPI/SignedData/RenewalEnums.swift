extension AppStore {
    /// Whether the subscription will renew.
    public struct AutoRenewStatus: RawRepresentable, Hashable, Codable, Sendable {
        public let rawValue: Int
        public init(rawValue: Int) { self.rawValue = rawValue }

        public static let off = Self(rawValue: 0)
        public static let on = Self(rawValue: 1)
    }
}

extension AppStore {
    /// Why a subscription expired.
    public struct ExpirationIntent: RawRepresentable, Hashable, Codable, Sendable {
        public let rawValue: Int
        public init(rawValue: Int) { self.rawValue = rawValue }

        public static let customerCancelled = Self(rawValue: 1)
        public static let billingError = Self(rawValue: 2)
        public static let priceIncreaseNotConsented = Self(rawValue: 3)
        public static let productUnavailable = Self(rawValue: 4)
        public static let other = Self(rawValue: 5)
    }
}

extension AppStore {
    /// Whether the customer answered to a price increase.
    public struct PriceIncreaseStatus: RawRepresentable, Hashable, Codable, Sendable {
        public let rawValue: Int
        public init(rawValue: Int) { self.rawValue = rawValue }

        public static let notResponded = Self(rawValue: 0)
        public static let consentedOrNotified = Self(rawValue: 1)
    }
}
