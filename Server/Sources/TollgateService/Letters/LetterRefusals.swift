// SPDX-License-Identifier: Apache-2.0
internal import Crypto
internal import Foundation
internal import Storage
internal import Stores
internal import TollgateCore

/// Addresses that have unsubscribed, and the links that unsubscribe them.
///
/// An address is known by a keyed hash: a link names nobody, works without a sign-in, and the refusal
/// can outlive the customer's erasure.
package struct LetterRefusals: Sendable {
    let records: RecordStore
    let clocks: Clocks
    let random: RandomSource
    /// The key of the app's backend; empty where none is known.
    let secretKey: String
    let publicURL: String

    /// Returns the name of an address here.
    func key(of address: String) async throws -> RowKey {
        try RowKey(bytes: Array(try await hash("address", address.lowercased()).prefix(16)))
    }

    /// Returns the link that unsubscribes an address.
    func link(_ address: RowKey) async throws -> String {
        let signature = try await hash("unsubscribe", address.hex).hex
        return "\(publicURL)/emails/unsubscribe?address=\(address.hex)&signature=\(signature)"
    }

    /// Returns whether the parameters are those of a link that this server has signed.
    package func isValid(address: String?, signature: String?) async throws -> Bool {
        guard let address, let signature, let key = RowKey(hex: address), key.hex == address
        else { return false }
        let right = try await hash("unsubscribe", address).hex
        guard right.utf8.count == signature.utf8.count else { return false }
        // Looks at every byte, so that the time it takes tells nothing.
        return zip(right.utf8, signature.utf8).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
    }

    /// Keeps a refusal.
    ///
    /// - Returns: `false` for parameters of no link of this server.
    package func refuse(address: String?, signature: String?) async throws -> Bool {
        guard try await isValid(address: address, signature: signature),
            let key = address.flatMap({ RowKey(hex: $0) })
        else { return false }
        try await records.letters.refuse(key, at: clocks.wall())
        return true
    }

    private func hash(_ purpose: String, _ text: String) async throws -> [UInt8] {
        let first = random.firstSecret(for: "letter refusals, 1", secretKey)
        let secret = try await records.secret("letter_refusals", orElse: first)
        let code = HMAC<SHA256>.authenticationCode(
            for: Data("\(purpose):\(text)".utf8),
            using: SymmetricKey(data: Data(secret))
        )
        return Array(code)
    }
}
