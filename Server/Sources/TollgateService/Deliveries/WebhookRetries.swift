/// When what was not taken is sent again: for three days, further and further apart.
///
/// The delays are those that the Standard Webhooks specification proposes.
public enum WebhookRetries {
    /// Seconds after the first, second, … sending that failed.
    static let delays: [Int64] = [5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400]

    /// An endpoint that took nothing for so long is disabled, in seconds.
    static let patience: Int64 = 5 * 86_400

    /// After how many milliseconds to send again; nil: give up.
    ///
    /// - Parameters:
    ///   - attempts: how often it was sent, at least once.
    ///   - chance: any number, so that what failed together does not come back together.
    ///   - asked: what the receiver asked for, in seconds.
    static func delay(after attempts: Int64, chance: UInt64, asked: Int64?) -> Int64? {
        guard attempts >= 1, attempts <= delays.count else { return nil }
        let base = delays[Int(attempts) - 1] * 1_000
        // Up to a tenth later.
        let jittered = base + Int64(chance % UInt64(base / 10 + 1))
        return max(jittered, min(max(asked ?? 0, 0), 86_400) * 1_000)
    }

    /// For how many milliseconds an endpoint is left alone after so many failures in a row.
    static func pause(after failures: Int64) -> Int64 {
        guard failures >= 3 else { return 0 }
        return min(1_000 << min(failures - 3, 9), 300_000)
    }
}
