extension AppStore {
    /// Whether the customer bought it or has it through Family Sharing.
    public struct InAppOwnershipType: RawRepresentable, Hashable, Codable, Sendable {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }

        public static let purchased = Self(rawValue: "PURCHASED")
        public static let familyShared = Self(rawValue: "FAMILY_SHARED")
        /// A seat that was assigned to the customer (API 1.22).
        public static let assigned = Self(rawValue: "ASSIGNED")
    }
}
