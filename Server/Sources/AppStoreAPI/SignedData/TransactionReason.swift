extension AppStore {
    /// Whether the customer acted or the store renewed.
    public struct TransactionReason: RawRepresentable, Hashable, Codable, Sendable {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }

        /// Includes upgrades.
        public static let purchase = Self(rawValue: "PURCHASE")
        /// Includes the period in which a downgrade begins.
        public static let renewal = Self(rawValue: "RENEWAL")
    }
}
