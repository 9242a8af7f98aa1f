extension Finance {
    /// A month of Apple's fiscal year, for which the App Store pays at once.
    ///
    /// The year ends with the last Saturday of September. Of each quarter the first month has five
    /// weeks and the others four; a year of 53 weeks gives the additional one to its third month.
    public struct FiscalMonth: Hashable, Comparable, Sendable, CustomStringConvertible {
        /// The fiscal year: 2024 began on 2023-10-01.
        public let year: Int64
        /// From 1, which is mostly October, to 12.
        public let month: Int64

        /// Nil outside 1980 to 2200.
        public init?(year: Int64, month: Int64) {
            guard (1980...2200).contains(year), (1...12).contains(month) else { return nil }
            self.year = year
            self.month = month
        }

        /// Reads `YYYY-MM`, as finance reports are asked for.
        public init?(_ text: some StringProtocol) {
            let parts = text.split(separator: "-", omittingEmptySubsequences: false)
            guard parts.count == 2, parts[0].count == 4, parts[1].count == 2,
                let year = Int64(parts[0]), let month = Int64(parts[1])
            else { return nil }
            self.init(year: year, month: month)
        }

        /// The month in which a day lies; nil outside 1980 to 2200.
        public init?(containing day: Day) {
            let civil = day.civil.year
            for year in [civil + 1, civil] {
                guard (1980...2200).contains(year), Self.start(ofYear: year) <= day else {
                    continue
                }
                for month in Int64(1)...12 {
                    guard let found = Self(year: year, month: month), day <= found.last else {
                        continue
                    }
                    self = found
                    return
                }
            }
            return nil
        }

        /// Its first day, a Sunday.
        public var first: Day {
            let weeks = (1..<month).reduce(Int64(0)) { $0 + Self.weeks(of: $1, in: year) }
            return Self.start(ofYear: year).advanced(by: weeks * 7)
        }

        /// Its last day, a Saturday.
        public var last: Day {
            first.advanced(by: Self.weeks(of: month, in: year) * 7 - 1)
        }

        /// When Apple pays for it, as it mostly does: 33 days after its end.
        public var payment: Day { last.advanced(by: 33) }

        /// The one after it; nil at the end of 2200.
        public var next: FiscalMonth? {
            FiscalMonth(year: month == 12 ? year + 1 : year, month: month == 12 ? 1 : month + 1)
        }

        /// The one before it; nil at the beginning of 1980.
        public var previous: FiscalMonth? {
            FiscalMonth(year: month == 1 ? year - 1 : year, month: month == 1 ? 12 : month - 1)
        }

        public var description: String { "\(year)-\(month < 10 ? "0" : "")\(month)" }

        public static func < (left: Self, right: Self) -> Bool {
            (left.year, left.month) < (right.year, right.month)
        }

        /// The day after the last Saturday of September.
        private static func start(ofYear year: Int64) -> Day {
            let september = Day(year: year - 1, month: 9, day: 30) ?? Day(number: 0)
            return september.advanced(by: 1 - (september.weekday + 1) % 7)
        }

        private static func weeks(of month: Int64, in year: Int64) -> Int64 {
            if month % 3 == 1 { return 5 }
            let days = start(ofYear: year + 1).number - start(ofYear: year).number
            return month == 3 && days == 53 * 7 ? 5 : 4
        }
    }
}
