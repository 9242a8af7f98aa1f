import Foundation
internal import SandboxClock

/// Instants as the legacy receipts spell them.
enum LegacyDate {
    static func rfc3339(_ instant: Int64) -> String {
        let parts = fields(instant, offset: 0)
        return "\(parts.date)T\(parts.time)Z"
    }

    /// `2026-01-01 00:00:00 Etc/GMT`.
    static func gmt(_ instant: Int64) -> String {
        let parts = fields(instant, offset: 0)
        return "\(parts.date) \(parts.time) Etc/GMT"
    }

    /// `2025-12-31 16:00:00 America/Los_Angeles`.
    static func pacific(_ instant: Int64) -> String {
        let zone = TimeZone(identifier: "America/Los_Angeles")
        let date = Date(timeIntervalSince1970: Double(instant) / 1000)
        let offset = zone?.secondsFromGMT(for: date) ?? -8 * 3600
        let parts = fields(instant, offset: Int64(offset))
        return "\(parts.date) \(parts.time) America/Los_Angeles"
    }

    /// The three spellings of one date: `name`, `name_ms` and `name_pst`.
    static func entries(_ name: String, _ instant: Int64?) -> [String: String] {
        guard let instant else { return [:] }
        return [
            name: gmt(instant), "\(name)_ms": String(instant), "\(name)_pst": pacific(instant),
        ]
    }

    private static func fields(_ instant: Int64, offset: Int64) -> (date: String, time: String) {
        let shifted = instant / 1000 + offset
        var days = shifted / 86_400
        var seconds = shifted % 86_400
        if seconds < 0 {
            seconds += 86_400
            days -= 1
        }
        let date = CivilDate(daysSince1970: days)
        func two(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }
        return (
            "\(date.year)-\(two(date.month))-\(two(date.day))",
            "\(two(seconds / 3600)):\(two(seconds / 60 % 60)):\(two(seconds % 60))"
        )
    }
}
