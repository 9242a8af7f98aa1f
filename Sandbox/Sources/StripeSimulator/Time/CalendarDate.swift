internal import SandboxClock

/// A day of the Gregorian calendar and a second in it, in UTC, for the arithmetic of billing.
struct CalendarDate: Hashable, Sendable {
    private var date: CivilDate
    private var secondOfDay: Int

    var year: Int { Int(date.year) }
    var month: Int { Int(date.month) }
    var day: Int { Int(date.day) }

    /// - Parameter instant: UNIX seconds.
    init(_ instant: Int) {
        let days = Int((Double(instant) / 86_400).rounded(.down))
        secondOfDay = instant - days * 86_400
        date = CivilDate(daysSince1970: Int64(days))
    }

    /// UNIX seconds.
    var instant: Int { Int(date.daysSince1970) * 86_400 + secondOfDay }

    /// The same day `months` later, or the last of that month if it is shorter.
    func adding(months: Int) -> CalendarDate {
        var result = self
        result.date = date.adding(months: Int64(months))
        return result
    }

    /// "01 Sep 2020", as descriptions of lines have it.
    var words: String {
        let names = [
            "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
        ]
        return (day < 10 ? "0" : "") + "\(day) \(names[month - 1]) \(year)"
    }
}
