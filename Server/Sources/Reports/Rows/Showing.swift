public import TollgateCore

extension Reports {
    /// A customer saw an offering at a placement.
    public struct Showing: Codable, Hashable, Sendable {
        /// The catalog's id of the placement.
        public var placement: String
        /// The catalog's id of the offering: the variant.
        public var offering: String
        public var at: Instant

        public init(placement: String, offering: String, at: Instant) {
            self.placement = placement
            self.offering = offering
            self.at = at
        }

        public var day: Day { Day(at) }
    }
}
