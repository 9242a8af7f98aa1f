import Crypto
import Foundation

/// The `Stripe-Signature` header. https://docs.stripe.com/webhooks#verify-manually
struct Signature {
    /// - Parameters:
    ///   - body: the bytes that are sent, unchanged.
    ///   - secrets: each signs; the whole secret is the key, `whsec_` included.
    ///   - timestamp: real time in UNIX seconds, since receivers compare it with theirs.
    static func header(body: String, secrets: [String], timestamp: Int) -> String {
        let signed = Data("\(timestamp).\(body)".utf8)
        let signatures = secrets.map { secret in
            let code = HMAC<SHA256>.authenticationCode(
                for: signed,
                using: SymmetricKey(data: Data(secret.utf8))
            )
            return "v1=" + code.map { hex($0) }.joined()
        }
        return (["t=\(timestamp)"] + signatures).joined(separator: ",")
    }

    /// The same header with every signature in it wrong by one digit.
    static func damaged(_ header: String) -> String {
        header.split(separator: ",").map { part in
            guard part.hasPrefix("v1=") else { return String(part) }
            return part.dropLast() + (part.last == "0" ? "1" : "0")
        }.joined(separator: ",")
    }

    private static func hex(_ byte: UInt8) -> String {
        (byte < 16 ? "0" : "") + String(byte, radix: 16)
    }
}
