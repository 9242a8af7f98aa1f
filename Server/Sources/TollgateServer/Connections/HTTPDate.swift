internal import Foundation
internal import TollgateCore

/// The `Date` of an answer (RFC 9110 §5.6.7), written once a second.
struct HTTPDate {
    private var second = Int64.min
    private var text = ""

    /// For example "Sun, 06 Nov 1994 08:49:37 GMT".
    mutating func text(at instant: Instant) -> String {
        let now = instant.milliseconds / 1000
        guard now != second else { return text }
        second = now
        var seconds = time_t(now)
        var parts = tm()
        gmtime_r(&seconds, &parts)
        text = withUnsafeTemporaryAllocation(of: CChar.self, capacity: 64) { room in
            strftime(room.baseAddress, room.count, "%a, %d %b %Y %H:%M:%S GMT", &parts)
            return room.baseAddress.map { String(cString: $0) } ?? ""
        }
        return text
    }
}
