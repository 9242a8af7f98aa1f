/// Instants in UNIX milliseconds, as Google writes them: `2026-04-22T18:39:58.270Z`.
enum Timestamp {
    static let second: Int64 = 1000
    static let minute: Int64 = 60 * second
    static let hour: Int64 = 60 * minute
    static let day: Int64 = 24 * hour

    static func text(_ instant: Int64) -> String {
        let date = CivilDate(containing: instant)
        let time = instant - date.start
        return "\(padded(date.year, 4))-\(padded(date.month))-\(padded(date.day))T"
            + "\(padded(time / hour)):\(padded(time / minute % 60)):\(padded(time / second % 60))"
            + ".\(padded(time % second, 3))Z"
    }

    /// - Returns: `nil` where the text is no instant in UTC or with an offset.
    static func parse(_ text: String) -> Int64? {
        let parts = text.uppercased().split(separator: "T")
        guard parts.count == 2, let date = CivilDate(String(parts[0])) else { return nil }
        var clock = parts[1]
        var offset: Int64 = 0
        if clock.hasSuffix("Z") {
            clock.removeLast()
        } else if let sign = clock.lastIndex(where: { $0 == "+" || $0 == "-" }) {
            let zone = clock[clock.index(after: sign)...].split(separator: ":").compactMap {
                Int64($0)
            }
            guard zone.count == 2 else { return nil }
            offset = (zone[0] * hour + zone[1] * minute) * (clock[sign] == "-" ? -1 : 1)
            clock = clock[..<sign]
        }
        let numbers = clock.split(separator: ":")
        guard numbers.count == 3, let hours = Int64(numbers[0]), let minutes = Int64(numbers[1]),
            let seconds = Double(numbers[2]), (0..<24).contains(hours),
            (0..<60).contains(minutes), (0..<61).contains(seconds)
        else { return nil }
        return date.start + hours * hour + minutes * minute + Int64(seconds * 1000) - offset
    }

    static func padded(_ number: Int64, _ width: Int = 2) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }
}

/// A day of the proleptic Gregorian calendar in UTC.
struct CivilDate: Hashable, Sendable {
    var year: Int64
    var month: Int64
    var day: Int64

    init(year: Int64, month: Int64, day: Int64) {
        (self.year, self.month, self.day) = (year, month, day)
    }

    init(containing instant: Int64) {
        let rest = instant % Timestamp.day
        let days = (instant - rest) / Timestamp.day - (rest < 0 ? 1 : 0) + 719_468
        let era = (days >= 0 ? days : days - 146_096) / 146_097
        let dayOfEra = days - era * 146_097
        let yearOfEra =
            (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shifted = (5 * dayOfYear + 2) / 153
        day = dayOfYear - (153 * shifted + 2) / 5 + 1
        month = shifted < 10 ? shifted + 3 : shifted - 9
        year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    }

    /// `2026-04-22`.
    init?(_ text: String) {
        let numbers = text.split(separator: "-").compactMap { Int64($0) }
        guard numbers.count == 3, (1...9999).contains(numbers[0]), (1...12).contains(numbers[1]),
            (1...31).contains(numbers[2])
        else { return nil }
        self.init(year: numbers[0], month: numbers[1], day: numbers[2])
    }

    /// Its first millisecond.
    var start: Int64 {
        let shiftedYear = month <= 2 ? year - 1 : year
        let era = (shiftedYear >= 0 ? shiftedYear : shiftedYear - 399) / 400
        let yearOfEra = shiftedYear - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        return (era * 146_097 + dayOfEra - 719_468) * Timestamp.day
    }

    /// `202604`, as in the names of reports.
    var monthName: String { "\(Timestamp.padded(year, 4))\(Timestamp.padded(month))" }

    private var lastOfMonth: Int64 {
        switch month {
        case 4, 6, 9, 11: 30
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        default: 31
        }
    }

    /// `instant` moved by whole months; a day that the month does not have becomes its last one.
    static func adding(months: Int, to instant: Int64) -> Int64 {
        let from = CivilDate(containing: instant)
        let total = from.year * 12 + from.month - 1 + Int64(months)
        let year = total >= 0 ? total / 12 : (total - 11) / 12
        var to = CivilDate(year: year, month: total - year * 12 + 1, day: 1)
        to.day = min(from.day, to.lastOfMonth)
        return to.start + (instant - from.start)
    }
}
