/// SplitMix64: the same seed gives the same ids, run after run.
struct SeededRandom: RandomNumberGenerator, Hashable, Codable, Sendable {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }

    /// Letters and digits, as Stripe's ids have them.
    mutating func token(_ length: Int) -> String {
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789".utf8)
        let bytes = (0..<length).map { _ in alphabet[Int(next() % UInt64(alphabet.count))] }
        return String(decoding: bytes, as: UTF8.self)
    }
}
