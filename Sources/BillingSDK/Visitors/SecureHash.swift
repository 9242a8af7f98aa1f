import Foundation

#if canImport(CryptoKit)
    import CryptoKit
#endif

/// SHA-256 (FIPS 180-4): CryptoKit's where there is one, since Linux has none without a dependency.
enum SecureHash {
    static func of(_ data: Data) -> Data {
        #if canImport(CryptoKit)
            Data(SHA256.hash(data: data))
        #else
            portable(data)
        #endif
    }

    /// The constants are the first 32 bits of the fractional parts of cube and square roots of primes.
    private static let primes: [UInt32] = (2...311).filter { candidate in
        !(2..<candidate).contains { candidate % $0 == 0 }
    }
    private static let rounds = primes.prefix(64).map { fraction(cbrt(Double($0))) }
    private static func fraction(_ root: Double) -> UInt32 {
        UInt32((root - root.rounded(.down)) * 4_294_967_296)
    }

    static func portable(_ data: Data) -> Data {
        var message = [UInt8](data) + [0x80]
        message += [UInt8](repeating: 0, count: (120 - message.count % 64) % 64)
        message += withUnsafeBytes(of: UInt64(data.count * 8).bigEndian) { Array($0) }
        var state = primes.prefix(8).map { fraction(Double($0).squareRoot()) }
        for block in stride(from: 0, to: message.count, by: 64) {
            add(message[block..<block + 64], to: &state)
        }
        return Data(state.flatMap { word in withUnsafeBytes(of: word.bigEndian) { Array($0) } })
    }

    private static func add(_ block: ArraySlice<UInt8>, to state: inout [UInt32]) {
        func right(_ x: UInt32, _ n: UInt32) -> UInt32 { x >> n | x << (32 - n) }
        var words = stride(from: block.startIndex, to: block.endIndex, by: 4).map { index in
            block[index..<index + 4].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        }
        for i in 16..<64 {
            let (x, y) = (words[i - 15], words[i - 2])
            let s0 = right(x, 7) ^ right(x, 18) ^ x >> 3
            let s1 = right(y, 17) ^ right(y, 19) ^ y >> 10
            words.append(words[i - 16] &+ s0 &+ words[i - 7] &+ s1)
        }
        var v = state
        for i in 0..<64 {
            let s1 = right(v[4], 6) ^ right(v[4], 11) ^ right(v[4], 25)
            let choice = (v[4] & v[5]) ^ (~v[4] & v[6])
            let first = v[7] &+ s1 &+ choice &+ rounds[i] &+ words[i]
            let s0 = right(v[0], 2) ^ right(v[0], 13) ^ right(v[0], 22)
            let majority = (v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2])
            v = [first &+ s0 &+ majority, v[0], v[1], v[2], v[3] &+ first, v[4], v[5], v[6]]
        }
        for i in 0..<8 { state[i] = state[i] &+ v[i] }
    }
}
