internal import AppStoreAPI
internal import Logging
public import Storage
internal import StripeAPI
internal import TollgateCore

// Genuine messages that could not be used: the store has its 200, people have to look.
extension Tollgate {
    /// Keeps a message aside, says so once, and counts it.
    func park(
        _ reason: String,
        key: RowKey,
        source: String,
        body: [UInt8],
        store name: Store
    ) async throws -> Receipt {
        let isNew = try await store.park(
            ParkedMessage(
                key: key,
                store: name,
                source: source,
                reason: reason,
                body: body,
                received: await clocks.now()
            )
        )
        if isNew {
            logger.error(
                "a genuine message could not be used and is parked; see 'tollgate parked list'",
                metadata: [
                    "store": "\(name.rawValue)", "message": "\(source)", "reason": "\(reason)",
                ]
            )
        }
        count(.parked, name)
        return .parked
    }

    /// Whether the database refused a message for what it is, so that the next attempt would end
    /// the same way.
    static func isOfThisMessage(_ error: any Error) -> Bool {
        guard let error = error as? StorageError else { return !(error is CancellationError) }
        switch error.kind {
        case .constraintViolation, .typeMismatch, .other, .corrupt: return true
        default: return false
        }
    }

    /// What became of trying parked messages again.
    public struct RetriedParked: Hashable, Codable, Sendable {
        /// Used after all.
        public var used = 0
        /// Parked as before.
        public var stillParked = 0

        enum CodingKeys: String, CodingKey {
            case used
            case stillParked = "still_parked"
        }
    }

    /// Tries every parked message again, as after an update of the program or of the catalog.
    public func retryParked(progress: WorkProgress.Report = { _ in }) async throws -> RetriedParked
    {
        var result = RetriedParked()
        var last: ParkedMessage?
        while true {
            let page = try await store.parked(after: last)
            guard !page.isEmpty else { return result }
            for message in page {
                if try await retry(message) == .parked {
                    result.stillParked += 1
                } else {
                    try await store.unpark(message)
                    result.used += 1
                }
                last = message
                progress(
                    WorkProgress(
                        step: "parked messages",
                        done: result.used + result.stillParked
                    )
                )
            }
        }
    }

    /// Tries one parked message again.
    ///
    /// - Returns: whether it could be used.
    /// - Throws: a refusal 404 `resource_missing`.
    public func retryParked(_ key: RowKey) async throws -> Bool {
        guard let message = try await store.parked(key) else {
            throw Refusal.missing("parked message", key.hex)
        }
        guard try await retry(message) != .parked else { return false }
        try await store.unpark(message)
        return true
    }

    private func retry(_ message: ParkedMessage) async throws -> Receipt {
        switch message.store {
        case .appStore:
            do {
                if let payload = try? AppStore.NotificationBody(message.body).signedPayload {
                    return try await receive(
                        signedPayload: payload,
                        in: message.body,
                        kind: .signed
                    )
                }
                return try await take(read: message.body)
            } catch {
                // Another root or app is configured now.
                guard error is AppStore.VerificationError else { throw error }
                return .parked
            }
        case .stripe:
            guard let event = try? Stripe.Event(bytes: message.body) else { return .parked }
            return try await receive(event, body: message.body, kind: .delivered)
        case .tollgate:
            return .parked
        }
    }
}
