public import TollgateCore

extension Reports {
    /// A day of the calendar in UTC.
    ///
    /// What is counted at a day is what holds in its last millisecond.
    public struct Day: Hashable, Comparable, Sendable {
        /// Days since 1970-01-01.
        public var number: Int64

        public init(number: Int64) {
            self.number = number
        }

        /// The day in which an instant lies.
        public init(_ instant: Instant) {
            let length = Day.length
            let quotient = instant.milliseconds / length
            number = instant.milliseconds % length < 0 ? quotient - 1 : quotient
        }

        /// A day of the Gregorian calendar, or nil if there is no such day.
        public init?(year: Int64, month: Int64, day: Int64) {
            guard let civil = CivilDay(checking: year, month: month, day: day) else { return nil }
            number = civil.daysSince1970
        }

        /// Reads `YYYY-MM-DD`; nil for anything else.
        public init?(_ text: some StringProtocol) {
            let parts = text.split(separator: "-", omittingEmptySubsequences: false)
            guard parts.count == 3, parts.map(\.utf8.count) == [4, 2, 2],
                parts.allSatisfy({ $0.utf8.allSatisfy { (48...57).contains($0) } }),
                let year = Int64(parts[0]), let month = Int64(parts[1]), let day = Int64(parts[2])
            else { return nil }
            self.init(year: year, month: month, day: day)
        }

        /// Milliseconds.
        public static let length: Int64 = 86_400_000

        public static func < (left: Day, right: Day) -> Bool { left.number < right.number }

        /// Its first millisecond.
        public var start: Instant {
            let (value, overflow) = number.multipliedReportingOverflow(by: Day.length)
            return Instant(milliseconds: overflow ? (number < 0 ? .min : .max) : value)
        }

        public func advanced(by days: Int64) -> Day { Day(number: number &+ days) }

        /// Year, month from 1 to 12, day of the month.
        public var civil: (year: Int64, month: Int64, day: Int64) {
            let civil = CivilDay(daysSince1970: number)
            return (civil.year, civil.month, civil.day)
        }

        /// The first day of its month.
        public var startOfMonth: Day { advanced(by: 1 - civil.day) }

        /// The first day of the month after its own.
        public var startOfNextMonth: Day { startOfMonth.advanced(by: 31).startOfMonth }

        /// The Monday of its week.
        public var startOfWeek: Day {
            advanced(by: -((weekday + 6) % 7))
        }
    }
}

extension Instant {
    /// Its milliseconds, within a hundred million days of 1970.
    ///
    /// A store may state whatever its numbers hold. Beyond this there is no calendar, and lengths
    /// of time would overflow.
    var onCalendar: Int64 {
        let limit = 100_000_000 * Reports.Day.length
        return max(-limit, min(milliseconds, limit))
    }
}

extension Reports.Day: CustomStringConvertible {
    /// `YYYY-MM-DD`.
    public var description: String {
        var bytes: [UInt8] = []
        write(to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Writes its description.
    func write(to bytes: inout [UInt8]) {
        let (year, month, day) = civil
        func append(_ value: Int64, _ width: Int) {
            var least: UInt64 = 1
            for _ in 1..<width { least *= 10 }
            while least > 1, value.magnitude < least {
                bytes.append(UInt8(ascii: "0"))
                least /= 10
            }
            bytes.append(number: value.magnitude)
        }
        if year < 0 { bytes.append(UInt8(ascii: "-")) }
        append(year, 4)
        bytes.append(UInt8(ascii: "-"))
        append(month, 2)
        bytes.append(UInt8(ascii: "-"))
        append(day, 2)
    }
}

// As a date, since it stands in statements.
extension Reports.Day: Codable {
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

extension Reports {
    /// How finely time is cut.
    public enum Step: String, CaseIterable, Codable, Hashable, Sendable {
        case day, week, month

        /// The first day of the piece in which a day lies; weeks begin on Monday.
        public func start(of day: Day) -> Day {
            switch self {
            case .day: day
            case .week: day.startOfWeek
            case .month: day.startOfMonth
            }
        }

        /// The first day of the next piece.
        public func next(after start: Day) -> Day {
            switch self {
            case .day: start.advanced(by: 1)
            case .week: start.startOfWeek.advanced(by: 7)
            case .month: start.startOfNextMonth
            }
        }

        /// The pieces that days from `first` to `last`, both included, are cut into.
        ///
        /// The first and the last may be cut short.
        public func pieces(from first: Day, to last: Day) -> [ClosedRange<Day>] {
            var pieces: [ClosedRange<Day>] = []
            var day = first
            while day <= last {
                let end = min(last, next(after: start(of: day)).advanced(by: -1))
                pieces.append(day...end)
                day = end.advanced(by: 1)
            }
            return pieces
        }
    }
}
