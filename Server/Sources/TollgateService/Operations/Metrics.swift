internal import Logging
internal import Storage
internal import Stores
internal import TollgateCore

/// The numbers of `/metrics`.
public struct Metrics: Sendable {
    let records: RecordStore
    let clocks: Clocks
    let counters: Counters
    let workAges: WorkAges
    let accessChecks: AccessChecks
    let connectors: [any StoreConnector]
    let logger: Logger

    /// Numbers for `/metrics`: what happened since the start, what is there, and how much waits.
    ///
    /// Without the database what was counted is still told, and that the database does not answer:
    /// this is when somebody looks.
    public func text() async -> String {
        var gauges = ""
        do {
            gauges = try await databaseText()
        } catch {
            logger.warning("metrics without the database", metadata: ["error": "\(error)"])
        }
        let ages = workAges.seconds(at: clocks.wall()).map { name, seconds in
            "tollgate_recurring_age_seconds{work=\"\(name)\"} \(seconds)\n"
        }
        return counters.text
            + (ages.isEmpty ? "" : "# TYPE tollgate_recurring_age_seconds gauge\n" + ages.joined())
            + "# TYPE tollgate_database_up gauge\ntollgate_database_up \(gauges.isEmpty ? 0 : 1)\n"
            + gauges
    }

    private func databaseText() async throws -> String {
        var text = GaugeText(wall: clocks.wall(), now: await clocks.now())
        try await addQueues(to: &text)
        try await addAccess(to: &text)
        try await addStores(to: &text)
        try await addDeliveries(to: &text)
        try await addLetters(to: &text)
        return text.text
    }

    /// How much is kept, and how much waits.
    private func addQueues(to text: inout GaugeText) async throws {
        let parked = try await records.parked.counts()
        text.add(
            "tollgate_parked_messages",
            Store.selling.map { store in
                (
                    "store=\"\(store.rawValue)\"",
                    parked.first { $0.store == store.rawValue }?.count ?? 0
                )
            }
        )
        let lengths = try await records.queueLengths()
        let (wall, now) = (text.wall, text.now)
        text.add(
            "tollgate_parked_oldest_seconds",
            value: seconds(from: lengths.oldestParked, to: wall)
        )
        text.add("tollgate_commit_waiting", value: Int64(lengths.commits))
        text.add("tollgate_journal_newest", value: lengths.journal)
        let figures = try await FigureDerivation.lag(of: records)
        text.add("tollgate_figures_waiting", value: figures)
        text.add("tollgate_feed_newest", value: lengths.published)
        text.add("tollgate_feed_waiting", value: lengths.unpublished)
        text.add("tollgate_feed_lag_seconds", value: seconds(from: lengths.swept, to: now))
        text.add("tollgate_wanted", lengths.wanted.map { ("kind=\"\($0.kind)\"", $0.count) })
        text.add(
            "tollgate_wanted_oldest_seconds",
            try await AskedQuestions(records: records, connectors: connectors)
                .oldest(of: lengths.wanted.map(\.kind))
                .map { ("kind=\"\($0.kind)\"", seconds(from: $0.raised, to: now)) }
        )
        text.add(
            "tollgate_work_age_seconds",
            lengths.cursors.filter { isDone($0.name) }
                .map { ("work=\"\($0.name)\"", seconds(from: $0.updated, to: wall)) }
        )
    }

    /// Returns `false` for recurring work that is not done any more: its app or its store was removed from
    /// the settings, and its place waits for the day on which it comes back.
    private func isDone(_ work: String) -> Bool {
        guard work.hasPrefix("reconcile/") || work.hasPrefix("reports/") else { return true }
        return connectors.contains { $0.recurringWork.contains(work) }
    }

    /// What the check of access found last.
    private func addAccess(to text: inout GaugeText) async throws {
        guard let access = try await accessChecks.summary() else { return }
        let (wall, now) = (text.wall, text.now)
        text.add("tollgate_access_check_age_seconds", value: seconds(from: access.ended, to: wall))
        let kinds = [AccessFinding.Kind.letIn, .lockedOut].map(\.rawValue)
        text.add(
            "tollgate_access_findings",
            kinds.map { ("kind=\"\($0)\"", Int64(access.counts[$0] ?? 0)) }
        )
        text.add(
            "tollgate_access_findings_oldest_seconds",
            kinds.map { ("kind=\"\($0)\"", seconds(from: access.since[$0], to: now)) }
        )
    }

    /// What only some store has.
    private func addStores(to text: inout GaugeText) async throws {
        var ofStores: [StoreGauge] = []
        for connector in connectors { ofStores += try await connector.gauges() }
        for (name, gauges) in Dictionary(grouping: ofStores, by: \.name).sorted(by: {
            $0.key < $1.key
        }) {
            text.add(name, gauges.map { ($0.labels, $0.value) })
        }
    }

    private func addDeliveries(to text: inout GaugeText) async throws {
        let deliveries = try await records.webhooks.deliveryCounts()
        func label(_ endpoint: String) -> String { "endpoint=\"\(endpoint)\"" }
        let wall = text.wall
        text.add("tollgate_webhook_waiting", deliveries.map { (label($0.endpoint), $0.waiting) })
        text.add("tollgate_webhook_dead", deliveries.map { (label($0.endpoint), $0.dead) })
        text.add(
            "tollgate_webhook_oldest_seconds",
            deliveries.map { (label($0.endpoint), seconds(from: $0.oldest, to: wall)) }
        )
    }

    /// The outbox of emails to customers.
    private func addLetters(to text: inout GaugeText) async throws {
        let lastDay = text.wall.advanced(by: -86_400_000)
        let counts = try await records.letters.counts(at: text.now, failedSince: lastDay)
        text.add("tollgate_emails_waiting", value: counts.waiting)
        text.add(
            "tollgate_emails_oldest_seconds",
            value: seconds(from: counts.stuck(at: text.wall), to: text.wall)
        )
        text.add("tollgate_emails_failed", value: counts.failed)
    }

    private func seconds(from instant: Instant?, to now: Instant) -> Int64 {
        instant.map { max(0, (now.milliseconds - $0.milliseconds) / 1_000) } ?? 0
    }
}

/// Gauges as Prometheus reads them, one after the other, of one instant.
private struct GaugeText {
    let wall: Instant
    let now: Instant
    private(set) var text = ""

    init(wall: Instant, now: Instant) {
        (self.wall, self.now) = (wall, now)
    }

    /// Adds a gauge without labels.
    mutating func add(_ name: String, value: Int64) {
        add(name, [("", value)])
    }

    mutating func add(_ name: String, _ values: [(labels: String, value: Int64)]) {
        text += "# TYPE \(name) gauge\n"
        for (labels, value) in values {
            text += labels.isEmpty ? "\(name) \(value)\n" : "\(name){\(labels)} \(value)\n"
        }
    }
}
