/// A point in time: UNIX milliseconds, as the stores state them.
///
/// `Date` appears only at the edges.
public struct Instant: Hashable, Comparable, Sendable {
    /// Milliseconds since 1970-01-01T00:00:00Z.
    public var milliseconds: Int64

    /// - Parameter milliseconds: milliseconds since 1970-01-01T00:00:00Z.
    public init(milliseconds: Int64) {
        self.milliseconds = milliseconds
    }

    /// - Parameter seconds: seconds since 1970, as Stripe states them; saturates instead of trapping.
    public init(seconds: Int64) {
        let (value, overflow) = seconds.multipliedReportingOverflow(by: 1000)
        milliseconds = overflow ? (seconds < 0 ? .min : .max) : value
    }

    public static func < (left: Instant, right: Instant) -> Bool {
        left.milliseconds < right.milliseconds
    }

    /// The instant `milliseconds` later (or earlier, if negative); saturates instead of trapping.
    public func advanced(by milliseconds: Int64) -> Instant {
        let (value, overflow) = self.milliseconds.addingReportingOverflow(milliseconds)
        return Instant(
            milliseconds: overflow ? (milliseconds < 0 ? .min : .max) : value
        )
    }
}

extension Instant: Codable {
    public init(from decoder: any Decoder) throws {
        milliseconds = try decoder.singleValueContainer().decode(Int64.self)
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(milliseconds)
    }
}

extension Instant: CustomStringConvertible {
    /// ISO 8601 in UTC to the second, for people; computed without a calendar so that no date traps.
    public var description: String {
        let day: Int64 = 86_400_000
        var days = milliseconds / day
        var rest = milliseconds % day
        if rest < 0 {
            rest += day
            days -= 1
        }
        let (year, month, dayOfMonth) = CivilDate.from(daysSince1970: days)
        let seconds = rest / 1000
        func two(_ value: Int64) -> String { value < 10 ? "0\(value)" : "\(value)" }
        return "\(year)-\(two(month))-\(two(dayOfMonth))T\(two(seconds / 3600)):"
            + "\(two(seconds / 60 % 60)):\(two(seconds % 60))Z"
    }
}

/// The proleptic Gregorian calendar as arithmetic on day numbers.
enum CivilDate {
    /// Year, month (1–12) and day of month of the day that lies `days` after 1970-01-01.
    static func from(daysSince1970 days: Int64) -> (Int64, Int64, Int64) {
        let shifted = days + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra =
            (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        let day = dayOfYear - (153 * shiftedMonth + 2) / 5 + 1
        let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, day)
    }
}
