/// A length of time by the calendar, as ISO 8601 writes it: `P1W`, `P1M`, `P1Y`, `P30D`, `P1Y6M`.
///
/// Months and years have no fixed length, so a duration is added to an anchor, in UTC, and a day
/// that the month does not have becomes its last: a month after 31 January is 28 or 29 February.
/// Several durations are added to the anchor at once, never one after the other: two months after
/// 31 January is 31 March.
public struct CalendarDuration: Hashable, Sendable {
    /// Each part is 0…9999.
    public let years, months, weeks, days: Int

    /// A duration, or nil if a part is not within 0…9999 or all are 0.
    public init?(years: Int = 0, months: Int = 0, weeks: Int = 0, days: Int = 0) {
        let parts = [years, months, weeks, days]
        guard parts.allSatisfy((0...9999).contains), parts.contains(where: { $0 > 0 }) else {
            return nil
        }
        (self.years, self.months, self.weeks, self.days) = (years, months, weeks, days)
    }

    /// Reads ISO 8601 restricted to years, months, weeks and days, each at most once and in this
    /// order, in at most four digits.
    ///
    /// Nil for anything else.
    public init?(iso8601 text: String) {
        var rest = text.utf8[...]
        guard rest.popFirst() == UInt8(ascii: "P") else { return nil }
        var parts = [0, 0, 0, 0]
        var allowed = Array("YMWD".utf8)[...]
        while !rest.isEmpty {
            let digits = rest.prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
            guard (1...4).contains(digits.count) else { return nil }
            let count = digits.reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
            rest = rest.dropFirst(digits.count)
            guard let unit = rest.popFirst(), let index = allowed.firstIndex(of: unit) else {
                return nil
            }
            parts[index] = count
            allowed = allowed[(index + 1)...]
        }
        self.init(years: parts[0], months: parts[1], weeks: parts[2], days: parts[3])
    }

    /// How ISO 8601 writes it.
    public var iso8601: String {
        let parts = [(years, "Y"), (months, "M"), (weeks, "W"), (days, "D")]
        return "P" + parts.filter { $0.0 > 0 }.map { "\($0.0)\($0.1)" }.joined()
    }

    /// The instant that lies `times` durations after `anchor`; before it, if `times` is negative.
    ///
    /// - Parameters:
    ///   - anchor: Milliseconds since 1970-01-01T00:00:00Z.
    ///   - times: How often the duration is added.
    /// - Returns: Milliseconds since 1970, or nil if anchor or result lie more than 100 million
    ///   days from 1970.
    public func adding(to anchor: Int64, times: Int = 1) -> Int64? {
        guard Self.instants.contains(anchor) else { return nil }
        // Parts are at most 9999, so these sums fit; the products need not.
        let (months, monthsOverflow) = Int64(years * 12 + months)
            .multipliedReportingOverflow(by: Int64(times))
        let (days, daysOverflow) = Int64(weeks * 7 + days)
            .multipliedReportingOverflow(by: Int64(times))
        guard !monthsOverflow, !daysOverflow,
            Self.steps.contains(months), Self.steps.contains(days)
        else { return nil }

        let day = anchor.dividedDown(by: Self.dayLength)
        let timeOfDay = anchor - day * Self.dayLength
        let shifted = CivilDay(daysSince1970: day).adding(months: months).daysSince1970 + days
        guard Self.steps.contains(shifted) else { return nil }
        let result = shifted * Self.dayLength + timeOfDay
        return Self.instants.contains(result) ? result : nil
    }

    private static let dayLength: Int64 = 86_400_000
    private static let steps: ClosedRange<Int64> = -100_000_000...100_000_000
    private static let instants = -100_000_000 * dayLength...100_000_000 * dayLength
}

extension CalendarDuration: Codable {
    /// Reads the ISO 8601 string.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let text = try container.decode(String.self)
        guard let duration = CalendarDuration(iso8601: text) else {
            throw DecodingError.dataCorruptedError(
                in: container,
                debugDescription: "‘\(text)’ is not a duration like P1M or P30D"
            )
        }
        self = duration
    }

    /// Writes the ISO 8601 string.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(iso8601)
    }
}
