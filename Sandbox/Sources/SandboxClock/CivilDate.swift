/// The proleptic Gregorian calendar in UTC, on integers.
public struct CivilDate: Hashable, Sendable {
    public static let millisecondsPerDay: Int64 = 86_400_000

    public var year: Int64
    public var month: Int64
    public var day: Int64

    /// - Parameter daysSince1970: whole days since 1970-01-01.
    public init(daysSince1970: Int64) {
        let shifted = daysSince1970 + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra =
            (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        day = dayOfYear - (153 * shiftedMonth + 2) / 5 + 1
        month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    }

    public init(year: Int64, month: Int64, day: Int64) {
        self.year = year
        self.month = month
        self.day = day
    }

    public var daysSince1970: Int64 {
        let shiftedYear = month <= 2 ? year - 1 : year
        let era = (shiftedYear >= 0 ? shiftedYear : shiftedYear - 399) / 400
        let yearOfEra = shiftedYear - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        return era * 146_097 + dayOfEra - 719_468
    }

    private static func lastDay(ofMonth month: Int64, in year: Int64) -> Int64 {
        switch month {
        case 4, 6, 9, 11: 30
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        default: 31
        }
    }

    /// The same day of the month `months` later, or that month's last.
    public func adding(months: Int64) -> CivilDate {
        let total = year * 12 + month - 1 + months
        let newYear = total >= 0 ? total / 12 : (total - 11) / 12
        let newMonth = total - newYear * 12 + 1
        return CivilDate(
            year: newYear,
            month: newMonth,
            day: min(day, Self.lastDay(ofMonth: newMonth, in: newYear))
        )
    }

    /// `instant` moved by whole months, its time of day kept, its day clamped to the month's last.
    public static func adding(months: Int, to instant: Int64) -> Int64 {
        var days = instant / millisecondsPerDay
        var time = instant % millisecondsPerDay
        if time < 0 {
            days -= 1
            time += millisecondsPerDay
        }
        return CivilDate(daysSince1970: days).adding(months: Int64(months)).daysSince1970
            * millisecondsPerDay + time
    }
}
