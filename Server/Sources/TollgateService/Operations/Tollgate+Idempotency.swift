internal import Crypto
internal import Foundation
internal import Storage
internal import TollgateAPI

/// An answer as it goes out and as it is kept for a retry.
public struct KeptReply: Hashable, Sendable {
    public var status: Int
    public var body: [UInt8]
    /// Whether it is the answer to an earlier request under the same key.
    public var isReplay: Bool

    public init(status: Int, body: [UInt8], isReplay: Bool = false) {
        self.status = status
        self.body = body
        self.isReplay = isReplay
    }
}

extension Tollgate {
    /// Answers a write once per idempotency key; a retry gets the first answer again.
    ///
    /// Only what was done is kept: a refusal changes nothing, so the same key may be tried again.
    /// Answers may hold secrets, so they are sealed with a key that only who knows the idempotency
    /// key can derive.
    ///
    /// - Parameters:
    ///   - caller: whose key it is: the same word from two callers is two keys.
    ///   - path: of the request.
    ///   - body: of the request.
    /// - Throws: refusals 409 `idempotency_mismatch`, 409 `idempotency_key_in_use`.
    public func once(
        _ key: String,
        caller: String,
        path: String,
        body: [UInt8],
        _ answer: () async throws -> KeptReply
    ) async throws -> KeptReply {
        let row = RowKey("reply", caller, key)
        let bodyHash = RowKey(path, SHA256.hash(data: body).map { "\($0)" }.joined(separator: "."))
        let sealing = SymmetricKey(
            data: SHA256.hash(data: Array("tollgate reply \(caller) \(key)".utf8))
        )
        let claim = try await store.claimReply(row, bodyHash: bodyHash, now: clocks.wall())
        if case .known(let stored) = claim {
            guard stored.bodyHash == bodyHash else {
                throw Refusal(
                    409,
                    .idempotencyError,
                    .idempotencyMismatch,
                    "This Idempotency-Key was used for another request."
                )
            }
            guard let status = stored.status else {
                throw Refusal(
                    409,
                    .idempotencyError,
                    "idempotency_key_in_use",
                    "The first request with this Idempotency-Key is still being answered; try again."
                )
            }
            let box = try ChaChaPoly.SealedBox(combined: stored.reply)
            let opened = try ChaChaPoly.open(box, using: sealing)
            return KeptReply(status: Int(status), body: Array(opened), isReplay: true)
        }
        let reply: KeptReply
        do {
            reply = try await answer()
        } catch {
            try? await store.dropReply(row)
            throw error
        }
        let sealed = try ChaChaPoly.seal(Data(reply.body), using: sealing).combined
        try await store.keepReply(row, status: Int64(reply.status), reply: Array(sealed))
        return reply
    }
}
