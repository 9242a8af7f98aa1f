extension GooglePlay {
    /// The rules for fetching Google's keys: after `Cache-Control: max-age`, and once for a key id that
    /// is not among them, but not more often than every five minutes.
    ///
    /// A value: the caller fetches, and says what came.
    public struct PushKeyCache: Sendable {
        /// The shortest time between two fetches for unknown ids, in seconds: strangers choose the ids.
        public static let shortestPause: Int64 = 300
        /// Without `max-age`, in seconds.
        public static let defaultAge: Int64 = 3600

        private var keys: PushKeys?
        private var freshUntil: Int64 = .min
        private var fetchedAt: Int64 = .min

        public init() {}

        /// The next step for a token.
        public enum Step: Sendable {
            /// Verify with these keys.
            case use(PushKeys)
            /// Fetch the keys, then ask again.
            case fetch
        }

        /// Returns the keys to use now, or asks for a fetch.
        public func step(now: Int64) -> Step {
            guard let keys, now < freshUntil else { return .fetch }
            return .use(keys)
        }

        /// Returns whether a fetch may help with an unknown key id.
        public func mayFetchAnew(now: Int64) -> Bool {
            fetchedAt == .min || now - fetchedAt >= Self.shortestPause
        }

        /// Takes in fetched keys.
        ///
        /// - Parameter maximumAge: `max-age` of the answer, in seconds.
        public mutating func take(_ keys: PushKeys, maximumAge: Int64?, now: Int64) {
            self.keys = keys
            fetchedAt = now
            freshUntil = now + min(86_400, max(60, maximumAge ?? Self.defaultAge))
        }

        /// Keys of the last fetch, for as long as Google does not answer.
        public var stale: PushKeys? { keys }
    }
}
