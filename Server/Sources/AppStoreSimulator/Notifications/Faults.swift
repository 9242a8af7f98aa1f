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
        /// Share of attempts whose signature is damaged.
        public var corrupt = 0.0
        /// From this virtual instant on nothing arrives.
        public var outageStart: Int64?
        /// The virtual instant at which the outage is over.
        public var outageEnd: Int64?

        /// Nothing goes wrong.
        public init() {}

        func isOutage(at now: Int64) -> Bool {
            guard let outageStart, let outageEnd else { return false }
            return now >= outageStart && now < outageEnd
        }
    }
}
