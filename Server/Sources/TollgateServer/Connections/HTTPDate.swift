internal import TollgateCore

/// The `Date` of an answer (RFC 9110 §5.6.7), written once a second.
struct HTTPDate {
    private var second = Int64.min
    private var text = ""

    mutating func text(at instant: Instant) -> String {
        let (now, _) = instant.milliseconds.quotientAndRemainder(dividingBy: 1000)
        guard now != second else { return text }
        second = now
        text = Self.text(Instant(milliseconds: now * 1000))
        return text
    }

    /// For example "Sun, 06 Nov 1994 08:49:37 GMT".
    private static func text(_ instant: Instant) -> String {
        // 1994-11-06T08:49:37Z
        let iso = instant.description
        let parts = iso.split { $0 == "-" || $0 == "T" || $0 == ":" || $0 == "Z" }
        guard parts.count == 6, let month = Int(parts[1]), months.indices.contains(month - 1)
        else { return iso }
        let days = instant.milliseconds / 86_400_000
        let weekday = weekdays[Int(((days + 4) % 7 + 7) % 7)]
        return
            "\(weekday), \(parts[2]) \(months[month - 1]) \(parts[0]) \(parts[3]):\(parts[4]):\(parts[5]) GMT"
    }

    private static let weekdays = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]
}
