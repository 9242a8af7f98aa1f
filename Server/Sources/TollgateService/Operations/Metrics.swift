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
        var text = ""
        func gauge(_ name: String, _ values: [(labels: String, value: Int64)]) {
            text += "# TYPE \(name) gauge\n"
            for (labels, value) in values {
                text += labels.isEmpty ? "\(name) \(value)\n" : "\(name){\(labels)} \(value)\n"
            }
        }
        let parked = try await records.parked.counts()
        gauge(
            "tollgate_parked_messages",
            Store.selling.map { store in
                (
                    "store=\"\(store.rawValue)\"",
                    parked.first { $0.store == store.rawValue }?.count ?? 0
                )
            }
        )
        let lengths = try await records.queueLengths()
        let wall = clocks.wall()
        let now = await clocks.now()
        func seconds(from instant: Instant?, to now: Instant) -> Int64 {
            instant.map { max(0, (now.milliseconds - $0.milliseconds) / 1_000) } ?? 0
        }
        gauge(
            "tollgate_parked_oldest_seconds",
            [("", seconds(from: lengths.oldestParked, to: wall))]
        )
        gauge("tollgate_commit_waiting", [("", Int64(lengths.commits))])
        gauge("tollgate_journal_newest", [("", lengths.journal)])
        let figures = try await FigureDerivation.lag(of: records)
        gauge("tollgate_figures_waiting", [("", figures)])
        gauge("tollgate_feed_newest", [("", lengths.published)])
        gauge("tollgate_feed_waiting", [("", lengths.unpublished)])
        gauge("tollgate_feed_lag_seconds", [("", seconds(from: lengths.swept, to: now))])
        gauge(
            "tollgate_wanted",
            lengths.wanted.map { ("kind=\"\($0.kind)\"", $0.count) }
        )
        gauge(
            "tollgate_wanted_oldest_seconds",
            lengths.wanted.map { ("kind=\"\($0.kind)\"", seconds(from: $0.oldest, to: now)) }
        )
        gauge(
            "tollgate_work_age_seconds",
            lengths.cursors.map { ("work=\"\($0.name)\"", seconds(from: $0.updated, to: wall)) }
        )
        let access = try await accessChecks.summary()
        if let access {
            let age = seconds(from: access.ended, to: wall)
            gauge("tollgate_access_check_age_seconds", [("", age)])
            let kinds = [AccessFinding.Kind.letIn, .lockedOut].map(\.rawValue)
            gauge(
                "tollgate_access_findings",
                kinds.map { ("kind=\"\($0)\"", Int64(access.counts[$0] ?? 0)) }
            )
            gauge(
                "tollgate_access_findings_oldest_seconds",
                kinds.map { ("kind=\"\($0)\"", seconds(from: access.since[$0], to: now)) }
            )
        }
        var ofStores: [StoreGauge] = []
        for connector in connectors { ofStores += try await connector.gauges() }
        for (name, gauges) in Dictionary(grouping: ofStores, by: \.name).sorted(by: {
            $0.key < $1.key
        }) {
            gauge(name, gauges.map { ($0.labels, $0.value) })
        }
        let deliveries = try await records.webhooks.deliveryCounts()
        func label(_ endpoint: String) -> String { "endpoint=\"\(endpoint)\"" }
        gauge("tollgate_webhook_waiting", deliveries.map { (label($0.endpoint), $0.waiting) })
        gauge("tollgate_webhook_dead", deliveries.map { (label($0.endpoint), $0.dead) })
        gauge(
            "tollgate_webhook_oldest_seconds",
            deliveries.map { (label($0.endpoint), seconds(from: $0.oldest, to: wall)) }
        )
        return text
    }
}
