/// How the large tables are spread over several machines by Citus, an extension of PostgreSQL.
///
/// Each row goes where a column of it says, a hash of 16 bytes: all rows of one purchase lie together, and
/// all rows of one customer. What is small stays on the machine to which servers connect.
public struct Distribution: Sendable {
    /// A table that is spread.
    public struct Table: Hashable, Sendable {
        public var name: String
        /// The column whose value decides to which machine a row goes.
        public var column: String
        /// Statements that run before the table is spread, so that each of its unique keys names `column`.
        package var keys: [String] = []
    }

    /// The outcome for one table.
    public struct Step: Hashable, Sendable {
        public var table: Table
        /// `true` if this run spread the table, `false` if an earlier one had.
        public var isNew: Bool
    }

    private let driver: any StorageDriver

    public init(of driver: any StorageDriver) {
        self.driver = driver
    }

    /// Spreads what is not spread yet, with the rows that are there, in one transaction.
    ///
    /// - Parameters:
    ///   - shards: into how many parts each table is cut.
    ///   - progress: told of each table.
    /// - Throws: `DistributionRefused`; `StorageError` of the kind `schema` where the schema is not this
    ///   program's.
    public func distribute(
        shards: Int,
        progress: @escaping @Sendable (Step) -> Void = { _ in }
    ) async throws {
        guard !driver.dialect.rowLock.isEmpty else { throw DistributionRefused.notPostgres }
        try await driver.write { try Self.requireCitus($0) }
        try await driver.requireSchema()
        try await driver.write { connection in
            if let lock = connection.dialect.migrationLock { _ = try connection.query(lock) }
            let spread = try Self.spread(connection)
            for table in Self.tables {
                let isNew = !spread.contains(table.name)
                if isNew { try Self.spread(table, shards: shards, connection) }
                progress(Step(table: table, isNew: isNew))
            }
        }
        // What was copied to the shards still lies, unseen, in the tables themselves.
        for table in Self.tables {
            try await driver.write { connection in
                _ = try connection.query(
                    "SELECT truncate_local_data_after_distributing_table('\(table.name)')"
                )
            }
        }
    }

    private static func spread(
        _ table: Table,
        shards: Int,
        _ connection: any StorageConnection
    ) throws {
        for statement in table.keys { try connection.define(statement) }
        let place =
            table == tables[0]
            ? "colocate_with => 'none', shard_count => \(shards)"
            : "colocate_with => '\(tables[0].name)'"
        try connection.define(
            "SELECT create_distributed_table('\(table.name)', '\(table.column)', \(place))"
        )
    }

    private static func spread(_ connection: any StorageConnection) throws -> Set<String> {
        let rows = try connection.query(
            "SELECT CAST(logicalrelid AS text) FROM pg_dist_partition"
        )
        return Set(try rows.map { try $0.text(0) })
    }

    private static func requireCitus(_ connection: any StorageConnection) throws {
        let found = try connection.query(
            """
            SELECT EXISTS (SELECT 1 FROM pg_extension WHERE extname = 'citus'),
                EXISTS (SELECT 1 FROM pg_available_extensions WHERE name = 'citus'),
                (SELECT count(*) FROM pg_stat_activity
                    WHERE datname = current_database() AND application_name = 'tollgate'
                    AND pid <> pg_backend_pid())
            """
        ).first
        guard try found?.int64(0) == 1 else {
            throw DistributionRefused.noExtension(isInstalled: try found?.int64(1) == 1)
        }
        guard try found?.int64(2) == 0 else { throw DistributionRefused.inUse }
        let machines = try connection.query(
            "SELECT count(*) FROM pg_dist_node WHERE isactive AND shouldhaveshards"
        )
        guard try machines.first?.int64(0) ?? 0 > 0 else { throw DistributionRefused.noMachines }
    }
}

/// Why a database's tables are not spread.
public enum DistributionRefused: Error, Hashable, CustomStringConvertible {
    case notPostgres
    /// - Parameter isInstalled: whether the server has it for databases to create.
    case noExtension(isInstalled: Bool)
    case noMachines
    case inUse

    public var description: String {
        switch self {
        case .notPostgres:
            "SQLite is one file on one machine. Name a PostgreSQL database that has the extension citus: --database postgres://USER@HOST:PORT/NAME."
        case .noExtension(isInstalled: true):
            "This database does not have the extension citus. Run CREATE EXTENSION citus in it, here and on each worker, and SELECT citus_add_node('HOST', PORT) here for each worker."
        case .noExtension(isInstalled: false):
            "This PostgreSQL server does not have the extension citus. Install it here and on each worker, set shared_preload_libraries = 'citus', and start the servers again."
        case .noMachines:
            "Citus knows no worker. Run SELECT citus_add_node('HOST', PORT) in this database for each."
        case .inUse: "A server or a command uses this database: stop all of them first."
        }
    }
}
