internal import AppStoreSimulator
internal import Foundation
internal import Storage
internal import StorageSQLite

/// Makes worlds, each on a database of its own that is gone afterwards.
public struct SimulatedWorlds: Sendable {
    private let backend: Backend
    private let authority: Data

    /// - Parameter backend: SQLite in memory where the machine has room for files there, or a
    ///   PostgreSQL server of this process.
    public init(on backend: Backend) throws {
        self.backend = backend
        authority = try SimulatedAppStore.makeAuthority()
    }

    /// Lives through one world.
    public func run(_ settings: Simulation.Settings) async throws -> Simulation.Outcome {
        let folder = try Self.makeFolder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let database =
            backend == .sqlite
            ? TestDatabase(
                backend: .sqlite,
                location: folder.appendingPathComponent("world.sqlite").path
            ) : try backend.makeDatabase()
        let scratch = folder.appendingPathComponent("scratch.sqlite").path
        return try await Simulation(
            settings,
            authority: authority,
            database: WorldDatabase(database, folder: folder),
            makeScratch: { try StorageSQLite(path: scratch) }
        ).run()
    }

    private static func makeFolder() throws -> URL {
        let folder = TestFolder.inMemory.appendingPathComponent(
            "tollgate-world-\(UUID().uuidString)"
        )
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        return folder
    }
}
