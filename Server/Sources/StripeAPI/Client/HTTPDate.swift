/// The instant in an HTTP header `Date`, in the one form that servers send (RFC 9110, 5.6.7):
/// `Sun, 06 Nov 1994 08:49:37 GMT`.
enum HTTPDate {
    /// UNIX seconds, or nil if the text is in another form or names no day.
    static func seconds(of text: String) -> Int64? {
        let parts = text.split(separator: " ")
        guard parts.count == 6, parts[0].count == 4, parts[0].last == ",", parts[5] == "GMT",
            let day = number(parts[1], digits: 2), let month = months.firstIndex(of: parts[2]),
            let year = number(parts[3], digits: 4)
        else { return nil }
        let clock = parts[4].split(separator: ":", omittingEmptySubsequences: false)
        guard clock.count == 3, let hour = number(clock[0], digits: 2), hour < 24,
            let minute = number(clock[1], digits: 2), minute < 60,
            let second = number(clock[2], digits: 2), second <= 60,
            day >= 1, day <= lastDay(ofMonth: month, year: year)
        else { return nil }
        let days = (0..<month).reduce(Int64(0)) { $0 + lastDay(ofMonth: $1, year: year) }
        let before = year - 1
        let leapDays = before / 4 - before / 100 + before / 400
        // 719_162 days lie between 0001-01-01 and 1970-01-01.
        let date = before * 365 + leapDays - 719_162 + days + day - 1
        return date * 86_400 + hour * 3600 + minute * 60 + second
    }

    private static let months: [Substring] = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    private static func number(_ text: Substring, digits: Int) -> Int64? {
        guard text.utf8.count == digits, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
            return nil
        }
        return Int64(text)
    }

    private static func lastDay(ofMonth month: Int, year: Int64) -> Int64 {
        switch month {
        case 3, 5, 8, 10: 30
        case 1: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        default: 31
        }
    }
}
