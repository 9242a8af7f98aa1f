/// Earlier states of purchases, for reads that lag behind hints.
struct StaleReads: Hashable, Sendable, Codable {
    private struct Shown: Hashable, Sendable, Codable {
        /// `nil`: the purchase was not there yet.
        var answer: JSON?
        var left: Int
    }

    private var shown: [String: Shown] = [:]

    /// A purchase that read `answer` so far changes.
    mutating func change(_ token: String, from answer: JSON?, for reads: Int) {
        guard reads > 0 else { return }
        if shown[token] == nil { shown[token] = Shown(answer: answer, left: reads) }
    }

    /// - Returns: what one read shows instead of the truth: `.some(nil)` means not found.
    mutating func read(_ token: String) -> JSON?? {
        guard var entry = shown[token] else { return nil }
        entry.left -= 1
        shown[token] = entry.left > 0 ? entry : nil
        return .some(entry.answer)
    }
}
