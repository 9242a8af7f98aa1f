internal import Crypto
internal import Logging
internal import Storage
internal import Stores
internal import TollgateAPI
public import TollgateCore

/// An answer as it goes out and as it is kept for a retry.
public struct KeptReply: Hashable, Sendable {
    public var status: Int
    public var body: [UInt8]
    /// Whom it is about: it goes with their erasure.
    public var customer: Customer.ID?
    /// Whether it is the answer to an earlier request under the same key.
    public var isReplay: Bool

    public init(status: Int, body: [UInt8], customer: Customer.ID? = nil, isReplay: Bool = false) {
        self.status = status
        self.body = body
        self.customer = customer
        self.isReplay = isReplay
    }
}

/// Who chose an idempotency key: the same word from two callers is two keys.
public struct ReplyOwner: Hashable, Sendable {
    /// `secret`, or `customer:` and an id.
    let name: String
    /// Whose session it is; `nil`: the app's backend.
    let customer: Customer.ID?

    /// The app's backend.
    public static let backend = ReplyOwner(name: "secret", customer: nil)

    /// A program with a secret key of its own.
    public static func key(_ id: String) -> ReplyOwner {
        ReplyOwner(name: "key:\(id)", customer: nil)
    }

    /// The session of a customer.
    public static func customer(_ id: Customer.ID) -> ReplyOwner {
        ReplyOwner(name: "customer:\(id)", customer: id)
    }
}

/// Answers that are kept, so that a retry gets the first one again.
public struct IdempotentReplies: Sendable {
    let records: ReplyStore
    let clocks: Clocks
    let sealing: SealingKeys
    let logger: Logger

    /// The most replies kept for requests of one customer's sessions, over two days.
    static let most: Int64 = 500

    /// Answers a write once per idempotency key; a retry gets the first answer again.
    ///
    /// Only what was done is kept: a refusal changes nothing, so the same key may be tried again.
    /// Answers may hold secrets, so they are sealed with a key derived from the secret key, the
    /// caller and the idempotency key. Those about a customer go with their erasure.
    ///
    /// - Parameters:
    ///   - path: of the request.
    ///   - body: of the request.
    /// - Throws: refusals 409 `idempotency_mismatch`, 409 `idempotency_key_in_use`, 429
    ///   `rate_limited`.
    public func once(
        _ key: String,
        by owner: ReplyOwner,
        path: String,
        body: [UInt8],
        _ answer: () async throws -> KeptReply
    ) async throws -> KeptReply {
        let row = RowKey("reply", owner.name, key)
        let bodyHash = RowKey(path, SHA256.hash(data: body).map { "\($0)" }.joined(separator: "."))
        let sealing = sealing.derived(for: "reply", owner.name, key)
        let claim = try await records.claim(
            row,
            bodyHash: bodyHash,
            customer: owner.customer,
            limit: Self.most,
            now: clocks.wall()
        )
        switch claim {
        case .first: break
        case .known(let stored): return try replay(stored, of: bodyHash, sealing)
        case .tooMany:
            var refusal = Refusal(
                429,
                .rateLimited,
                "\(Self.most) answers are kept for this customer, the most there may be;"
                    + " try again in an hour."
            )
            refusal.retryAfter = 3600
            throw refusal
        }
        let reply: KeptReply
        do {
            reply = try await answer()
        } catch {
            try? await records.drop(row)
            throw error
        }
        try await records.keep(
            row,
            status: Int64(reply.status),
            reply: try sealing.seal(reply.body, as: "reply"),
            customer: reply.customer ?? owner.customer
        )
        return reply
    }

    private func replay(
        _ stored: StoredReply,
        of bodyHash: RowKey,
        _ sealing: SealingKeys
    ) throws -> KeptReply {
        guard stored.bodyHash == bodyHash else {
            throw Refusal.idempotency(
                .idempotencyMismatch,
                "This Idempotency-Key was used for another request."
            )
        }
        guard let status = stored.status else {
            throw Refusal.idempotency(
                "idempotency_key_in_use",
                "The first request with this Idempotency-Key is still being answered; try again."
            )
        }
        guard let opened = try? sealing.open(stored.reply, as: "reply") else {
            throw Refusal.idempotency(
                "idempotency_key_in_use",
                "This request was carried out, and its answer is sealed with a secret key that this "
                    + "server no longer has. Read what it changed instead of sending it again."
            )
        }
        return KeptReply(status: Int(status), body: opened.bytes, isReplay: true)
    }

    /// Drops kept replies and sessions whose time is over.
    ///
    /// A timer calls this, since a reply must expire even if nobody writes any more.
    ///
    /// - Returns: whether they could be dropped.
    @discardableResult
    public func dropExpired() async -> Bool {
        do {
            try await records.dropExpired(now: clocks.wall())
            return true
        } catch {
            logger.warning(
                "expired replies and sessions will be dropped later",
                metadata: ["error": "\(error)"]
            )
            return false
        }
    }
}
