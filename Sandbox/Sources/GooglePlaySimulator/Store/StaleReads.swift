/// Earlier states of purchases, for reads that lag behind hints.
struct StaleReads: Hashable, Sendable, Codable {
    private struct Shown: Hashable, Sendable, Codable {
        /// `nil`: the purchase was not there yet.
        var answer: JSON?
        var left: Int
        /// In UNIX milliseconds.
        var until: Int64
    }

    /// A read lags by no more than this, in milliseconds.
    private static let longest: Int64 = 60_000

    private var shown: [String: Shown] = [:]

    /// A purchase that read `answer` so far changes.
    mutating func change(_ token: String, from answer: JSON?, for reads: Int, at now: Int64) {
        guard reads > 0 else { return }
        if let entry = shown[token], now < entry.until { return }
        shown[token] = Shown(answer: answer, left: reads, until: now + Self.longest)
    }

    /// - Returns: the answer of one read in place of the present state: `.some(nil)` means not found.
    mutating func read(_ token: String, at now: Int64) -> JSON?? {
        guard var entry = shown.removeValue(forKey: token), now < entry.until else { return nil }
        entry.left -= 1
        if entry.left > 0 { shown[token] = entry }
        return .some(entry.answer)
    }
}
