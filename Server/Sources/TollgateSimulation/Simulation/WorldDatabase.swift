internal import Foundation
internal import Storage
internal import Synchronization

/// The database of a simulated world, of which copies are made and put in its place.
public final class WorldDatabase: Sendable {
    private struct State {
        var current: TestDatabase
        var copy: TestDatabase?
        var count = 0
    }

    /// Where copies of a file are kept; they are gone with it.
    private let folder: URL
    private let state: Mutex<State>

    init(_ database: TestDatabase, folder: URL) {
        self.folder = folder
        state = Mutex(State(current: database))
    }

    /// Opens the database, once at a time.
    func open() throws -> any StorageDriver {
        try state.withLock { $0.current }.open()
    }

    /// Makes a copy of what is committed, while nobody has the database open.
    func backUp() throws {
        try state.withLock { state in
            state.count += 1
            state.copy = try Self.copy(of: state.current, named: "copy-\(state.count)", in: folder)
        }
    }

    /// Puts the last copy in the place of the database, while nobody has it open.
    ///
    /// - Returns: whether there is a copy.
    func restoreBackup() throws -> Bool {
        state.withLock { state in
            guard let copy = state.copy else { return false }
            (state.current, state.copy) = (copy, nil)
            return true
        }
    }

    private static func copy(
        of database: TestDatabase,
        named name: String,
        in folder: URL
    ) throws -> TestDatabase {
        guard database.backend == .sqlite else { return try database.copy() }
        let path = folder.appendingPathComponent("\(name).sqlite").path
        for suffix in ["", "-wal"]
        where FileManager.default.fileExists(atPath: database.location + suffix) {
            try FileManager.default.copyItem(
                atPath: database.location + suffix,
                toPath: path + suffix
            )
        }
        return TestDatabase(backend: .sqlite, location: path)
    }
}
