internal import Stores
internal import Crypto
internal import Foundation
internal import Storage

/// The ids and app account tokens that follow from an `app_user_id`.
public struct CustomerNames: Sendable {
    let records: RecordStore
    let random: RandomSource
    /// The key of the app's backend; empty where none is known.
    let secretKey: String

    /// What our customer ids begin with.
    static let prefix = "cus_tg_"

    /// Whether a text has the form of our customer ids; no `app_user_id` has.
    static func isOurs(_ text: String) -> Bool { text.utf8.starts(with: prefix.utf8) }

    /// The id and the app account token of the customer with this `app_user_id`.
    ///
    /// The same again after a database was restored, or lost: who is made anew gets the names under
    /// which the stores know what they bought. Nobody else can tell them: they follow from a secret.
    func names(of appUserID: String) async throws -> (id: String, appAccountToken: String) {
        let first = random.firstSecret(for: "customer names, 1", secretKey)
        let secret = SymmetricKey(
            data: Data(try await records.secret("customer_names", orElse: first))
        )
        func bytes(_ purpose: String) -> [UInt8] {
            Array(
                HMAC<SHA256>.authenticationCode(
                    for: Data("\(purpose):\(appUserID)".utf8),
                    using: secret
                )
            )
        }
        let alphabet = Array("0123456789abcdefghijklmnopqrstuvwxyz")
        let id = bytes("customer").prefix(16).map { alphabet[Int($0) % alphabet.count] }
        return (Self.prefix + String(id), Self.uuid(bytes("app account token")))
    }

    /// In the form of a random UUID (RFC 9562, version 4).
    private static func uuid(_ bytes: [UInt8]) -> String {
        var bytes = bytes
        bytes[6] = bytes[6] & 0x0F | 0x40
        bytes[8] = bytes[8] & 0x3F | 0x80
        return [0..<4, 4..<6, 6..<8, 8..<10, 10..<16].map { bytes[$0].hex }.joined(separator: "-")
    }
}
