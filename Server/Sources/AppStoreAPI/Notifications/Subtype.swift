extension AppStore {
    /// What happened in more detail.
    public struct Subtype: RawRepresentable, Hashable, Codable, Sendable {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }

        public static let unreported = Self(rawValue: "UNREPORTED")
        public static let activeTokenReminder = Self(rawValue: "ACTIVE_TOKEN_REMINDER")
    }
}
