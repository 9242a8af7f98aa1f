extension AppStore {
    /// Where a purchase was made.
    ///
    /// TestFlight and App Review buy in the sandbox.
    public struct Environment: RawRepresentable, Hashable, Codable, Sendable {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }

        public static let production = Self(rawValue: "Production")
        public static let sandbox = Self(rawValue: "Sandbox")
        /// StoreKit testing in Xcode, signed on a developer's machine; see `verifyDeviceTransaction`.
        public static let xcode = Self(rawValue: "Xcode")
        /// Tests run by Xcode; never accepted here.
        public static let localTesting = Self(rawValue: "LocalTesting")
    }
}
