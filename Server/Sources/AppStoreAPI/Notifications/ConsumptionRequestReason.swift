extension AppStore {
    /// Why a customer asked for a refund.
    public struct ConsumptionRequestReason: RawRepresentable, Hashable, Codable, Sendable {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }
    }
}
