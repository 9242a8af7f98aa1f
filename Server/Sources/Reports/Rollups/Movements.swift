internal import TollgateCore

extension Reports.Entries {
    /// What changed from one day's end to the next, in number and monthly value.
    ///
    /// Under any filter the five add up to the change exactly: a change of plan takes the old one's
    /// value away where it was and adds the new one's where it is, both under one name.
    mutating func addMovements(of periods: [Reports.PaidPeriod]) {
        let paid = periods.filter(\.isCounted)
        var days: Set<Reports.Day> = []
        for period in paid {
            days.insert(Reports.Day(period.start))
            days.insert(period.lastDay)
        }
        var before: [Reports.PaidPeriod] = []
        var wasActive = false
        for day in days.sorted() {
            let after = paid.filter { Reports.Day($0.start) <= day && day < $0.lastDay }
            guard before != after else { continue }
            let measure = Self.movement(from: before, to: after, wasActive: wasActive)
            add(measure, before, at: day, sign: -1)
            add(measure, after, at: day, sign: 1)
            wasActive = wasActive || !after.isEmpty
            before = after
        }
    }

    private static func movement(
        from before: [Reports.PaidPeriod],
        to after: [Reports.PaidPeriod],
        wasActive: Bool
    ) -> Reports.Measure {
        if before.isEmpty { return wasActive ? .returned : .newSubscriptions }
        if after.isEmpty { return .churned }
        let value = { (periods: [Reports.PaidPeriod]) in
            periods.reduce(Reports.Fraction.zero) { $0 + $1.monthlyValue }
        }
        return value(after) < value(before) ? .contraction : .expansion
    }

    private mutating func add(
        _ measure: Reports.Measure,
        _ periods: [Reports.PaidPeriod],
        at day: Reports.Day,
        sign: Int64
    ) {
        // Seats that are added are worth more, and are the same subscription.
        for (index, period) in periods.enumerated() {
            let isOne = index == 0 || period.isAddition != true
            add(measure, period, at: day, sign: sign, items: isOne ? sign : 0)
        }
    }

    private mutating func add(
        _ measure: Reports.Measure,
        _ period: Reports.PaidPeriod,
        at day: Reports.Day,
        sign: Int64,
        items: Int64
    ) {
        var key = Reports.EntryKey(measure, period, at: day)
        let value = period.monthlyValue
        // Kept as one of two denominators they make fewer rows.
        let common: Int128 = 12 % value.denominator == 0 ? 12 : 12_000
        let scale = common / value.denominator
        key.detail = Int64(clamping: value.denominator * scale)
        add(key, Reports.Sum(items: items, amount: sign * Int64(clamping: value.numerator * scale)))
    }
}

extension Reports.PaidPeriod {
    /// The day in which it ends: at the end of that day it is no longer active.
    var lastDay: Reports.Day { Reports.Day(effectiveEnd) }

    /// Whether it was active at the end of some day.
    var isCounted: Bool { isPaid && Reports.Day(start) < lastDay }
}
