// SPDX-License-Identifier: Apache-2.0
internal import Foundation
package import TollgateCore

/// The hours of each day in which only urgent alarms are told, by the clocks of a time zone.
package struct QuietHours: Sendable {
    /// Minutes of the day.
    private let begin: Int64
    private let end: Int64
    /// Seconds that the zone's clocks are ahead of UTC, by UNIX seconds.
    private let offset: @Sendable (Int64) -> Int64

    private static let day: Int64 = 86_400

    /// - Parameters:
    ///   - begin: `22:00`.
    ///   - end: `07:00`; before `begin` it is the next morning.
    ///   - zone: a name of the IANA time zone database: `Europe/Berlin`.
    /// - Returns: `nil` if one of them is wrong, or both times are equal.
    package init?(from begin: String, to end: String, zone: String) {
        guard let begin = Self.minutes(begin), let end = Self.minutes(end), begin != end,
            let zone = Self.zone(zone)
        else { return nil }
        (self.begin, self.end) = (begin, end)
        offset = {
            Int64(zone.secondsFromGMT(for: Date(timeIntervalSince1970: TimeInterval($0))))
        }
    }

    /// True from the begin of quiet hours until just before their end.
    ///
    /// A time that the clocks skip in spring is the moment at which they are put forward; of a time that
    /// comes twice in autumn, the first counts. So quiet hours begin and end once a night.
    package func contains(_ instant: Instant) -> Bool {
        let now = Self.dividedDown(instant.milliseconds, by: 1000)
        let today = Self.dividedDown(now + offset(now), by: Self.day)
        // The night that began yesterday may last; clocks that go back may lead to another day.
        return (today - 1...today + 1).contains { day in
            let start = moment(of: begin, on: day)
            return start <= now && now < moment(of: end, on: begin < end ? day : day + 1)
        }
    }

    /// The first moment at which the zone's clocks show this time, or a later one, on that day.
    ///
    /// - Parameter day: days since 1970 by the zone's clocks.
    private func moment(of minutes: Int64, on day: Int64) -> Int64 {
        let shown = day * Self.day + minutes * 60
        // No zone is further from UTC than a day.
        let offsets = [offset(shown - Self.day), offset(shown + Self.day)]
        let first = shown - (offsets.max() ?? 0)
        let last = shown - (offsets.min() ?? 0)
        if first + offset(first) >= shown { return first }
        // The clocks are put forward in between, or were put back before: finds the change.
        var (before, after) = (first, last)
        while after - before > 1 {
            let middle = before + (after - before) / 2
            if middle + offset(middle) >= shown { after = middle } else { before = middle }
        }
        return after
    }

    /// `07:30` in minutes.
    private static func minutes(_ text: String) -> Int64? {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 2, parts.allSatisfy({ $0.utf8.count == 2 }),
            parts.allSatisfy({ $0.utf8.allSatisfy { (0x30...0x39).contains($0) } }),
            let hour = Int64(parts[0]), let minute = Int64(parts[1]), hour < 24, minute < 60
        else { return nil }
        return hour * 60 + minute
    }

    private static func zone(_ name: String) -> TimeZone? {
        // The list of known identifiers lacks Asia/Kolkata, Etc/UTC and others.
        name == "UTC" || name.contains("/") ? TimeZone(identifier: name) : nil
    }

    private static func dividedDown(_ value: Int64, by divisor: Int64) -> Int64 {
        let quotient = value / divisor
        return value % divisor < 0 ? quotient - 1 : quotient
    }
}

// MARK: - Settings

extension QuietHours {
    private static let prefix = "ALERTS_QUIET_"
    private static let parts = [
        ("FROM", "from"), ("TO", "to"), ("TIME_ZONE", "time_zone"),
    ]

    /// Reads `ALERTS_QUIET_…`.
    ///
    /// - Parameters:
    ///   - text: the text of a setting by its name; `nil`: it is not set.
    ///   - mistakes: what is wrong is added to these.
    /// - Returns: `nil` if none is set, or one is wrong.
    package static func read(
        _ text: (String) -> String?,
        _ mistakes: inout [SettingMistake]
    ) -> QuietHours? {
        func given(_ part: String) -> String? { text(prefix + part) }
        guard let first = parts.first(where: { given($0.0) != nil }) else { return nil }
        let count = mistakes.count
        for (part, key) in parts where given(part) == nil {
            mistakes.append(
                SettingMistake(
                    prefix + first.0,
                    "quiet hours need ‘\(key)’, like {from: \"22:00\", to: \"07:00\", time_zone: Europe/Berlin}",
                    isOfSeveral: true
                )
            )
        }
        for part in ["FROM", "TO"] {
            guard let text = given(part), minutes(text) == nil else { continue }
            mistakes.append(
                SettingMistake(
                    prefix + part,
                    "this is no time of day; write hours and minutes of 24 hours, like \"22:00\""
                )
            )
        }
        if let name = given("TIME_ZONE"), zone(name) == nil {
            let guess = NearMiss.of(name, among: TimeZone.knownTimeZoneIdentifiers)
            let advice = guess.map { "did you mean ‘\($0)’?" } ?? "write it like Europe/Berlin"
            mistakes.append(
                SettingMistake(prefix + "TIME_ZONE", "there is no such time zone; \(advice)")
            )
        }
        guard mistakes.count == count, let begin = given("FROM"), let end = given("TO"),
            let name = given("TIME_ZONE")
        else { return nil }
        guard let hours = QuietHours(from: begin, to: end, zone: name) else {
            mistakes.append(
                SettingMistake(
                    prefix + "TO",
                    "quiet hours that end when they begin have no length; change one of the times"
                )
            )
            return nil
        }
        return hours
    }
}
