extension SimulatedAppStore {
    /// What goes wrong on the way to the subscriber, drawn from the store's seed.
    public struct Faults: Codable, Hashable, Sendable {
        /// Share of attempts, 0 to 1, that are lost before they reach the subscriber.
        public var drop = 0.0
        /// Share of attempts that reach the subscriber twice.
        public var duplicate = 0.0
        /// Share of notifications whose first attempt comes late.
        public var delay = 0.0
        /// The longest such delay, in milliseconds of virtual time.
        public var longestDelay: Int64 = 3_600_000
        /// Share of notifications that let those of the same moment go first.
        public var reorder = 0.0
        /// Share of attempts that arrive but are answered too late to count.
        public var slow = 0.0
        /// Share of App Store Server API calls that fail with 500 and may be tried again.
        public var apiErrors = 0.0
        /// Share of attempts whose signature is damaged.
        public var corrupt = 0.0
        /// From this virtual instant on nothing arrives.
        public var outageStart: Int64?
        /// The virtual instant at which the outage is over.
        public var outageEnd: Int64?

        enum CodingKeys: String, CodingKey {
            case drop, duplicate, delay, corrupt, reorder, slow
            case apiErrors = "api_errors"
            case longestDelay = "longest_delay"
            case outageStart = "outage_start"
            case outageEnd = "outage_end"
        }

        /// Nothing goes wrong.
        public init() {}

        public init(from decoder: any Decoder) throws {
            let values = try decoder.container(keyedBy: CodingKeys.self)
            drop = try values.decodeIfPresent(Double.self, forKey: .drop) ?? 0
            duplicate = try values.decodeIfPresent(Double.self, forKey: .duplicate) ?? 0
            delay = try values.decodeIfPresent(Double.self, forKey: .delay) ?? 0
            corrupt = try values.decodeIfPresent(Double.self, forKey: .corrupt) ?? 0
            reorder = try values.decodeIfPresent(Double.self, forKey: .reorder) ?? 0
            slow = try values.decodeIfPresent(Double.self, forKey: .slow) ?? 0
            apiErrors = try values.decodeIfPresent(Double.self, forKey: .apiErrors) ?? 0
            longestDelay =
                try values.decodeIfPresent(Int64.self, forKey: .longestDelay) ?? 3_600_000
            outageStart = try values.decodeIfPresent(Int64.self, forKey: .outageStart)
            outageEnd = try values.decodeIfPresent(Int64.self, forKey: .outageEnd)
        }

        /// Those that are not nothing, by their names.
        var details: [Deed.Detail] {
            let shares = [
                ("drop", drop), ("duplicate", duplicate), ("delay", delay),
                ("longest_delay", delay > 0 ? Double(longestDelay) : 0), ("reorder", reorder),
                ("slow", slow), ("corrupt", corrupt), ("api_errors", apiErrors),
            ]
            let outage = [("outage_start", outageStart), ("outage_end", outageEnd)]
            return shares.filter { $0.1 > 0 }.map { Deed.Detail($0.0, "\($0.1)") }
                + outage.compactMap { name, instant in
                    instant.map { Deed.Detail(name, "\($0)") }
                }
        }

        func isOutage(at now: Int64) -> Bool {
            guard let outageStart, let outageEnd else { return false }
            return now >= outageStart && now < outageEnd
        }
    }
}
