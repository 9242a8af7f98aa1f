internal import Crypto

/// One step of the schema.
///
/// Numbered from 1 without gaps and never changed once released: a later step repairs an earlier
/// one.
public struct Migration: Sendable {
    /// Its place in the order, from 1.
    public let number: Int
    /// What it does, for people.
    public let name: String
    /// The statements, with the placeholders of `Dialect.spell(_:)`.
    public let statements: [String]

    /// Step `number` of the schema.
    public init(_ number: Int, _ name: String, _ statements: [String]) {
        self.number = number
        self.name = name
        self.statements = statements
    }

    /// The hash of the statements: kept beside the number, so that a change after release is noticed.
    var digest: [UInt8] {
        var hash = SHA256()
        for statement in statements {
            hash.update(data: Array(statement.utf8))
            hash.update(data: [0])
        }
        return Array(hash.finalize())
    }
}

extension StorageDriver {
    /// Brings the schema up to the last of `migrations`, each in a transaction of its own, and
    /// returns its number.
    ///
    /// Does nothing where it is up to date already.
    ///
    /// Servers that start together on one PostgreSQL wait for each other. Throws `.schema` if the
    /// database is newer than this program, or if a step was changed after it had been applied.
    @discardableResult
    public func migrate(_ migrations: [Migration] = Schema.migrations) async throws -> Int {
        precondition(migrations.map(\.number) == Array(1..<migrations.count + 1))
        try await write { connection in
            try lockForMigration(connection)
            try connection.define(dialect.spell(Schema.versionTable))
        }
        for migration in migrations {
            try await write { connection in
                try lockForMigration(connection)
                guard try applied(connection, of: migrations) < migration.number else { return }
                for statement in migration.statements {
                    try connection.define(dialect.spell(statement))
                }
                try connection.execute(
                    "INSERT INTO schema_version (number, name, digest) VALUES ($1, $2, $3)",
                    [
                        .integer(Int64(migration.number)), .text(migration.name),
                        .blob(migration.digest),
                    ]
                )
            }
        }
        try await requireSchema(migrations)
        return migrations.count
    }

    /// Makes the schema where there is none; one that is there must be that of `migrations`.
    ///
    /// A server of another version may be using the database.
    ///
    /// Throws `.schema` as `requireSchema`.
    func migrateIfEmpty(_ migrations: [Migration] = Schema.migrations) async throws {
        if try await hasSchema() {
            try await requireSchema(migrations)
        } else {
            try await migrate(migrations)
        }
    }

    private func hasSchema() async throws -> Bool {
        try await read { connection in
            // A failed query could be any passing error, so the catalogue of tables is asked first.
            guard try !connection.query(dialect.versionTableQuery).isEmpty else { return false }
            return try !connection.query("SELECT 1 FROM schema_version LIMIT 1").isEmpty
        }
    }

    /// Checks without writing that the schema is exactly that of `migrations`; for commands that
    /// only read.
    ///
    /// Throws `.schema` if it is older, newer or another.
    public func requireSchema(_ migrations: [Migration] = Schema.migrations) async throws {
        let version: Int? = try await read { connection in
            guard try !connection.query(dialect.versionTableQuery).isEmpty else { return nil }
            return try applied(connection, of: migrations)
        }
        guard let version else {
            throw StorageError(.schema, "there is no schema here yet; start the server once")
        }
        guard version == migrations.count else {
            throw StorageError(
                .schema,
                "the schema has version \(version), this program needs \(migrations.count); "
                    + "tollgate serve of this program's version brings it up to date when it starts"
            )
        }
    }

    private func lockForMigration(_ connection: any StorageConnection) throws(StorageError) {
        if let lock = dialect.migrationLock { _ = try connection.query(lock) }
    }

    /// The number of the last step applied.
    private func applied(
        _ connection: any StorageConnection,
        of migrations: [Migration]
    ) throws(StorageError) -> Int {
        let rows = try connection.query(
            "SELECT number, name, digest FROM schema_version ORDER BY number"
        )
        if let last = rows.last, try last.int64(0) > Int64(migrations.count) {
            throw StorageError(
                .schema,
                "the schema has version \(try last.int64(0)) (\(try last.text(1))), this program "
                    + "knows \(migrations.count); use a newer program"
            )
        }
        for (row, migration) in zip(rows, migrations) {
            let isSame = try row.int64(0) == Int64(migration.number)
            guard isSame, try row.bytes(2) == migration.digest else {
                throw StorageError(
                    .schema,
                    "step \(migration.number) of the schema is not the one applied here"
                )
            }
        }
        return rows.count
    }
}
