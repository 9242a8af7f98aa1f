/// A day of the proleptic Gregorian calendar.
///
/// Counting days in closed form (eras of 400 years that begin on 1 March, so that the leap day
/// comes last) keeps absurd dates from trapping or looping.
public struct CivilDay: Hashable, Sendable {
    public var year: Int64
    /// 1…12.
    public var month: Int64
    /// 1…31.
    public var day: Int64

    public init(year: Int64, month: Int64, day: Int64) {
        (self.year, self.month, self.day) = (year, month, day)
    }

    /// A day that the calendar has; `nil` for a 30 February.
    public init?(checking year: Int64, month: Int64, day: Int64) {
        self.init(year: year, month: month, day: day)
        guard (1...9999).contains(year), (1...12).contains(month), (1...31).contains(day),
            Self(daysSince1970: daysSince1970) == self
        else { return nil }
    }

    public init(daysSince1970 days: Int64) {
        let shifted = days + 719_468
        let era = shifted.dividedDown(by: 146_097)
        let dayOfEra = shifted - era * 146_097
        let yearOfEra =
            (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let marchMonth = (5 * dayOfYear + 2) / 153
        day = dayOfYear - (153 * marchMonth + 2) / 5 + 1
        month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9
        year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    }

    public var daysSince1970: Int64 {
        let marchYear = month <= 2 ? year - 1 : year
        let era = marchYear.dividedDown(by: 400)
        let yearOfEra = marchYear - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        return era * 146_097 + dayOfEra - 719_468
    }

    /// The same day in another month, or that month's last.
    func adding(months: Int64) -> CivilDay {
        let count = year * 12 + (month - 1) + months
        let newYear = count.dividedDown(by: 12)
        let newMonth = count - newYear * 12 + 1
        let last = Self.lastDay(ofMonth: newMonth, year: newYear)
        return CivilDay(year: newYear, month: newMonth, day: min(day, last))
    }

    private static func lastDay(ofMonth month: Int64, year: Int64) -> Int64 {
        switch month {
        case 4, 6, 9, 11: 30
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        default: 31
        }
    }
}

extension Int64 {
    /// The quotient rounded towards negative infinity, for a positive divisor.
    func dividedDown(by divisor: Int64) -> Int64 {
        let quotient = self / divisor
        return self % divisor < 0 ? quotient - 1 : quotient
    }
}
