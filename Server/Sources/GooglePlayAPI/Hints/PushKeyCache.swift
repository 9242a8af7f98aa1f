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
        /// Seconds for which old keys are used while Google does not answer.
        public static let longestAge: Int64 = 86_400

        private var keys: PushKeys?
        private var freshUntil: Int64 = .min
        /// The last fetch that was answered, and the last one that was not.
        private var fetchedAt: Int64?
        private var failedAt: Int64?
        private var failures: Int64 = 0

        public init() {}

        /// The next step for a token.
        public enum Step: Sendable {
            /// Verify with these keys.
            case use(PushKeys)
            /// Fetch the keys, then ask again.
            case fetch
            /// There are no keys, and Google was asked a moment ago: the push has to come again.
            case wait
        }

        /// Returns the keys to use now, or asks for a fetch.
        public func step(now: Int64) -> Step {
            // A clock that went back shows no age: the keys are fetched.
            if let keys, let fetchedAt, now >= fetchedAt, now < freshUntil { return .use(keys) }
            if mayTryAgain(now: now) { return .fetch }
            guard let keys, now < freshUntil + Self.longestAge else { return .wait }
            return .use(keys)
        }

        /// Returns `true` if a fetch may help with an unknown key id.
        public func mayFetchAnew(now: Int64) -> Bool {
            guard mayTryAgain(now: now) else { return false }
            return fetchedAt.map { now - $0 >= Self.shortestPause || now < $0 } ?? true
        }

        /// After a failure 10 s, 20 s, … at most five minutes go by.
        private func mayTryAgain(now: Int64) -> Bool {
            guard let failedAt, now >= failedAt else { return true }
            return now - failedAt >= min(10 << min(max(0, failures - 1), 5), Self.shortestPause)
        }

        /// Takes in fetched keys.
        ///
        /// - Parameter maximumAge: `max-age` of the answer, in seconds.
        public mutating func take(_ keys: PushKeys, maximumAge: Int64?, now: Int64) {
            self.keys = keys
            fetchedAt = now
            (failedAt, failures) = (nil, 0)
            freshUntil = now + min(Self.longestAge, max(60, maximumAge ?? Self.defaultAge))
        }

        /// Takes note of a fetch without an answer: what is here stays in use.
        public mutating func failed(now: Int64) {
            failedAt = now
            failures += 1
        }
    }
}
