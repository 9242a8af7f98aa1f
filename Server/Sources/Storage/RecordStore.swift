internal import Foundation
public import TollgateCore
internal import Traces

/// The journal and what is derived from it, on one database.
///
/// Reads of purchases and of the customers who hold them; what else is kept has stores of its own
/// (`staff`, `feed`, …), each of which needs the database alone.
public struct RecordStore: Sendable {
    public let driver: any StorageDriver
    /// The only way into the journal.
    package let writer: any JournalWriter

    /// Opens a database, and makes its schema if it is empty.
    ///
    /// With `upgrade` an older schema is brought up to date, and what an earlier engine derived is derived
    /// again: a server does that when it starts. Without, such a database is refused, since a server of
    /// that version may be using it.
    ///
    /// - Parameter upgrade: what it takes to derive everything again.
    /// - Throws: `StorageError`, also when a newer program has already changed the schema.
    public init(_ driver: any StorageDriver, upgrade: EngineUpgrade.Means? = nil) async throws {
        if upgrade == nil { try await driver.migrateIfEmpty() } else { try await driver.migrate() }
        if driver.dialect.rowLock.isEmpty {
            // The only process there is: whoever held a lease before is dead.
            try await driver.execute("DELETE FROM lease")
        }
        try await EngineUpgrade.require(driver, upgrade)
        try await Self.completeErasures(driver)
        self.init(driver, writer: try await GroupedWriter(driver))
    }

    /// For commands that only read, beside a running server: the schema must be this program's.
    public init(reading driver: any StorageDriver) async throws {
        try await driver.requireSchema()
        try await EngineUpgrade.requireCurrent(driver)
        self.init(driver, writer: try await GroupedWriter(driver))
    }

    /// A record of an open database that journals through `writer`.
    package init(_ driver: any StorageDriver, writer: any JournalWriter) {
        self.driver = driver
        self.writer = writer
    }

    /// The catalog over time.
    public var history: CatalogHistory { writer.history }

    /// Journals `item` with all that follows from it.
    ///
    /// Durable when this returns.
    ///
    /// - Throws: `StorageError`; nothing is half done.
    public func submit(_ item: JournalItem) async throws -> JournalOutcome {
        try await Traces.span("commit") { try await writer.submit(item) }
    }

    /// Journals one statement of our own, as `submit`.
    @discardableResult
    public func journal(_ fact: Fact, dedupeKey: RowKey) async throws -> JournalOutcome {
        try await submit(
            JournalItem(
                dedupeKey: dedupeKey,
                subject: RecordStore.subject(of: fact.purchase),
                kind: .command,
                stated: fact.stated.instant,
                content: .facts([fact])
            )
        )
    }

    /// Makes `catalog` today's, unless it already is.
    ///
    /// - Throws: `CoinsSinceRefused`.
    public func adopt(_ catalog: Catalog, at instant: Instant) async throws {
        let id = RowKey("catalog", String(decoding: try catalog.canonicalJSON(), as: UTF8.self)).hex
        guard history.versions.last?.id != id else { return }
        if let since = catalog.coinsSince, since != history.coinsSince {
            guard since <= instant else { throw CoinsSinceRefused.future }
            guard try await !hasSales() else {
                throw CoinsSinceRefused.fixed(history.coinsSince)
            }
        }
        let version = CatalogHistory.Version(id: id, adopted: instant, catalog: catalog)
        let key = RowKey("adopt", id, "\(instant.milliseconds)")
        _ = try await submit(
            JournalItem(
                dedupeKey: key,
                subject: RowKey("catalog"),
                kind: .command,
                stated: instant,
                content: .adopt(version)
            )
        )
    }
}

extension RecordStore {
    /// Returns `true` if a store has sold anything for real money.
    private func hasSales() async throws -> Bool {
        var last: RowKey?
        while true {
            let page = try await records(after: last, limit: 100)
            guard let next = page.last?.0 else { return false }
            let hasSale = page.contains { _, record in
                record.key.environment == .production && Store.selling.contains(record.key.store)
            }
            if hasSale { return true }
            last = next
        }
    }
}

/// Why a catalog's `coins_since` is not adopted (RULES §6.8).
public enum CoinsSinceRefused: Error, Hashable, CustomStringConvertible {
    /// Another one would take back coins that were credited, and may be spent; what is stated, or `nil`.
    case fixed(Instant?)
    /// It would take the coins of everybody who buys until then.
    case future

    public var description: String {
        switch self {
        case .future:
            return "'coins_since' in the catalog is in the future. Write the instant of the move."
        case .fixed(let kept):
            let value = kept.map { instant in
                let date = Date(timeIntervalSince1970: Double(instant.milliseconds) / 1000)
                return "is \(date.formatted(.iso8601))"
            }
            return
                "'coins_since' in the catalog \(value ?? "is not set") and cannot change, because "
                + "purchases are recorded. Restore that value, or remove the line: the value stays. To "
                + "change it, begin with an empty database and import again."
        }
    }
}

extension RecordStore {
    public var journal: JournalStore { JournalStore(driver: driver) }
    public var sessions: SessionStore { SessionStore(driver: driver) }
    public var replies: ReplyStore { ReplyStore(driver: driver) }
    public var staff: StaffStore { StaffStore(driver: driver) }
    public var audit: AuditStore { AuditStore(driver: driver) }
    public var secretKeys: SecretKeyStore { SecretKeyStore(driver: driver) }
    public var feed: FeedStore { FeedStore(driver: driver, writer: writer) }
    public var webhooks: WebhookStore { WebhookStore(driver: driver) }
    public var letters: LetterStore { LetterStore(driver: driver) }
    public var figures: FigureStore { FigureStore(driver: driver, writer: writer) }
    public var reports: ReportStore { ReportStore(driver: driver) }
    public var questions: QuestionStore { QuestionStore(driver: driver) }
    public var awaited: AwaitedStore { AwaitedStore(driver: driver) }
    public var receipts: ReceiptStore { ReceiptStore(driver: driver) }
    public var parked: ParkedStore { ParkedStore(driver: driver) }
    public var cursors: CursorStore { CursorStore(driver: driver) }
    public var leases: LeaseStore { LeaseStore(driver: driver) }
    package var evidence: EvidenceStore { EvidenceStore(driver: driver) }
}
