/// A day of the Gregorian calendar and a second in it, in UTC, for the arithmetic of billing.
struct CalendarDate: Hashable, Sendable {
    var year: Int
    var month: Int
    var day: Int
    var secondOfDay: Int

    /// - Parameter instant: UNIX seconds.
    init(_ instant: Int) {
        let days = Int((Double(instant) / 86_400).rounded(.down))
        secondOfDay = instant - days * 86_400
        // Days to civil date, proleptic Gregorian, with March as the first month of the year.
        let shifted = days + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra =
            (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        day = dayOfYear - (153 * shiftedMonth + 2) / 5 + 1
        month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    }

    /// UNIX seconds.
    var instant: Int {
        let shiftedYear = month <= 2 ? year - 1 : year
        let era = (shiftedYear >= 0 ? shiftedYear : shiftedYear - 399) / 400
        let yearOfEra = shiftedYear - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        return (era * 146_097 + dayOfEra - 719_468) * 86_400 + secondOfDay
    }

    /// The same day `months` later, or the last of that month if it is shorter.
    func adding(months: Int) -> CalendarDate {
        var result = self
        let index = year * 12 + (month - 1) + months
        result.year = index / 12
        result.month = index % 12 + 1
        result.day = min(day, Self.days(in: result.month, of: result.year))
        return result
    }

    private static func days(in month: Int, of year: Int) -> Int {
        switch month {
        case 2: (year % 4 == 0 && year % 100 != 0) || year % 400 == 0 ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    /// "01 Sep 2020", as descriptions of lines have it.
    var words: String {
        let names = [
            "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
        ]
        return (day < 10 ? "0" : "") + "\(day) \(names[month - 1]) \(year)"
    }
}
