internal import Foundation
public import TollgateCore

/// The journal and what is derived from it, on one database.
public final class RecordStore: Sendable {
    public let driver: any StorageDriver
    private let commits: GroupCommit
    private let catalogs: CatalogShelf

    /// Brings the schema up to date and reads the catalog's versions.
    ///
    /// - Throws: `StorageError`, also when a newer program has already changed the schema.
    public convenience init(_ driver: any StorageDriver) async throws {
        try await driver.migrate()
        try await self.init(opened: driver)
    }

    /// For commands that only read, beside a running server: the schema must be this program's.
    public convenience init(reading driver: any StorageDriver) async throws {
        try await driver.requireSchema()
        try await self.init(opened: driver)
    }

    private init(opened driver: any StorageDriver) async throws {
        let versions = try await driver.read { connection in
            try connection.query("SELECT body FROM catalog_version ORDER BY adopted, id")
                .map { try RecordDecoder.decode(CatalogHistory.Version.self, from: $0.bytes(0)) }
        }
        let catalogs = CatalogShelf(CatalogHistory(versions))
        self.driver = driver
        self.catalogs = catalogs
        commits = GroupCommit(lanes: 1, limit: 256) { items in
            let history = catalogs.history
            let outcomes = try await driver.write { connection in
                var batch = Batch(connection, history: history, items: items)
                return try batch.run()
            }
            for item in items {
                if case .adopt(let version) = item.content { catalogs.adopt(version) }
            }
            return outcomes
        }
    }

    /// The catalog over time.
    public var history: CatalogHistory { catalogs.history }

    /// Journals `item` with all that follows from it. Durable when this returns.
    ///
    /// - Throws: `StorageError`; nothing is half done.
    public func submit(_ item: JournalItem) async throws -> JournalOutcome {
        try await commits.submit(item)
    }

    /// Makes `catalog` today's, unless it already is.
    public func adopt(_ catalog: Catalog, at instant: Instant) async throws {
        let id = RowKey("catalog", String(decoding: try catalog.canonicalJSON(), as: UTF8.self)).hex
        guard history.versions.last?.id != id else { return }
        let version = CatalogHistory.Version(id: id, adopted: instant, catalog: catalog)
        let key = RowKey("adopt", id, "\(instant.milliseconds)")
        _ = try await submit(
            JournalItem(
                dedupeKey: key, subject: RowKey("catalog"), kind: .command, stated: instant,
                content: .adopt(version)))
    }
}

/// The catalog's versions, shared between the writer and every reader.
final class CatalogShelf: @unchecked Sendable {
    // `lock` guards `stored`.
    private let lock = NSLock()
    private var stored: CatalogHistory

    init(_ history: CatalogHistory) {
        stored = history
    }

    var history: CatalogHistory {
        lock.withLock { stored }
    }

    func adopt(_ version: CatalogHistory.Version) {
        lock.withLock {
            guard stored.versions.last?.id != version.id else { return }
            stored.adopt(version)
        }
    }
}
