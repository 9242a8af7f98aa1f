internal import Foundation
internal import Logging
internal import Storage
internal import Stores
internal import Synchronization
internal import TollgateAPI
internal import TollgateCore

/// Sends events to the endpoints, in order for each customer.
public struct WebhookDeliveries: Sendable {
    let records: RecordStore
    let clocks: Clocks
    let random: RandomSource
    let leases: Leases
    let endpoints: WebhookEndpoints
    /// `nil` where nothing is sent.
    let transport: WebhookTransport?
    let counters: Counters
    let logger: Logger
    /// How often old deliveries are forgotten.
    let pace: WorkPace

    /// How much may wait for one endpoint outside of the feed.
    private static let maximalWaiting: Int64 = 10_000
    /// How many events are under way to one endpoint at a time, each of another customer.
    private static let width: Int64 = 16

    /// Sends what waits to every endpoint that is there, each in its own time.
    ///
    /// Call it again and again, on any number of servers: one at a time sends to an endpoint, and if
    /// it dies another goes on where it was. What was under way then is sent again with the same id.
    public func deliver() async {
        await withDiscardingTaskGroup { group in
            _ = await startDeliveries(UnderWay()) { work in group.addTask { await work() } }
        }
    }

    /// Does the same again and again until it is cancelled; an endpoint that takes its time holds up
    /// none of the others.
    ///
    /// - Parameter pause: between two looks; longer while nothing is due and nothing is committed.
    public func keepDelivering(every pause: Duration) async {
        let underWay = UnderWay()
        let commits = records.driver.commits
        await withDiscardingTaskGroup { group in
            while !Task.isCancelled {
                let seen = commits.count
                let idleTime = await startDeliveries(underWay) { work in
                    group.addTask { await work() }
                }
                await commits.rest(since: seen, from: pause, to: idleTime)
            }
        }
    }

    /// Endpoints to which this server is sending.
    private final class UnderWay: Sendable {
        private let endpoints = Mutex<Set<String>>([])

        func begin(_ id: String) -> Bool { endpoints.withLock { $0.insert(id).inserted } }
        func end(_ id: String) { endpoints.withLock { _ = $0.remove(id) } }
    }

    /// - Returns: for how long there is nothing to send unless something is committed.
    private func startDeliveries(
        _ underWay: UnderWay,
        _ start: (@escaping @Sendable () async -> Void) -> Void
    ) async -> Duration {
        guard transport != nil else { return Clocks.longestIdleTime }
        do {
            let endpoints = try await records.webhooks.endpointsWithWork(at: clocks.wall())
            for endpoint in endpoints where underWay.begin(endpoint.id) {
                start {
                    await self.deliver(to: endpoint)
                    underWay.end(endpoint.id)
                }
            }
            if !endpoints.isEmpty, pace.isDue(clocks.wall(), every: 3_600_000) {
                let old = clocks.wall().advanced(by: -7 * 86_400_000)
                try await records.webhooks.forgetDeliveries(before: old)
            }
            guard endpoints.isEmpty else { return .zero }
            let next = try await records.webhooks.nextWork()
            return Clocks.idleTime(until: next, at: clocks.wall())
        } catch {
            logger.warning("webhooks will be sent later", metadata: ["error": "\(error)"])
            return .zero
        }
    }

    private func deliver(to endpoint: WebhookEndpointRow) async {
        do {
            guard try await hasWork(endpoint) else { return }
            _ = try await leases.holding("webhooks/\(endpoint.id)", seconds: 20) { prolong in
                try await run(endpoint.id, prolong)
            }
        } catch {
            logger.warning(
                "webhooks will be sent later",
                metadata: ["endpoint": "\(endpoint.id)", "error": "\(error)"]
            )
        }
    }

    /// Whether there is anything that may be sent or taken in now: what waits behind an event that
    /// is not due is not.
    private func hasWork(_ endpoint: WebhookEndpointRow) async throws -> Bool {
        let newest = try await records.feed.newestMessage()
        if endpoint.position < newest,
            try await records.webhooks.waitingDeliveries(of: endpoint.id) < Self.maximalWaiting
        {
            return true
        }
        return try await !records.webhooks.dueDeliveries(
            of: endpoint.id,
            at: clocks.wall(),
            limit: 1
        )
        .isEmpty
    }

    /// The caller holds the endpoint's lease.
    private func run(_ id: String, _ prolong: @Sendable () async throws -> Void) async throws {
        while !Task.isCancelled {
            guard let endpoint = try await records.webhooks.endpoint(id), endpoint.disabled == nil,
                endpoint.pausedUntil <= clocks.wall()
            else { return }
            let isTaken = try await takeIn(for: endpoint)
            // Where everything fails, one event is enough to find out when that is over.
            let width = endpoint.failures >= 3 ? 1 : Self.width
            let due = try await records.webhooks.dueDeliveries(
                of: id,
                at: clocks.wall(),
                limit: width
            )
            if due.isEmpty, !isTaken { return }
            if !due.isEmpty { try await send(due, to: endpoint) }
            try await prolong()
        }
    }

