extension AppStore {
    /// Where the app was first bought.
    public struct Platform: RawRepresentable, Hashable, Codable, Sendable {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }
    }
}
