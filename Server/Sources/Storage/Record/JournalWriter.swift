internal import Synchronization
package import TollgateCore

/// The only way into the journal.
package protocol JournalWriter: Sendable {
    /// The catalog over time.
    var history: CatalogHistory { get }
    /// How many items wait for the next commit.
    var waiting: Int { get }
    /// Journals `item` with all that follows from it.
    ///
    /// Durable when this returns.
    func submit(_ item: JournalItem) async throws -> JournalOutcome
}

/// Writes the journal of one database, with what is derived from it, in batches that share a commit.
final class GroupedWriter: JournalWriter {
    private let commits: GroupCommit
    private let catalogs: CatalogShelf

    init(_ driver: any StorageDriver) async throws {
        let catalogs = CatalogShelf(try await driver.read { try CatalogHistory(reading: $0) })
        self.catalogs = catalogs
        let segments = KnownSegments()
        commits = GroupCommit(limit: 256) { items, completion in
            Self.commit(items, to: driver, catalogs, segments, completion: completion)
        }
    }

    var history: CatalogHistory { catalogs.history }
    var waiting: Int { commits.waitingCount }

    func submit(_ item: JournalItem) async throws -> JournalOutcome {
        try await commits.submit(item)
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
        self.init(try rows.map { try RecordDecoder.decode(Version.self, from: $0.bytes(0)) })
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
