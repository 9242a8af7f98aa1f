internal import GooglePlayAPI
internal import Logging
internal import Stores
internal import Synchronization
internal import TollgateCore

/// Pulls hints from Pub/Sub: for servers without a public address.
final class HintPulling: Sendable {
    private let context: StoreContext
    private let client: GooglePlay.PubSubClient
    private let receive: @Sendable (ReceivedMessage) async throws -> MessageOutcome
    private let state = Mutex(GooglePlay.HintPull())
    private let isFailing = Mutex(false)

    /// - Parameter receive: takes in a message; it is durable when this returns.
    init(
        _ context: StoreContext,
        _ client: GooglePlay.PubSubClient,
        receive: @escaping @Sendable (ReceivedMessage) async throws -> MessageOutcome
    ) {
        (self.context, self.client, self.receive) = (context, client, receive)
    }

    private var now: Int64 { context.clocks.wall().milliseconds }

    /// Pulls until nothing waits, or until there is a reason to rest.
    ///
    /// - Returns: `false` while pulling fails.
    func pull() async -> Bool {
        while !Task.isCancelled {
            let now = now
            switch state.withLock({ $0.step(now: now) }) {
            case .rest: return !isFailing.withLock { $0 }
            case .acknowledge(let ids):
                guard await attempt({ try await client.acknowledge(ids) }) != nil else {
                    return false
                }
                state.withLock { $0.acknowledged(ids, now: self.now) }
            case .pull(let maximum):
                guard let messages = await attempt({ try await client.pull(maximum: maximum) })
                else { return false }
                state.withLock { $0.pulled(messages.count, now: self.now) }
                guard await keep(messages) else { return false }
            }
        }
        return true
    }

    /// Keeps messages together, so that they share commits.
    private func keep(_ messages: [GooglePlay.PulledMessage]) async -> Bool {
        let kept = await withTaskGroup(of: String?.self) { group in
            for message in messages {
                group.addTask { [receive, context] in
                    do {
                        let outcome = try await receive(ReceivedMessage(message.body, .fetched))
                        if outcome.isNew {
                            context.heard.note(.googlePlay, at: context.clocks.wall())
                        }
                        return message.ackID
                    } catch {
                        context.logger.error(
                            "a pulled hint could not be kept; it will be delivered again",
                            metadata: ["store": "google_play", "error": "\(error)"]
                        )
                        return nil
                    }
                }
            }
            var kept: [String] = []
            for await id in group { if let id { kept.append(id) } }
            return kept
        }
        let now = now
        let isAll = kept.count == messages.count
        state.withLock { state in
            for id in kept.sorted() { state.kept(id, now: now) }
            if !isAll { state.couldNotKeep(now: now) }
        }
        return isAll
    }

    private func attempt<Result: Sendable>(
        _ body: () async throws -> Result
    ) async -> Result? {
        do {
            let result = try await body()
            isFailing.withLock { $0 = false }
            return result
        } catch {
            isFailing.withLock { $0 = true }
            let retryAfter = (error as? GooglePlay.APIFault)?.retryAfter
            state.withLock { $0.failed(retryAfter: retryAfter, now: self.now) }
            context.logger.warning(
                "pulling hints will be tried again",
                metadata: ["store": "google_play", "error": "\(error)"]
            )
            return nil
        }
    }
}
