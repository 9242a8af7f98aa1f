/// The time zone of Google's reports.
struct PacificTime {
    let date: CivilDate
    private let clock: Int64
    private let isSummer: Bool

    init(_ instant: Int64) {
        isSummer = Self.isSummer(instant)
        let local = instant - (isSummer ? 7 : 8) * Timestamp.hour
        date = CivilDate(containing: local)
        clock = local - date.start
    }

    /// The first instant of the day in which `instant` lies.
    static func dayStart(_ instant: Int64) -> Int64 {
        // Clocks change at two o'clock, so midnight may have another offset than the instant.
        let midnight = PacificTime(instant).date.start
        let summer = midnight + 7 * Timestamp.hour
        return isSummer(summer) ? summer : midnight + 8 * Timestamp.hour
    }

    /// `2026-09-10`.
    var dashed: String {
        "\(date.year)-\(Timestamp.padded(date.month))-\(Timestamp.padded(date.day))"
    }

    /// `Sep 10, 2026`.
    var words: String {
        let months = [
            "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
        ]
        return "\(months[Int(date.month) - 1]) \(date.day), \(date.year)"
    }

    /// `1:00:00 AM PDT`.
    var clockWords: String {
        let hour = clock / Timestamp.hour
        let minutes = Timestamp.padded(clock / Timestamp.minute % 60)
        let seconds = Timestamp.padded(clock / Timestamp.second % 60)
        let half = hour < 12 ? "AM" : "PM"
        return "\((hour + 11) % 12 + 1):\(minutes):\(seconds) \(half) \(isSummer ? "PDT" : "PST")"
    }

    /// From the second Sunday of March to the first of November, at two o'clock.
    private static func isSummer(_ instant: Int64) -> Bool {
        let year = CivilDate(containing: instant - 8 * Timestamp.hour).year
        let begin = sunday(2, month: 3, year: year) + 10 * Timestamp.hour
        let end = sunday(1, month: 11, year: year) + 9 * Timestamp.hour
        return instant >= begin && instant < end
    }

    private static func sunday(_ number: Int64, month: Int64, year: Int64) -> Int64 {
        let first = CivilDate(year: year, month: month, day: 1).start
        // 1970-01-01 was a Thursday.
        let weekday = (first / Timestamp.day + 4) % 7
        return first + ((7 - weekday) % 7 + 7 * (number - 1)) * Timestamp.day
    }
}
