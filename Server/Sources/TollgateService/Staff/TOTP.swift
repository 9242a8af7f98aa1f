internal import Crypto
internal import Foundation
internal import TollgateCore

/// Codes of a second factor by time (RFC 6238): six digits, a new one every 30 seconds.
///
/// HMAC-SHA-1, since that is what authenticator apps take; nothing here rests on collisions.
struct TOTP: Sendable {
    /// 20 unguessable bytes (RFC 4226 §4).
    let secret: [UInt8]

    static let secretLength = 20
    private static let period: Int64 = 30_000

    /// The code of a counter (RFC 4226 §5.3).
    ///
    /// - Parameter digits: 6, or 8 as in the RFC's examples.
    func code(_ counter: Int64, digits: Int = 6) -> String {
        let message = withUnsafeBytes(of: counter.bigEndian) { Data($0) }
        let code = Array(
            HMAC<Insecure.SHA1>.authenticationCode(for: message, using: SymmetricKey(data: secret))
        )
        let offset = Int(code[19] & 0x0F)
        let truncated = code[offset..<(offset + 4)].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        let modulus = (0..<digits).reduce(UInt32(1)) { value, _ in value * 10 }
        let text = String((truncated & 0x7FFF_FFFF) % modulus)
        return String(repeating: "0", count: digits - text.count) + text
    }

    /// The counter at an instant of real time.
    static func step(at now: Instant) -> Int64 { now.milliseconds / period }

    /// The step whose code this is: the present one, or the one before or after it, for clocks that
    /// differ by up to half a minute.
    ///
    /// - Parameter last: the step of the newest code that was taken; it and older ones are refused.
    func step(of code: String, at now: Instant, after last: Int64) -> Int64? {
        let present = Self.step(at: now)
        var found: Int64?
        for step in (present - 1)...(present + 1) where step > last {
            if Self.areEqual(self.code(step), code) { found = step }
        }
        return found
    }

    private static func areEqual(_ left: String, _ right: String) -> Bool {
        guard left.utf8.count == right.utf8.count else { return false }
        return zip(left.utf8, right.utf8).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
    }

    /// The secret as people type it (RFC 4648 §6, without padding).
    var base32: String { Self.base32(secret) }

    static func base32(_ bytes: [UInt8]) -> String {
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567")
        var text = ""
        var (buffer, bits) = (0, 0)
        for byte in bytes {
            buffer = (buffer << 8 | Int(byte)) & 0xFFFF
            bits += 8
            while bits >= 5 {
                bits -= 5
                text.append(alphabet[buffer >> bits & 31])
            }
        }
        if bits > 0 { text.append(alphabet[buffer << (5 - bits) & 31]) }
        return text
    }
}
