extension AppStore {
    /// Whether the customer acted or the store renewed.
    public struct TransactionReason: RawRepresentable, Hashable, Codable, Sendable {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }
    }
}
