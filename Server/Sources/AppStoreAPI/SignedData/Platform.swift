extension AppStore {
    /// Where the app was first bought.
    public struct Platform: RawRepresentable, Hashable, Codable, Sendable {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }

        public static let iOS = Self(rawValue: "iOS")
        public static let macOS = Self(rawValue: "macOS")
        public static let tvOS = Self(rawValue: "tvOS")
        public static let visionOS = Self(rawValue: "visionOS")
    }
}
