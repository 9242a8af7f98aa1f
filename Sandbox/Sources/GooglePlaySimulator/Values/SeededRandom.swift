/// SplitMix64, and the ids that are drawn from it: the same seed, the same ids.
struct SeededRandom: RandomNumberGenerator, Hashable, Sendable, Codable {
    private var state: UInt64

    init(seed: UInt64) {
        state = seed
    }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = state
        value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
        return value ^ (value >> 31)
    }

    mutating func chance(_ share: Double) -> Bool {
        guard share > 0 else { return false }
        return Double(next() >> 11) / Double(1 << 53) < share
    }

    mutating func text(_ count: Int, of letters: String) -> String {
        let letters = Array(letters)
        return String((0..<count).map { _ in letters[Int(next() % UInt64(letters.count))] })
    }

    mutating func digits(_ count: Int) -> String { text(count, of: "0123456789") }

    /// `GPA.1234-5678-9012-34567`.
    mutating func orderID() -> String {
        "GPA.\(digits(4))-\(digits(4))-\(digits(4))-\(digits(5))"
    }

    mutating func purchaseToken() -> String {
        let letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-"
        return text(24, of: "abcdefghijklmnop") + ".AO-J1O" + text(86, of: letters)
    }
}
