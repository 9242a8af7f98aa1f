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
        let length: Int64 = 86_400_000
        let day = CivilDay(daysSince1970: milliseconds.dividedDown(by: length))
        let seconds = (milliseconds % length + length) % length / 1000
        func two(_ value: Int64) -> String { value < 10 ? "0\(value)" : "\(value)" }
        return "\(day.year)-\(two(day.month))-\(two(day.day))T\(two(seconds / 3600)):"
            + "\(two(seconds / 60 % 60)):\(two(seconds % 60))Z"
    }
}
