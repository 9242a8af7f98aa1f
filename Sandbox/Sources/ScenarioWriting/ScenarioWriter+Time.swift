internal import SandboxClock

extension ScenarioWriter {
    /// A time in UNIX milliseconds as scenario files write it, in UTC, to the millisecond where there are any.
    public static func time(_ milliseconds: Int64) -> String {
        let days =
            (milliseconds - (milliseconds % 86_400_000 + 86_400_000) % 86_400_000)
            / 86_400_000
        let rest = milliseconds - days * 86_400_000
        let date = CivilDate(daysSince1970: days)
        func two(_ value: Int64) -> String { value < 10 ? "0\(value)" : "\(value)" }
        var text = "\(date.year)-\(two(date.month))-\(two(date.day))"
        guard rest > 0 else { return text }
        text += " \(two(rest / 3_600_000)):\(two(rest / 60_000 % 60))"
        guard rest % 60_000 > 0 else { return text }
        text += ":\(two(rest / 1000 % 60))"
        let fraction = rest % 1000
        guard fraction > 0 else { return text }
        return text + "." + (fraction < 100 ? "0" : "") + two(fraction)
    }
}
