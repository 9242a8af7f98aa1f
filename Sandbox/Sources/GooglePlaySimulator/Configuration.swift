public import Foundation

extension SimulatedGooglePlay {
    /// The settings of a simulated Google Play with one app.
    public struct Configuration: Sendable {
        /// The app's package name.
        public var packageName: String
        /// The Google Cloud project with the topic and the service account.
        public var project: String
        /// The catalog, in the form of `PUT /sandbox/catalog`.
        public var catalog: Data?
        /// The push endpoint; `nil`: notifications are pulled.
        public var pushEndpoint: String?
        /// The audience of push tokens; the endpoint if left out.
        public var pushAudience: String?
        /// The seed of all ids: the same seed and acts give the same ids.
        public var seed: UInt64
        /// A file that holds the whole state between runs, keys included.
        public var statePath: String?
        /// Answers calls beyond Google's quotas with 429, by real time.
        public var enforcesQuotas: Bool
        /// Milliseconds of real time that an endpoint has to answer a push.
        public var pushTimeout: Int64
        /// `false`: a new store lets licence testers' subscriptions last and renew as everybody's do.
        public var shortensTests = true
        /// One RSA key plays all parts in a new store, so that it starts four times as fast.
        public var usesOneKey = false
        /// Keys of `makeKeys` for a new store, which several stores of one process may share; `nil`: new ones.
        public var keys: Data?
        /// Told the whole story so far after each thing that is done.
        public var onDeed: (@Sendable (Story) -> Void)?

        /// An app without a catalog, whose notifications wait to be pulled.
        public init(
            packageName: String = "com.example.app",
            project: String = "sandbox",
            catalog: Data? = nil,
            pushEndpoint: String? = nil,
            pushAudience: String? = nil,
            seed: UInt64 = 1,
            statePath: String? = nil,
            enforcesQuotas: Bool = false,
            pushTimeout: Int64 = 10_000
        ) {
            self.packageName = packageName
            self.project = project
            self.catalog = catalog
            self.pushEndpoint = pushEndpoint
            self.pushAudience = pushAudience
            self.seed = seed
            self.statePath = statePath
            self.enforcesQuotas = enforcesQuotas
            self.pushTimeout = pushTimeout
        }
    }
}
