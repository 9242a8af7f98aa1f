/// Guesses which of several words somebody meant to write.
package enum NearMiss {
    /// The candidate nearest to `word`, if it is near enough to be meant.
    ///
    /// Case, hyphens and underscores do not count: `autoRenewable` is `auto_renewable`.
    package static func of(_ word: String, among candidates: [String]) -> String? {
        let plain = folded(word)
        let ranked = candidates.map { (distance(plain, folded($0)), $0) }
        guard let best = ranked.min(by: { $0.0 < $1.0 }) else { return nil }
        return best.0 <= max(1, min(3, plain.count / 3)) ? best.1 : nil
    }

    /// What to say after a sentence that refused `word`: the guess, else all there are.
    package static func advice(_ word: String, among candidates: [String]) -> String {
        if let guess = of(word, among: candidates) { return "did you mean ‘\(guess)’?" }
        let all = candidates.map { "‘\($0)’" }.joined(separator: ", ")
        return "possible are \(all)"
    }

    private static func folded(_ word: String) -> [Character] {
        word.prefix(100).lowercased().filter { !"_- ".contains($0) }
    }

    /// Insertions, removals, replacements and swaps of neighbours that make one of the other.
    private static func distance(_ a: [Character], _ b: [Character]) -> Int {
        var beforeLast: [Int] = []
        var last = Array(0...b.count)
        for i in a.indices {
            var row = [i + 1]
            for j in b.indices {
                var best = min(row[j] + 1, last[j + 1] + 1, last[j] + (a[i] == b[j] ? 0 : 1))
                if i > 0, j > 0, a[i] == b[j - 1], a[i - 1] == b[j] {
                    best = min(best, beforeLast[j - 1] + 1)
                }
                row.append(best)
            }
            (beforeLast, last) = (last, row)
        }
        return last[b.count]
    }
}
