internal import Foundation
public import Storage
internal import StoragePostgres
internal import StorageSQLite

/// The databases that every storage test runs on: `@Test(arguments: Backend.allCases)`.
public enum Backend: String, CaseIterable, Sendable {
    case sqlite
    case postgres

    /// Both, or those alone that `TOLLGATE_TEST_BACKENDS` names, separated by commas.
    public static let allCases: [Backend] = {
        let chosen = ProcessInfo.processInfo.environment["TOLLGATE_TEST_BACKENDS"]
        return chosen?.split(separator: ",").compactMap { Backend(rawValue: String($0)) }
            ?? [.sqlite, .postgres]
    }()

    /// Opens a new database of its own; with the schema in place unless `migrated` is false.
    public func open(migrated: Bool = true) async throws -> any StorageDriver {
        if migrated, self == .postgres {
            let template = try await Self.template.value
            return try template.copy().open()
        }
        let driver = try makeDatabase().open()
        if migrated { try await driver.migrate() }
        return driver
    }

    /// PostgreSQL copies a schema sooner than it makes one.
    private static let template = Task {
        let database = try Backend.postgres.makeDatabase()
        let driver = try database.open()
        try await driver.migrate()
        await driver.close()
        return database
    }

    /// A new, empty database of its own, which may be opened more than once.
    public func makeDatabase() throws -> TestDatabase {
        switch self {
        case .sqlite:
            let file = try TestFolder.make().appendingPathComponent("tollgate.sqlite")
            return TestDatabase(backend: self, location: file.path)
        case .postgres:
            return TestDatabase(
                backend: self,
                location: try EmbeddedPostgres.shared().makeDatabase()
            )
        }
    }
}

/// A database of a test.
public struct TestDatabase: Sendable {
    /// Which kind it is.
    public let backend: Backend
    /// The file's path, or the URL.
    public let location: String

    /// Opens it.
    ///
    /// A second time at once only on PostgreSQL, or after closing.
    public func open() throws -> any StorageDriver {
        switch backend {
        case .sqlite: try StorageSQLite(path: location)
        case .postgres: try StoragePostgres(url: location)
        }
    }

    /// A backup: another database with all that is committed in this one, which nobody may have
    /// open.
    public func copy() throws -> TestDatabase {
        switch backend {
        case .sqlite:
            let copy = try backend.makeDatabase()
            for suffix in ["", "-wal"]
            where FileManager.default.fileExists(atPath: location + suffix) {
                try FileManager.default.copyItem(
                    atPath: location + suffix,
                    toPath: copy.location + suffix
                )
            }
            return copy
        case .postgres:
            let url = try EmbeddedPostgres.shared().makeDatabase(copying: location)
            return TestDatabase(backend: backend, location: url)
        }
    }
}
