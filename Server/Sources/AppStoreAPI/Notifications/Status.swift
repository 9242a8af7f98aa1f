extension AppStore {
    /// The state of an auto-renewable subscription.
    ///
    /// 1 is active, 2 expired, 3 billing retry, 4 billing grace period, 5 revoked; a customer is
    /// entitled in 1 and 4.
    public struct Status: RawRepresentable, Hashable, Codable, Sendable {
        public let rawValue: Int
        public init(rawValue: Int) { self.rawValue = rawValue }
    }
}
