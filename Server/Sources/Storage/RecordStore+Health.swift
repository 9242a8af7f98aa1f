public import TollgateCore

/// How the queues stand and how far the work behind them has come.
public struct StoreHealth: Sendable {
    /// A piece of long work, or the right to do it.
    public struct Work: Hashable, Sendable {
        public var name: String
        /// By real time.
        public var instant: Instant
    }

    /// Questions that wait to be asked of a store, by kind.
    public var wanted: [(kind: String, count: Int64, oldest: Instant)]
    /// Messages that could not be used, by store.
    public var parked: [(store: String, count: Int64)]
    /// Messages without a place in the feed yet; counting stops at 10,000.
    public var waitingMessages: Int64
    /// The oldest of those, by the stores' clock.
    public var oldestMessage: Instant?
    /// The last place in the feed.
    public var feed: Int64
    /// The last row of the journal, and its sender's clock.
    public var journal: (id: Int64, stated: Instant)?
    /// When work was last taken a step further.
    public var cursors: [Work]
    /// Who does alone what must be done once, and until when.
    public var leases: [Work]
    /// Of the schema.
    public var schemaVersion: Int
    /// Of what derives rows from facts.
    public var engineVersion: Int64
    /// The database's own version.
    public var database: String
}

extension RecordStore {
    /// How things stand now.
    public func health() async throws -> StoreHealth {
        try await driver.read { connection in
            let waiting = try connection.query(BrowsingSQL.waitingMessages).first
            let journal = try connection.query(BrowsingSQL.newestJournal, [.integer(.max)]).first
            let newest = try connection.query(BrowsingSQL.newestMessage, [.integer(.max)]).first
            return StoreHealth(
                wanted: try connection.query(
                    "SELECT kind, count(*), min(created) FROM wanted GROUP BY kind ORDER BY kind"
                ).map {
                    (try $0.text(0), try $0.int64(1), Instant(milliseconds: try $0.int64(2)))
                },
                parked: try connection.query(
                    "SELECT store, count(*) FROM parked GROUP BY store ORDER BY store"
                ).map { (try $0.text(0), try $0.int64(1)) },
                waitingMessages: try waiting?.int64(0) ?? 0,
                oldestMessage: try waiting?.optionalInt64(1).map { Instant(milliseconds: $0) },
                feed: try newest?.int64(0) ?? 0,
                journal: try journal.map {
                    (try $0.int64(0), Instant(milliseconds: try $0.int64(1)))
                },
                cursors: try connection.query("SELECT name, updated FROM cursor ORDER BY name")
                    .map {
                        StoreHealth.Work(
                            name: try $0.text(0),
                            instant: Instant(milliseconds: try $0.int64(1))
                        )
                    },
                leases: try connection.query("SELECT name, until FROM lease ORDER BY name").map {
                    StoreHealth.Work(
                        name: try $0.text(0),
                        instant: Instant(milliseconds: try $0.int64(1))
                    )
                },
                schemaVersion: Schema.migrations.count,
                engineVersion: Storage.engineVersion,
                database: try Self.version(connection)
            )
        }
    }

    private static func version(_ connection: any StorageConnection) throws -> String {
        let sql =
            connection.dialect == .sqlite
            ? "SELECT sqlite_version()" : "SELECT current_setting('server_version')"
        let number = try connection.query(sql).first?.text(0) ?? ""
        return "\(connection.dialect.name) \(number)"
    }
}
