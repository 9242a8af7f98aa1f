internal import Crypto
internal import Foundation

/// The secrets of a webhook endpoint, and what is signed with them: Standard Webhooks, `v1`.
struct WebhookSecrets: Codable, Hashable, Sendable {
    struct Secret: Codable, Hashable, Sendable {
        var key: [UInt8]
        /// Until when it signs beside the newest, in real milliseconds; nil for the newest.
        var until: Int64?
    }

    /// The newest first.
    private(set) var secrets: [Secret]

    /// - Parameter key: 24 to 64 unguessable bytes.
    init(key: [UInt8]) {
        secrets = [Secret(key: key)]
    }

    /// - Parameter text: as a receiver keeps it; `nil` for anything else.
    init?(_ text: String) {
        guard text.hasPrefix("whsec_"),
            let key = Data(base64Encoded: String(text.dropFirst("whsec_".count))),
            (24...64).contains(key.count)
        else { return nil }
        self.init(key: Array(key))
    }

    /// As the receiver keeps the newest.
    var newest: String {
        "whsec_" + Data(secrets.first?.key ?? []).base64EncodedString()
    }

    /// Signs with `key` from now on, and with those so far for `overlap` milliseconds more.
    mutating func rotate(to key: [UInt8], now: Int64, overlap: Int64) {
        let until = now + overlap
        secrets =
            [Secret(key: key)]
            + secrets.map { Secret(key: $0.key, until: min($0.until ?? until, until)) }
            .filter { ($0.until ?? 0) > now }
    }

    /// The value of `webhook-signature`: one signature for every secret in force.
    func signature(id: String, timestamp: Int64, body: [UInt8], now: Int64) -> String {
        let signed = Data("\(id).\(timestamp).".utf8) + body
        return secrets.filter { ($0.until ?? .max) > now }.map { secret in
            let key = SymmetricKey(data: secret.key)
            let code = HMAC<SHA256>.authenticationCode(for: signed, using: key)
            return "v1," + Data(code).base64EncodedString()
        }.joined(separator: " ")
    }
}
