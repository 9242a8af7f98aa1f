internal import TextFormats

extension GooglePlay {
    /// A day as a report writes it, in the report's own time zone; it names no instant.
    public struct ReportDate: Hashable, Sendable, Comparable, CustomStringConvertible {
        private let date: CalendarDay
        public var year: Int64 { date.year }
        public var month: Int64 { date.month }
        public var day: Int64 { date.day }

        private static let months = [
            "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
        ]

        /// Reads `2026-09-10`, `Sep 10, 2026` and `September 10, 2026`.
        public init?(_ text: String) {
            let words = text.split { $0 == "-" || $0 == "," || $0 == " " }.map(String.init)
            guard words.count == 3 else { return nil }
            let numbers: [Int64?]
            if let month = Self.months.firstIndex(of: String(words[0].lowercased().prefix(3))) {
                numbers = [words[2].digits, Int64(month + 1), words[1].digits]
            } else {
                numbers = words.map(\.digits)
            }
            guard let year = numbers[0], let month = numbers[1], let day = numbers[2],
                (2000...2999).contains(year),
                let date = CalendarDay(year: year, month: month, day: day)
            else { return nil }
            self.date = date
        }

        /// `2026-09-10`.
        public var description: String { date.description }

        public static func < (left: Self, right: Self) -> Bool {
            (left.year, left.month, left.day) < (right.year, right.month, right.day)
        }

        /// Its first millisecond, were it a day of UTC.
        var start: Int64 { date.daysSince1970 * 86_400_000 }
    }

    /// The notation of amounts and times in reports.
    enum ReportValues {
        /// Millionths: `1,234.50`, `-0.99`; beyond six decimals rounded, halves away from zero.
        ///
        /// - Returns: `nil` for anything else, also where commas separate anything but thousands.
        static func millionths(_ text: String) -> Int64? {
            var digits = Substring(text)
            let isNegative = digits.first == "-"
            if isNegative { digits.removeFirst() }
            let halves = digits.split(separator: ".", omittingEmptySubsequences: false)
            guard (1...2).contains(halves.count) else { return nil }
            let groups = halves[0].split(separator: ",", omittingEmptySubsequences: false)
            if groups.count > 1 {
                guard (1...3).contains(groups[0].count),
                    groups.dropFirst().allSatisfy({ $0.count == 3 })
                else { return nil }
            }
            guard let whole = groups.joined(separator: "").digits, whole < 1_000_000_000_000 else {
                return nil
            }
            let decimals = halves.count == 2 ? String(halves[1]) : "0"
            guard decimals.digits != nil, decimals.utf8.count <= 18,
                let part = String((decimals + "000000").prefix(6)).digits
            else { return nil }
            let isUp = decimals.utf8.dropFirst(6).first.map { $0 >= UInt8(ascii: "5") } ?? false
            let amount = whole * 1_000_000 + part + (isUp ? 1 : 0)
            return isNegative ? -amount : amount
        }

        /// The instant of `1:00:00 AM PDT` on a day, in UNIX milliseconds; `nil` for another form or
        /// zone.
        static func instant(_ text: String, on date: ReportDate) -> Int64? {
            let words = text.split(separator: " ")
            guard words.count == 3 else { return nil }
            let hours: [String: Int64] = ["PDT": 7, "PST": 8, "UTC": 0, "GMT": 0]
            let clock = words[0].split(separator: ":").compactMap { String($0).digits }
            guard let offset = hours[words[2].uppercased()], clock.count == 3,
                (1...12).contains(clock[0]), (0...59).contains(clock[1]),
                (0...60).contains(clock[2])
            else { return nil }
            let half: Int64
            switch words[1].uppercased() {
            case "AM": half = 0
            case "PM": half = 12
            default: return nil
            }
            let seconds = (clock[0] % 12 + half + offset) * 3600 + clock[1] * 60 + clock[2]
            return date.start + seconds * 1000
        }
    }
}

extension String {
    /// The number that a text of digits alone writes.
    var digits: Int64? {
        guard !isEmpty, utf8.count <= 18, utf8.allSatisfy({ (48...57).contains($0) }) else {
            return nil
        }
        return Int64(self)
    }
}
