/// A length of time as the catalog writes it, in ISO 8601: `P1W`, `P1M`, `P3M`, `P1Y`, `P3D`.
struct BillingPeriod: Hashable, Sendable, Codable, CustomStringConvertible {
    enum Unit: String, Hashable, Sendable {
        case day = "D"
        case week = "W"
        case month = "M"
        case year = "Y"
    }

    var count: Int
    var unit: Unit

    init(_ count: Int, _ unit: Unit) {
        (self.count, self.unit) = (count, unit)
    }

    init?(_ text: String) {
        guard text.hasPrefix("P"), let last = text.last, let unit = Unit(rawValue: String(last)),
            let count = Int(text.dropFirst().dropLast()), (0...1000).contains(count)
        else { return nil }
        self.init(count, unit)
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let period = BillingPeriod(try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(
                in: container,
                debugDescription: "not a period like P1M"
            )
        }
        self = period
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }

    var description: String { "P\(count)\(unit.rawValue)" }
    var isNothing: Bool { count == 0 }

    /// A month renewed on the 31st goes to the 28th of February, and stays on the 28th.
    func end(from start: Int64) -> Int64 {
        switch unit {
        case .day: start + Int64(count) * Timestamp.day
        case .week: start + Int64(count) * 7 * Timestamp.day
        case .month: CivilDate.adding(months: count, to: start)
        case .year: CivilDate.adding(months: 12 * count, to: start)
        }
    }

    /// The length as a fraction of `other`: a month is 1/12 of a year.
    func ratio(to other: BillingPeriod) -> (Int64, Int64) {
        if let months, let others = other.months, others > 0 { return (months, others) }
        return (length / Timestamp.day, max(1, other.length / Timestamp.day))
    }

    private var months: Int64? {
        switch unit {
        case .day, .week: nil
        case .month: Int64(count)
        case .year: Int64(12 * count)
        }
    }

    /// The length in days, with months of 30 days.
    var length: Int64 {
        let days =
            switch unit {
            case .day: 1
            case .week: 7
            case .month: 30
            case .year: 365
            }
        return Int64(count * days) * Timestamp.day
    }
}

/// The lengths of periods and windows for one buyer: shorter for licence testers.
///
/// https://developer.android.com/google/play/billing/test#subs
struct Durations: Hashable, Sendable {
    var isTester: Bool

    /// Renewals that a licence tester gets at most.
    static let testRenewals = 6

    func end(of period: BillingPeriod, isTrial: Bool = false, from start: Int64) -> Int64 {
        guard isTester else { return period.end(from: start) }
        return start + (isTrial ? 3 : Self.testMinutes(period)) * Timestamp.minute
    }

    func grace(_ period: BillingPeriod) -> Int64 {
        guard !period.isNothing else { return 0 }
        return isTester ? 5 * Timestamp.minute : period.length
    }

    func hold(_ period: BillingPeriod) -> Int64 {
        guard !period.isNothing else { return 0 }
        return isTester ? 10 * Timestamp.minute : period.length
    }

    func pauseEnd(_ pause: BillingPeriod, from start: Int64) -> Int64 {
        isTester
            ? start + Int64(min(3, max(1, pause.count)) * 5) * Timestamp.minute
            : pause.end(from: start)
    }

    /// The time at which an unacknowledged purchase is refunded.
    func acknowledgement(of prepaid: BillingPeriod?, testMinutes: Int64) -> Int64 {
        if isTester { return min(100_000, max(0, testMinutes)) * Timestamp.minute }
        guard let prepaid, prepaid.length < 7 * Timestamp.day else { return 3 * Timestamp.day }
        return prepaid.length / 2
    }

    private static func testMinutes(_ period: BillingPeriod) -> Int64 {
        switch period.length {
        case ..<(60 * Timestamp.day): 5
        case ..<(150 * Timestamp.day): 10
        case ..<(300 * Timestamp.day): 15
        default: 30
        }
    }
}
