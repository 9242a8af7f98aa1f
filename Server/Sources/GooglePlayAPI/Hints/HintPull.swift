extension GooglePlay {
    /// The rules of pulling hints: a message is acknowledged once it is durable, acknowledgements go
    /// before the next pull, and a fault is waited out.
    ///
    /// A value: the caller pulls, keeps and acknowledges, and says what came of it. Times are UNIX
    /// milliseconds of the wall clock.
    public struct HintPull: Sendable {
        /// The next step.
        public enum Step: Hashable, Sendable {
            case acknowledge([String])
            /// Pull at most so many messages.
            case pull(maximum: Int64)
            /// There is nothing to do before this time.
            case rest(until: Int64)
        }

        /// Messages of one pull.
        public static let most: Int64 = 100
        /// The pause after a pull that brought nothing.
        public static let pause: Int64 = 1_000
        /// The longest pause after faults in a row.
        public static let longestPause: Int64 = 60_000
        /// An acknowledgement later than this is of no use: Google delivers the message again.
        static let deadline: Int64 = 600_000

        private var durable: [(id: String, since: Int64)] = []
        private var restsUntil: Int64 = .min
        /// The length of the present rest, at most: a clock that went back freezes nothing.
        private var rest: Int64 = 0
        private var failures: Int64 = 0

        public init() {}

        /// Returns the step to take now.
        public mutating func step(now: Int64) -> Step {
            if now < restsUntil, restsUntil - now <= rest { return .rest(until: restsUntil) }
            durable.removeAll { now - $0.since > Self.deadline }
            guard durable.isEmpty else { return .acknowledge(durable.map(\.id)) }
            return .pull(maximum: Self.most)
        }

        /// Takes note of a pull that was answered with `count` messages.
        public mutating func pulled(_ count: Int, now: Int64) {
            failures = 0
            if count == 0 { pause(Self.pause, now) }
        }

        /// Takes note of a message that is durable.
        public mutating func kept(_ ackID: String, now: Int64) {
            durable.append((ackID, now))
        }

        /// Takes note of messages that could not be kept: they are left to be delivered again.
        public mutating func couldNotKeep(now: Int64) { retreat(nil, now) }

        /// Takes note of acknowledgements that were answered.
        public mutating func acknowledged(_ ids: [String], now: Int64) {
            failures = 0
            let done = Set(ids)
            durable.removeAll { done.contains($0.id) }
        }

        /// Takes note of a fault.
        ///
        /// - Parameter retryAfter: seconds that Google wants to be left alone.
        public mutating func failed(retryAfter: Int64?, now: Int64) {
            // One bad id must not keep hints away: whatever is not acknowledged comes again.
            if failures >= 3 { durable = [] }
            retreat(retryAfter, now)
        }

        private mutating func retreat(_ retryAfter: Int64?, _ now: Int64) {
            let ladder = min(Self.pause << min(failures, 6), Self.longestPause)
            failures += 1
            pause(max(ladder, (retryAfter ?? 0) * 1000), now)
        }

        private mutating func pause(_ milliseconds: Int64, _ now: Int64) {
            (rest, restsUntil) = (milliseconds, now + milliseconds)
        }
    }
}
