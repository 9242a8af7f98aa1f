extension StripeSimulator {
    /// What goes wrong on the way to endpoints and in the API.
    ///
    /// What happens by chance is drawn from the ids of events and requests, and these from the
    /// seed: the same seed goes wrong in the same places. The names are those that the sandbox of
    /// the App Store has.
    public struct Faults: Codable, Hashable, Sendable {
        /// Attempts fail without reaching the endpoint and are tried again on the virtual clock.
        public var isFailing = false
        /// Nothing is attempted until this ends.
        public var isPaused = false
        /// How many times more every new event arrives.
        public var repeats = 0
        /// Of what waits, the youngest goes first.
        public var isReversed = false
        /// The next so many deliveries arrive, but their answers are lost.
        public var lostAnswers = 0
        /// Share of attempts, 0 to 1, that are lost before they reach the endpoint.
        public var drop = 0.0
        /// Share of attempts that reach the endpoint twice.
        public var duplicate = 0.0
        /// Share of events whose first attempt comes late.
        public var delay = 0.0
        /// The longest such delay, in milliseconds of virtual time.
        public var longestDelay: Int64 = 3_600_000
        /// Share of events that let those of the same moment go first.
        public var reorder = 0.0
        /// Share of attempts that arrive but are answered too late to count.
        public var slow = 0.0
        /// Share of attempts whose signature is damaged.
        public var corrupt = 0.0
        /// Share of API requests that fail with 500 and leave nothing behind.
        ///
        /// With an idempotency key the failure is kept, as Stripe keeps it: the same key gets it
        /// again. https://docs.stripe.com/api/idempotent_requests
        public var apiErrors = 0.0
        /// For so many milliseconds of real time every API request is being worked on; a twin with
        /// the same idempotency key is refused meanwhile.
        public var apiDelay = 0
        /// From this virtual instant on, in UNIX milliseconds, nothing arrives.
        public var outageStart: Int64?
        /// The virtual instant at which the outage is over.
        public var outageEnd: Int64?

        enum CodingKeys: String, CodingKey, CaseIterable {
            case drop, duplicate, delay, reorder, slow, corrupt, repeats
            case isFailing = "failing"
            case isPaused = "paused"
            case isReversed = "reversed"
            case lostAnswers = "lost_answers"
            case apiErrors = "api_errors"
            case apiDelay = "api_delay"
            case longestDelay = "longest_delay"
            case outageStart = "outage_start"
            case outageEnd = "outage_end"
        }

        /// Nothing goes wrong.
        public init() {}

        public init(from decoder: any Decoder) throws {
            let values = try decoder.container(keyedBy: CodingKeys.self)
            func flag(_ key: CodingKeys) throws -> Bool {
                try values.decodeIfPresent(Bool.self, forKey: key) ?? false
            }
            func share(_ key: CodingKeys) throws -> Double {
                min(1, max(0, try values.decodeIfPresent(Double.self, forKey: key) ?? 0))
            }
            isFailing = try flag(.isFailing)
            isPaused = try flag(.isPaused)
            isReversed = try flag(.isReversed)
            repeats = try values.decodeIfPresent(Int.self, forKey: .repeats) ?? 0
            lostAnswers = try values.decodeIfPresent(Int.self, forKey: .lostAnswers) ?? 0
            drop = try share(.drop)
            duplicate = try share(.duplicate)
            delay = try share(.delay)
            reorder = try share(.reorder)
            slow = try share(.slow)
            corrupt = try share(.corrupt)
            apiErrors = try share(.apiErrors)
            apiDelay = try values.decodeIfPresent(Int.self, forKey: .apiDelay) ?? 0
            longestDelay =
                try values.decodeIfPresent(Int64.self, forKey: .longestDelay) ?? 3_600_000
            outageStart = try values.decodeIfPresent(Int64.self, forKey: .outageStart)
            outageEnd = try values.decodeIfPresent(Int64.self, forKey: .outageEnd)
        }

        /// - Parameter now: UNIX seconds.
        func isOutage(at now: Int) -> Bool {
            guard let outageStart, let outageEnd else { return false }
            let instant = Int64(now) * 1_000
            return instant >= outageStart && instant < outageEnd
        }

        /// The same with counts that a run can bear.
        var bounded: Self {
            var bounded = self
            bounded.repeats = max(0, min(repeats, 10))
            bounded.lostAnswers = max(0, lostAnswers)
            bounded.apiDelay = max(0, min(apiDelay, 60_000))
            bounded.longestDelay = max(1_000, min(longestDelay, 30 * 86_400_000))
            return bounded
        }
    }
}

/// One thing that may happen by chance to a thing with a name.
///
/// The same name gives the same number, whatever else happens in which order.
struct Chance {
    private var random: SeededRandom

    init(_ kind: String, of subject: String) {
        // FNV-1a: the hash of the standard library differs from run to run.
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in "\(kind)/\(subject)".utf8 {
            hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01B3
        }
        random = SeededRandom(seed: hash)
    }

    /// Whether it happens where it happens in this share, 0 to 1, of cases.
    func happens(in share: Double) -> Bool {
        guard share > 0 else { return false }
        var random = random
        return Double(random.next() >> 11) / Double(UInt64(1) << 53) < share
    }

    /// A whole number from 1 to `limit`, apart from whether it happens.
    func amount(upTo limit: Int) -> Int {
        var random = random
        _ = random.next()
        return 1 + Int(random.next() % UInt64(max(1, limit)))
    }
}
