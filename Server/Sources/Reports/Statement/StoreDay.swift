public import TollgateCore

extension Finance {
    /// A day as a store counts days: of Cupertino or of Coordinated Universal Time, as the context
    /// says.
    public typealias Day = Reports.Day
}

extension Reports.Day {
    /// The day of an instant in Coordinated Universal Time; what lies millions of years away is
    /// brought nearer.
    public init(utc instant: Instant) {
        self.init(number: min(max(Self(instant).number, -100_000_000), 100_000_000))
    }

    /// The day of an instant in Cupertino, by which Apple reports.
    ///
    /// The United States' rule since 2007: summer time from the second Sunday of March to the
    /// first Sunday of November, both at two o'clock.
    public init(pacific instant: Instant) {
        let year = Self(utc: instant).civil.year
        let hour: Int64 = 3_600_000
        var offset = -8 * hour
        if let march = Self(year: year, month: 3, day: 1)?.first(weekday: 0),
            let november = Self(year: year, month: 11, day: 1)?.first(weekday: 0)
        {
            let begin = march.advanced(by: 7).start.advanced(by: 10 * hour)
            let end = november.start.advanced(by: 9 * hour)
            if begin <= instant, instant < end { offset = -7 * hour }
        }
        self.init(utc: instant.advanced(by: offset))
    }

    /// From 0, Sunday, to 6.
    public var weekday: Int64 {
        // 1970-01-01 was a Thursday.
        let rest = (number + 4) % 7
        return rest < 0 ? rest + 7 : rest
    }

    /// This day, or the next one with that weekday.
    private func first(weekday: Int64) -> Self {
        advanced(by: (weekday - self.weekday + 7) % 7)
    }

    /// `YYYY-MM`.
    public var month: String { String(description.prefix(7)) }
}
