extension ScenarioWriter {
    /// A time in UNIX milliseconds as scenario files write it, in UTC, to the millisecond where there are any.
    public static func time(_ milliseconds: Int64) -> String {
        let days =
            (milliseconds - (milliseconds % 86_400_000 + 86_400_000) % 86_400_000)
            / 86_400_000
        let rest = milliseconds - days * 86_400_000
        let shifted = days + 719_468
        let era = shifted / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra =
            (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        let day = dayOfYear - (153 * shiftedMonth + 2) / 5 + 1
        let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        func two(_ value: Int64) -> String { value < 10 ? "0\(value)" : "\(value)" }
        var text = "\(year)-\(two(month))-\(two(day))"
        guard rest > 0 else { return text }
        text += " \(two(rest / 3_600_000)):\(two(rest / 60_000 % 60))"
        guard rest % 60_000 > 0 else { return text }
        text += ":\(two(rest / 1000 % 60))"
        let fraction = rest % 1000
        guard fraction > 0 else { return text }
        return text + "." + (fraction < 100 ? "0" : "") + two(fraction)
    }
}
