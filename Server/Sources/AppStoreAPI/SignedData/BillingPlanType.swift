extension AppStore {
    /// How a subscription with a commitment is billed (API 1.21).
    public struct BillingPlanType: RawRepresentable, Hashable, Codable, Sendable {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }

        /// Each month by itself.
        public static let monthly = Self(rawValue: "MONTHLY")
    }
}
