internal import Foundation

/// The instant in an HTTP header `Date`, in the one form that servers send (RFC 9110, 5.6.7):
/// `Sun, 06 Nov 1994 08:49:37 GMT`.
enum HTTPDate {
    private static let months: [Substring] = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    /// UNIX seconds, or nil if the text is in another form or names no day.
    static func seconds(of text: String) -> Int64? {
        let parts = text.split { " ,:".contains($0) }
        guard parts.count == 8, let day = Int32(parts[1]),
            let month = months.firstIndex(of: parts[2]),
            let year = Int32(parts[3]), let hour = Int32(parts[4]), let minute = Int32(parts[5]),
            let second = Int32(parts[6]), year >= 1900, year <= 9999
        else { return nil }
        var time = tm()
        (time.tm_year, time.tm_mon, time.tm_mday) = (year - 1900, Int32(month), day)
        (time.tm_hour, time.tm_min, time.tm_sec) = (hour, minute, second)
        let seconds = timegm(&time)
        // The C library takes the 30th of February for a day in March: only what it writes itself
        // counts.
        let written = withUnsafeTemporaryAllocation(of: CChar.self, capacity: 64) { room in
            strftime(room.baseAddress, room.count, "%a, %d %b %Y %H:%M:%S GMT", &time)
            return room.baseAddress.map { String(cString: $0) }
        }
        return written == text ? Int64(seconds) : nil
    }
}
