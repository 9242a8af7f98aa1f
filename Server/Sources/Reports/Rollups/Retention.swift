internal import TollgateCore

extension Reports.Entries {
    /// Payments by the number of the period since the first standard payment for the product.
    ///
    /// Introductory periods are out, grace counts for nothing, and who was refunded did not pay. What
    /// was left of a period when its plan was changed counts as that period.
    mutating func addRetention(of periods: [Reports.PaidPeriod]) {
        let paid = periods.filter { $0.isPaid || ($0.refunded != nil && !$0.isFamilyShared) }
        for product in Set(paid.map(\.product)).sorted() {
            let own = paid.filter { $0.product == product && $0.offer != .introductory }
            guard let first = own.first(where: \.isStandard) else { continue }
            var numbers: Set<Int64> = []
            for period in own where period.start >= first.start && period.refunded == nil {
                numbers.insert(first.number(of: period))
            }
            let day = Reports.Day(first.start)
            for number in numbers.union([-1]).sorted() {
                // Who began counts in the cohort, paid back or not: under -1.
                var key = Reports.EntryKey(.retained, first, at: day)
                key.detail = number
                key.extra = first.lengthCode
                add(key, Reports.Sum(items: 1))
            }
        }
    }
}

extension Reports.PaidPeriod {
    /// How many whole durations lie between this period's start and another's, which may begin up
    /// to half of one early; what was left of a period belongs to the one that it is of.
    func number(of other: Reports.PaidPeriod) -> Int64 {
        let (begun, at) = (start.onCalendar, other.start.onCalendar)
        guard let (duration, length) = calendarDuration else {
            let length = max(1, end.onCalendar - begun)
            return (at - begun + (other.isProration == true ? 0 : length / 2)) / length
        }
        let target = at + (other.isProration == true ? 0 : length / 2)
        var number = Int((at - begun) / length)
        while number > 0,
            let next = duration.adding(to: begun, times: number), next > target
        {
            number -= 1
        }
        while let next = duration.adding(to: begun, times: number + 1), next <= target {
            number += 1
        }
        return Int64(number)
    }

    /// What its product lasts, and how long that is from here in milliseconds; `nil` where nobody
    /// knows, and where it was sold for much less, as a sandbox's months that last minutes.
    private var calendarDuration: (duration: CalendarDuration, length: Int64)? {
        let begun = start.onCalendar
        guard let duration = duration.flatMap({ CalendarDuration(iso8601: $0) }),
            let next = duration.adding(to: begun), next > begun
        else { return nil }
        let isWhole = end.onCalendar - begun >= (next - begun) / 2
        return isWhole || isProration == true ? (duration, next - begun) : nil
    }

    /// The period's length as a number: days, or a million and months.
    var lengthCode: Int64 {
        guard let (duration, _) = calendarDuration else {
            return max(1, (end.onCalendar - start.onCalendar) / Reports.Day.length)
        }
        let months = Int64(duration.years * 12 + duration.months)
        let days = Int64(duration.weeks * 7 + duration.days)
        return months > 0 ? 1_000_000 + months : days
    }
}

extension Reports {
    /// The first day on which everybody who began on `day` had the chance to pay for period
    /// `number`.
    static func due(_ number: Int64, from day: Day, length code: Int64) -> Day {
        guard code >= 1_000_000 else { return day.advanced(by: number * code) }
        let months = Int((code - 1_000_000) * max(0, number))
        guard let duration = CalendarDuration(months: min(months, 9999)),
            let at = duration.adding(to: day.start.milliseconds)
        else { return day }
        return Day(Instant(milliseconds: at))
    }
}
