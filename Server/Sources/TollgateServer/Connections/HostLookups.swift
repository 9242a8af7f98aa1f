internal import TollgateService

/// Finds the addresses of hosts in bounded time, with one question under way for each host.
///
/// The system's resolver blocks a thread for as long as it likes, and nothing calls it off. So who
/// asks does not wait to its end, and who asks for the same host meanwhile waits for the question
/// that is under way: a name that nobody answers for takes up one thread, not all of them.
actor HostLookups {
    private typealias Answer = Result<[IPAddress], any Error>

    private let resolve: OutgoingWebhooks.Resolve
    private let patience: Duration
    /// Who waits, by host: the hosts that are here are being asked for.
    private var waiting: [String: [AsyncStream<Answer>.Continuation]] = [:]

    /// - Parameter patience: how long anybody waits.
    init(waitingFor patience: Duration, _ resolve: @escaping OutgoingWebhooks.Resolve) {
        self.patience = patience
        self.resolve = resolve
    }

    /// - Throws: `WebhookRefused` where it takes too long; what the resolver throws.
    func addresses(of host: String) async throws -> [IPAddress] {
        try await Self.first(of: ask(host), within: patience)
    }

    private func ask(_ host: String) -> AsyncStream<Answer> {
        let (answers, answer) = AsyncStream.makeStream(of: Answer.self)
        let isUnderWay = waiting[host] != nil
        waiting[host, default: []].append(answer)
        if !isUnderWay {
            // By itself: nobody who waits in vain for it may be held up by its end.
            Task {
                let found: Answer
                do {
                    found = .success(try await self.resolve(host))
                } catch {
                    found = .failure(error)
                }
                self.tell(found, of: host)
            }
        }
        return answers
    }

    private func tell(_ found: Answer, of host: String) {
        for asker in waiting.removeValue(forKey: host) ?? [] {
            asker.yield(found)
            asker.finish()
        }
    }

    private static func first(
        of answers: AsyncStream<Answer>,
        within patience: Duration
    ) async throws -> [IPAddress] {
        try await withThrowingTaskGroup(of: Answer?.self) { group in
            group.addTask {
                var iterator = answers.makeAsyncIterator()
                guard let answer = await iterator.next() else { throw CancellationError() }
                return answer
            }
            group.addTask {
                try await Task.sleep(for: patience)
                return nil
            }
            defer { group.cancelAll() }
            guard let first = try await group.next(), let answer = first else {
                throw WebhookRefused(reason: "the host's addresses were not found in time")
            }
            return try answer.get()
        }
    }
}