    /// Returns whether there was something to take in.
    private func takeIn(for endpoint: WebhookEndpointRow) async throws -> Bool {
        guard try await records.feed.newestMessage() > endpoint.position,
            try await records.webhooks.waitingDeliveries(of: endpoint.id) < Self.maximalWaiting
        else { return false }
        let messages = try await records.feed.messages(after: endpoint.position, limit: 200)
        guard let last = messages.last else { return false }
        let settings = try WebhookSettings(endpoint)
        try await records.webhooks.queue(
            messages.filter { settings.wants($0) },
            for: endpoint.id,
            from: endpoint.position,
            to: last.number,
            now: clocks.wall()
        )
        return true
    }

    private func send(_ due: [DeliveryRow], to endpoint: WebhookEndpointRow) async throws {
        let messages = try await records.feed.messages(at: due.map(\.number))
        let bodies = Dictionary(
            messages.map { ($0.number, $0) },
            uniquingKeysWith: { first, _ in first }
        )
        let secrets = try endpoints.opened(endpoint)
        let address = try? WebhookAddress(
            try WebhookSettings(endpoint).url,
            allowsPrivate: endpoints.allowsPrivate
        )
        let outcomes = await withTaskGroup(of: (DeliveryRow, Outcome).self) { group in
            for row in due {
                let message = bodies[row.number]
                group.addTask {
                    (row, await self.send(message, to: address, signedBy: secrets))
                }
            }
            var outcomes: [(DeliveryRow, Outcome)] = []
            for await outcome in group { outcomes.append(outcome) }
            return outcomes.sorted { $0.0.number < $1.0.number }
        }
        let now = clocks.wall()
        var after = endpoint
        var results: [DeliveryResult] = []
        // What was broken off because the server ends is no failure of the endpoint's.
        for (row, outcome) in outcomes where outcome.isTaken || !Task.isCancelled {
            let result = result(outcome, of: row, at: now)
            results.append(result)
            counters.count(
                "tollgate_webhook_sendings_total",
                "outcome=\"\(outcome.isTaken ? "delivered" : "failed")\""
            )
            if result.status == .dead { counters.count("tollgate_webhook_dead_total") }
            if outcome.isTaken {
                after.failures = 0
                after.failingSince = nil
            } else {
                after.failures += 1
                after.failingSince = after.failingSince ?? now
            }
            if outcome.isGone { after.disabled = "the endpoint answered 410 Gone" }
        }
        if let since = after.failingSince,
            now.milliseconds - since.milliseconds >= WebhookRetries.patience * 1_000
        {
            after.disabled = after.disabled ?? "nothing was taken for five days"
        }
        after.pausedUntil = now.advanced(by: WebhookRetries.pause(after: after.failures))
        if let reason = after.disabled {
            logger.error(
                "a webhook endpoint was disabled",
                metadata: ["endpoint": "\(endpoint.id)", "reason": "\(reason)"]
            )
        }
        try await records.webhooks.settle(results, of: after, now: now)
    }

    /// What came of sending once.
    private enum Outcome {
        case taken
        case refused(status: Int, retryAfter: Int64?)
        case unanswered(String)

        var isTaken: Bool { if case .taken = self { true } else { false } }
        var isGone: Bool { if case .refused(410, _) = self { true } else { false } }
    }

    private func send(
        _ message: FeedMessage?,
        to address: WebhookAddress?,
        signedBy secrets: WebhookSecrets
    ) async -> Outcome {
        guard let transport, let message, let address else {
            return .unanswered("the URL is not one that anything is sent to any more")
        }
        let event = API.Event(message, in: records.history.current)
        guard let body = try? APIJSON.encode(event) else {
            return .unanswered("the event cannot be written")
        }
        let now = clocks.wall().milliseconds
        let timestamp = now / 1_000
        let signature = secrets.signature(
            id: event.id,
            timestamp: timestamp,
            body: Array(body),
            now: now
        )
        do {
            let response = try await transport(
                WebhookRequest(
                    address: address,
                    headers: [
                        ("content-type", "application/json"), ("user-agent", "Tollgate"),
                        ("webhook-id", event.id), ("webhook-timestamp", "\(timestamp)"),
                        ("webhook-signature", signature),
                    ],
                    body: Array(body),
                    allowsPrivate: endpoints.allowsPrivate
                )
            )
            if (200..<300).contains(response.status) { return .taken }
            // Seconds only: a date would be by a clock that we do not know.
            let asked = response.retryAfter.flatMap { $0.utf8.count <= 6 ? Int64($0) : nil }
            return .refused(status: response.status, retryAfter: asked)
        } catch let refused as WebhookRefused {
            return .unanswered(refused.reason)
        } catch {
            return .unanswered("no answer")
        }
    }

    private func result(
        _ outcome: Outcome,
        of row: DeliveryRow,
        at now: Instant
    ) -> DeliveryResult {
        var result = DeliveryResult(
            number: row.number,
            attempts: row.attempts,
            status: .waiting,
            due: now,
            outcome: "200"
        )
        var asked: Int64?
        switch outcome {
        case .taken:
            result.status = .delivered
            result.outcome = "delivered"
            return result
        case .refused(let status, let retryAfter):
            result.outcome =
                (300..<400).contains(status)
                ? "answered \(status); redirects are not followed" : "answered \(status)"
            asked = retryAfter
        case .unanswered(let why):
            result.outcome = why
        }
        let chance = random.bytes(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        if let delay = WebhookRetries.delay(after: row.attempts + 1, chance: chance, asked: asked) {
            result.due = now.advanced(by: delay)
        } else {
            result.status = .dead
        }
        return result
    }
}
