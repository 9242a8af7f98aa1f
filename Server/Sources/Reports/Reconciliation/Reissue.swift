extension Finance {
    /// A report that the store has issued again with other content.
    ///
    /// The newest edition counts; the older ones are kept as they came.
    public struct Reissue: Hashable, Codable, Sendable {
        /// `SALES`, `FINANCIAL`.
        public var source: String
        /// What the report covers: `DAILY 2026-06-01`, `FISCAL 2026-09 ZZ`.
        public var period: String
        /// The days, in UTC, on which the older edition came and the newer one took its place.
        public var fetched: Day
        public var replaced: Day

        public init(source: String, period: String, fetched: Day, replaced: Day) {
            self.source = source
            self.period = period
            self.fetched = fetched
            self.replaced = replaced
        }

        /// In a sentence.
        public var text: String {
            "\(source) \(period) was issued again: the edition of \(replaced) counts, that of \(fetched) is kept"
        }

        /// Whether it covers one of the days from `first` to `last`.
        func isWithin(_ first: Day, _ last: Day) -> Bool {
            let words = period.split(separator: " ")
            guard words.count >= 2 else { return true }
            let days: ClosedRange<Day>?
            switch words[0] {
            case "FISCAL": days = FiscalMonth(words[1]).map { $0.first...$0.last }
            case "WEEKLY": days = Day(words[1]).map { $0.advanced(by: -6)...$0 }
            case "MONTHLY":
                days = Day("\(words[1])-01").map { $0...$0.advanced(by: 30) }
            case "YEARLY": days = Day("\(words[1])-01-01").map { $0...$0.advanced(by: 365) }
            default: days = Day(words[1]).map { $0...$0 }
            }
            // What cannot be read is rather said than left out.
            return days?.overlaps(first...last) ?? true
        }
    }
}
