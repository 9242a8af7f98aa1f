public import TollgateCore

extension Finance {
    /// A day as a store counts days: of Cupertino or of Coordinated Universal Time, as the context
    /// says.
    ///
    /// Unlike `Reports.Day` it is written as a date, since it stands in statements.
    public struct Day: Hashable, Comparable, Sendable, CustomStringConvertible {
        /// Days after 1970-01-01.
        public let number: Int64

        /// - Parameter number: days after 1970-01-01; what lies millions of years away is brought
        ///   nearer.
        public init(number: Int64) {
            self.number = min(max(number, -100_000_000), 100_000_000)
        }

        /// The same day of the calendar.
        public init(_ day: Reports.Day) {
            self.init(number: day.number)
        }

        /// Nil for a date that no calendar has.
        public init?(year: Int64, month: Int64, day: Int64) {
            guard let day = Reports.Day(year: year, month: month, day: day) else { return nil }
            self.init(day)
        }

        /// Reads `YYYY-MM-DD`.
        public init?(_ text: some StringProtocol) {
            guard let day = Reports.Day(text) else { return nil }
            self.init(day)
        }

        /// The day of an instant in Coordinated Universal Time.
        public init(utc instant: Instant) {
            self.init(Reports.Day(instant))
        }

        /// The day of an instant in Cupertino, by which Apple reports.
        ///
        /// The United States' rule since 2007: summer time from the second Sunday of March to the
        /// first Sunday of November, both at two o'clock.
        public init(pacific instant: Instant) {
            let year = Day(utc: instant).civil.year
            let hour: Int64 = 3_600_000
            var offset = -8 * hour
            if let march = Day(year: year, month: 3, day: 1)?.first(weekday: 0),
                let november = Day(year: year, month: 11, day: 1)?.first(weekday: 0)
            {
                let begin = march.advanced(by: 7).start.advanced(by: 10 * hour)
                let end = november.start.advanced(by: 9 * hour)
                if begin <= instant, instant < end { offset = -7 * hour }
            }
            self.init(utc: instant.advanced(by: offset))
        }

        /// Year, month from 1 and day of the month.
        public var civil: (year: Int64, month: Int64, day: Int64) {
            Reports.Day(number: number).civil
        }

        /// From 0, Sunday, to 6.
        public var weekday: Int64 {
            // 1970-01-01 was a Thursday.
            let rest = (number + 4) % 7
            return rest < 0 ? rest + 7 : rest
        }

        /// Its first instant, in Coordinated Universal Time.
        public var start: Instant { Reports.Day(number: number).start }

        /// The day `count` days later.
        public func advanced(by count: Int64) -> Day { Day(number: number + count) }

        /// This day, or the next one with that weekday.
        private func first(weekday: Int64) -> Day {
            advanced(by: (weekday - self.weekday + 7) % 7)
        }

        /// `YYYY-MM`.
        public var month: String { String(description.prefix(7)) }

        public var description: String { "\(Reports.Day(number: number))" }

        public static func < (left: Day, right: Day) -> Bool { left.number < right.number }
    }
}

extension Finance.Day: Codable {
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let day = Self(try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "no day")
        }
        self = day
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}
