public import TollgateCore

extension Reports {
    /// What a paid period is worth a month (definition of MRR, version 1).
    public enum MonthlyValue {
        /// By how much a price is multiplied to make it monthly.
        ///
        /// - Parameters:
        ///   - duration: what the product lasts; `nil` where it is unknown, or where an
        ///     introductory offer has a length of its own: then real days decide.
        public static func factor(
            of duration: CalendarDuration?,
            from start: Instant,
            to end: Instant
        ) -> Fraction {
            if let duration, let factor = factors[duration.iso8601] { return factor }
            let days = max(1, (end.onCalendar - start.onCalendar + half) / Day.length)
            switch days {
            case 27...33: return Fraction(Int128(1))
            case 363...375: return Fraction(1, 12)
            default: return Fraction(28, Int128(days))
            }
        }

        private static let half = Day.length / 2

        private static let factors: [String: Fraction] = [
            "P1D": Fraction(Int128(30)), "P3D": Fraction(Int128(10)),
            "P1W": Fraction(Int128(4)), "P7D": Fraction(Int128(4)),
            "P2W": Fraction(Int128(2)), "P14D": Fraction(Int128(2)),
            "P4W": Fraction(Int128(1)), "P28D": Fraction(Int128(1)),
            "P1M": Fraction(Int128(1)), "P2M": Fraction(1, 2), "P3M": Fraction(1, 3),
            "P6M": Fraction(1, 6), "P1Y": Fraction(1, 12), "P12M": Fraction(1, 12),
        ]
    }
}
