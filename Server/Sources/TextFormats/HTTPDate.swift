/// Instants in headers of HTTP, in the one form that servers send (RFC 9110, 5.6.7):
/// `Sun, 06 Nov 1994 08:49:37 GMT`.
package enum HTTPDate {
    private static let months: [Substring] = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]
    /// From the day of 1970-01-01 on.
    private static let weekdays = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]

    /// UNIX seconds; `nil` if the text is in another form or names no instant.
    package static func seconds(of text: String) -> Int64? {
        let parts = text.split { " ,:".contains($0) }
        guard parts.count == 8, let month = months.firstIndex(of: parts[2]),
            let number = Int64(parts[1]), let year = Int64(parts[3]),
            let day = CalendarDay(year: year, month: Int64(month) + 1, day: number),
            let hour = Int64(parts[4]), let minute = Int64(parts[5]), let second = Int64(parts[6]),
            (0..<24).contains(hour), (0..<60).contains(minute), (0..<60).contains(second)
        else { return nil }
        let seconds = ((day.daysSince1970 * 24 + hour) * 60 + minute) * 60 + second
        // Only what is written like this counts, with the right day of the week.
        return self.text(of: seconds) == text ? seconds : nil
    }

    /// - Parameter seconds: UNIX seconds.
    package static func text(of seconds: Int64) -> String {
        let days = (seconds - (seconds < 0 ? 86_399 : 0)) / 86_400
        let rest = seconds - days * 86_400
        let day = CalendarDay(daysSince1970: days)
        let weekday = weekdays[Int((days % 7 + 7) % 7)]
        let month = months[Int(day.month) - 1]
        let clock = [rest / 3600, rest / 60 % 60, rest % 60].map { $0.padded(to: 2) }
        return "\(weekday), \(day.day.padded(to: 2)) \(month) \(day.year.padded(to: 4)) "
            + "\(clock.joined(separator: ":")) GMT"
    }
}
