extension AppStore {
    /// Why a transaction was refunded.
    public struct RevocationReason: RawRepresentable, Hashable, Codable, Sendable {
        public let rawValue: Int
        public init(rawValue: Int) { self.rawValue = rawValue }

        /// Bought by accident, for example.
        public static let other = Self(rawValue: 0)
        /// An actual or perceived issue within the app.
        public static let issueInApp = Self(rawValue: 1)
    }
}

extension AppStore {
    /// How much was taken back.
    public struct RevocationType: RawRepresentable, Hashable, Codable, Sendable {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }
    }
}
