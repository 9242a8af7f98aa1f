// SPDX-License-Identifier: Apache-2.0
import Crypto
import Foundation
import Storage
import StorageSQLite
import Synchronization

/// The folder in which an engine upgrade derives everything again; always the same one for a database,
/// so that what killed servers leave does not pile up.
final class UpgradeFolder: Sendable {
    private static let database = "next.sqlite"
    /// What an upgrade makes.
    private static let made = Set(["", "-wal", "-shm", "-journal", ".lock"].map { database + $0 })

    private let candidates: [URL]
    /// Ours, since we made it.
    private let taken = Mutex<URL?>(nil)

    /// - Parameter location: the database whose rows are derived again.
    init(of location: DatabaseLocation) {
        if let path = location.sqlitePath {
            // This is the only server there is.
            candidates = [URL(fileURLWithPath: path + ".upgrade")]
            return
        }
        let digest = SHA256.hash(data: Data(location.description.utf8)).prefix(8)
        let name = digest.map { String(format: "%02x", $0) }.joined()
        // Another server of the database may be deriving at the same time, and another user's may have
        // the name.
        candidates = (1...4).map {
            ScratchFolder.parent.appendingPathComponent("tollgate-engine-\(getuid())-\(name)-\($0)")
        }
    }

    /// Opens an empty database in the first of the folders that no other server is using.
    ///
    /// - Throws: `StorageError` where something else has the name of the folder; that stays as it is.
    func open() throws -> any StorageDriver {
        for folder in candidates where !isInUse(folder) {
            try clear(folder)
            // Made here and now it is nobody else's, who could read the journal in it.
            try FileManager.default.createDirectory(
                at: folder,
                withIntermediateDirectories: false,
                attributes: [.posixPermissions: 0o700]
            )
            taken.withLock { $0 = folder }
            return try StorageSQLite(path: folder.appendingPathComponent(Self.database).path)
        }
        throw StorageError(.inUse, "other servers are deriving everything again; let them finish")
    }

    func discard() {
        guard let folder = taken.withLock({ $0 }) else { return }
        try? FileManager.default.removeItem(at: folder)
    }

    private func isInUse(_ folder: URL) -> Bool {
        StorageSQLite.server(of: folder.appendingPathComponent(Self.database).path) != nil
    }

    /// Removes what a killed upgrade has left.
    private func clear(_ folder: URL) throws {
        let files = FileManager.default
        // Not through a link: what it leads to is no upgrade's.
        guard let found = try? files.attributesOfItem(atPath: folder.path) else { return }
        guard found[.type] as? FileAttributeType == .typeDirectory,
            let names = try? files.contentsOfDirectory(atPath: folder.path),
            Self.made.isSuperset(of: names)
        else {
            throw StorageError(
                .unavailable,
                "\(folder.path) is in the way: a new engine derives everything again there. Move it elsewhere and start again."
            )
        }
        try files.removeItem(at: folder)
    }
}
