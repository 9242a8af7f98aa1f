import TollgateCore

/// A time as scenario files write it.
struct ScenarioTime: Hashable, Sendable {
    /// UNIX.
    var milliseconds: Int64
    /// Whether it is meant to the second or finer.
    var isExact: Bool

    init(milliseconds: Int64, isExact: Bool) {
        (self.milliseconds, self.isExact) = (milliseconds, isExact)
    }

    /// Reads `2026-01-31`, then `18:30`, `:15`, `.250` as far as they are there; in UTC.
    init?(_ text: String) {
        let halves = text.split(whereSeparator: { $0 == " " || $0 == "T" })
        guard (1...2).contains(halves.count) else { return nil }
        let date = halves[0].split(separator: "-", omittingEmptySubsequences: false)
            .map { Int64($0) }
        guard date.count == 3, let year = date[0], let month = date[1], let day = date[2],
            (2015...2150).contains(year),
            let civil = CivilDay(checking: year, month: month, day: day)
        else { return nil }
        milliseconds = civil.daysSince1970 * 86_400_000
        isExact = false
        guard halves.count == 2 else { return }
        var clock = halves[1]
        if clock.hasSuffix("Z") { clock = clock.dropLast() }
        let parts = clock.split(separator: ":", omittingEmptySubsequences: false)
        guard (2...3).contains(parts.count), let hour = Int64(parts[0]),
            let minute = Int64(parts[1]), (0...23).contains(hour), (0...59).contains(minute)
        else { return nil }
        milliseconds += (hour * 60 + minute) * 60_000
        guard parts.count == 3 else { return }
        let seconds = parts[2].split(separator: ".", omittingEmptySubsequences: false)
        guard let second = Int64(seconds[0]), (0...59).contains(second), seconds.count <= 2 else {
            return nil
        }
        milliseconds += second * 1000
        isExact = true
        guard seconds.count == 2 else { return }
        guard seconds[1].count == 3, let fraction = Int64(seconds[1]), fraction >= 0 else {
            return nil
        }
        milliseconds += fraction
    }

    /// Reads `3d`, `1h30m`, `250ms`: so long after `start`.
    init?(span: Substring, after start: Int64) {
        let units: [String: Int64] = [
            "ms": 1, "s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000,
        ]
        milliseconds = start
        isExact = false
        var rest = span
        guard !rest.isEmpty else { return nil }
        while !rest.isEmpty {
            let digits = rest.prefix { $0.isASCII && $0.isNumber }
            rest = rest.dropFirst(digits.count)
            let letters = rest.prefix { $0.isLetter }
            rest = rest.dropFirst(letters.count)
            guard let count = Int64(digits), count <= 100_000_000, let unit = units[String(letters)]
            else { return nil }
            milliseconds += count * unit
            if unit <= 1000 { isExact = true }
        }
    }
}
