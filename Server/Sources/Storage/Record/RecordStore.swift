internal import Synchronization
public import TollgateCore

/// The journal and what is derived from it, on one database.
public final class RecordStore: Sendable {
    public let driver: any StorageDriver
    private let commits: GroupCommit
    private let catalogs: CatalogShelf
    private let planted: (@Sendable (JournalItem) -> JournalItem?)?

    /// Brings the schema up to date, and what was derived if an earlier engine derived it, and reads
    /// the catalog's versions.
    ///
    /// - Parameter upgrade: what it takes to derive everything again; `nil`: a database that needs it is
    ///   refused.
    /// - Throws: `StorageError`, also when a newer program has already changed the schema.
    public convenience init(
        _ driver: any StorageDriver,
        upgrade: EngineUpgrade.Means? = nil
    ) async throws {
        try await driver.migrate()
        if driver.dialect.rowLock.isEmpty {
            // The only process there is: whoever held a lease before is dead.
            try await driver.write { _ = try $0.execute("DELETE FROM lease") }
        }
        try await EngineUpgrade.require(driver, upgrade)
        try await Self.completeErasures(driver)
        try await self.init(opened: driver)
    }

    /// For commands that only read, beside a running server: the schema must be this program's.
    public convenience init(reading driver: any StorageDriver) async throws {
        try await driver.requireSchema()
        try await EngineUpgrade.requireCurrent(driver)
        try await self.init(opened: driver)
    }

    private init(
        opened driver: any StorageDriver,
        planted: (@Sendable (JournalItem) -> JournalItem?)? = nil
    ) async throws {
        self.planted = planted
        let catalogs = CatalogShelf(try await driver.read { try CatalogHistory(reading: $0) })
        self.driver = driver
        self.catalogs = catalogs
        let segments = KnownSegments()
        commits = GroupCommit(limit: 256) { items, completion in
            Self.commit(items, to: driver, catalogs, segments, completion: completion)
        }
    }

    /// Makes a batch durable.
    ///
    /// What it changes is known here before `completion` is told.
    private static func commit(
        _ items: [JournalItem],
        to driver: any StorageDriver,
        _ catalogs: CatalogShelf,
        _ segments: KnownSegments,
        attempts: Int = 0,
        completion: @escaping @Sendable (Result<[JournalOutcome], any Error>) -> Void
    ) {
        let history = catalogs.history
        let known = segments.ids
        driver.write { connection in
            var batch = Batch(connection, history: history, items: items)
            batch.journal.knownSegments = known
            let outcomes = try batch.run()
            return (
                outcomes: outcomes, history: batch.rows.history,
                written: batch.journal.writtenSegments
            )
        } completion: { result in
            do {
                let done = try result.get()
                catalogs.replace(with: done.history)
                segments.add(done.written)
                completion(.success(done.outcomes))
            } catch let error as StorageError
                where error.kind == .uniqueViolation && attempts < 3
            {
                // Another server may journal the same item at the same moment. Whoever comes second
                // finds it there the next time.
                commit(
                    items,
                    to: driver,
                    catalogs,
                    segments,
                    attempts: attempts + 1,
                    completion: completion
                )
            } catch {
                switch (error as? StorageError)?.kind {
                // What answers next may be another database, restored or failed over.
                case .unavailable, .outcomeUnknown: segments.forget()
                default: break
                }
                completion(.failure(error))
            }
        }
    }

    /// How many items wait for the next commit.
    var waitingCommits: Int { commits.waitingCount }

    /// The catalog over time.
    public var history: CatalogHistory { catalogs.history }

    /// Journals `item` with all that follows from it.
    ///
    /// Durable when this returns.
    ///
    /// - Throws: `StorageError`; nothing is half done.
    public func submit(_ item: JournalItem) async throws -> JournalOutcome {
        #if DEBUG
            if let planted {
                guard let altered = planted(item) else { return .recorded }
                return try await commits.submit(altered)
            }
        #endif
        return try await commits.submit(item)
    }

    #if DEBUG
        /// A record with a bug in it, to prove that the simulation finds bugs; not in release builds.
        ///
        /// - Parameter planted: alters what is to be journalled, or drops it as if it had been.
        package convenience init(
            _ driver: any StorageDriver,
            planted: @escaping @Sendable (JournalItem) -> JournalItem?
        ) async throws {
            try await driver.migrate()
            try await self.init(opened: driver, planted: planted)
        }
    #endif

    /// Makes `catalog` today's, unless it already is.
    public func adopt(_ catalog: Catalog, at instant: Instant) async throws {
        let id = RowKey("catalog", String(decoding: try catalog.canonicalJSON(), as: UTF8.self)).hex
        guard history.versions.last?.id != id else { return }
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

/// The catalog's versions, shared between the writer and every reader.
final class CatalogShelf: Sendable {
    private let stored: Mutex<CatalogHistory>

    init(_ history: CatalogHistory) {
        stored = Mutex(history)
    }

    var history: CatalogHistory {
        stored.withLock { $0 }
    }

    func replace(with history: CatalogHistory) {
        stored.withLock { $0 = history }
    }
}

extension CatalogHistory {
    /// What the database holds.
    init(reading connection: any StorageConnection) throws {
        let rows = try connection.query("SELECT body FROM catalog_version ORDER BY adopted, id")
        self.init(
            try rows.map { try RecordDecoder.decode(Version.self, from: $0.bytes(0)) }
        )
    }

    /// Today's catalog when there were only so many versions.
    func catalog(ofVersions count: Int) -> Catalog {
        versions.prefix(count).last?.catalog ?? Catalog()
    }
}

/// The certificate chains that are in the database, so that none is written again with every item.
///
/// Segments are never deleted, so what was once committed stays true.
private final class KnownSegments: Sendable {
    private let stored = Mutex<Set<[UInt8]>>([])
    /// A store signs with a handful; more than this is somebody's flood, and starts over.
    private static let limit = 4_096

    var ids: Set<[UInt8]> {
        stored.withLock { $0 }
    }

    func forget() {
        stored.withLock { $0 = [] }
    }

    func add(_ ids: [[UInt8]]) {
        stored.withLock { stored in
            if stored.count > Self.limit { stored = [] }
            stored.formUnion(ids)
        }
    }
}
