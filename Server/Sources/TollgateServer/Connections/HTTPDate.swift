internal import TextFormats
internal import TollgateCore

/// The `Date` of an answer, written once a second.
struct HTTPDate {
    private var second = Int64.min
    private var text = ""

    /// For example "Sun, 06 Nov 1994 08:49:37 GMT".
    mutating func text(at instant: Instant) -> String {
        let now = instant.milliseconds / 1000
        guard now != second else { return text }
        second = now
        text = TextFormats.HTTPDate.text(of: now)
        return text
    }
}
