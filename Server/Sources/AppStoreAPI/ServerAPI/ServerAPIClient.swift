extension AppStore {
    /// Asks the App Store Server API about one app in one environment.
    ///
    /// It signs its requests, tries again only where Apple says that this may help, and gives back
    /// signed data as it came: a `SignedDataVerifier` makes facts of it.
    public struct ServerAPIClient: Sendable {
        /// Where the API is served, by environment; the later ones are asked if the first does not
        /// answer.
        public static func hosts(of environment: Environment) -> [String] {
            environment == .production
                ? ["https://api.storekit.apple.com", "https://api.storekit.itunes.apple.com"]
                : [
                    "https://api.storekit-sandbox.apple.com",
                    "https://api.storekit-sandbox.itunes.apple.com",
                ]
        }

        /// How often a request is sent before its failure is reported.
        public static let maximumAttempts = 3
        /// The longest wait before another attempt, in milliseconds; Apple may ask for an hour.
        public static let longestWait: Int64 = 30_000

        let sender: Sender

        /// A client.
        ///
        /// - Parameters:
        ///   - key: The key that signs requests.
        ///   - bundleID: The app.
        ///   - hosts: Addresses without a path; see ``hosts(of:)``.
        ///   - transport: Carries requests.
        ///   - now: The wall clock in UNIX milliseconds. Apple checks tokens by real time.
        ///   - sleep: Waits before another attempt.
        public init(
            key: APIKey,
            bundleID: String,
            hosts: [String],
            transport: @escaping Transport,
            now: @escaping @Sendable () -> Int64,
            sleep: @escaping @Sendable (Duration) async throws -> Void = {
                try await Task.sleep(for: $0)
            }
        ) {
            sender = Sender(
                token: BearerToken(key: key, bundleID: bundleID),
                hosts: hosts.map { $0.hasSuffix("/") ? String($0.dropLast()) : $0 },
                transport: transport,
                now: now,
                sleep: sleep
            )
        }
    }
}
