internal import CSQLite
internal import Foundation
internal import Storage

/// Copies of a database: made beside a server that writes it, and put in the place of a lost one.
public enum SQLiteBackup {
    /// Told how many pages were copied, and of how many.
    public typealias Progress = (Int, Int) -> Void

    /// The pages that are copied at a time: 4 MB.
    private static let pages: Int32 = 1_000

    /// Copies the database at `path` to a new file at `copy`, also while a server writes it.
    ///
    /// The copy is the database of one instant. Nobody waits for it; the log of the database grows until
    /// it is made. It is one file without a log, for its owner only, flushed to disk, and its pages were
    /// checked.
    ///
    /// - Throws: `StorageError`; there is no file at `copy` then.
    public static func copy(
        _ path: String,
        to copy: String,
        progress: Progress = { _, _ in }
    ) throws {
        guard access(path, F_OK) == 0 else {
            throw StorageError(.unavailable, "there is no database at \(path)")
        }
        guard access(copy, F_OK) != 0 else {
            throw StorageError(.unavailable, "there is a file at \(copy) already")
        }
        let part = copy + ".part"
        let names = [part, part + "-journal", part + "-wal", part + "-shm"]
        do {
            try makeAnew(part, besides: names)
            try copyPages(of: path, to: part, progress: progress)
            try move(part, to: copy)
        } catch {
            for name in names { unlink(name) }
            throw error
        }
    }

    /// Makes the file at `part`, for its owner only, where none of `names` may stay.
    ///
    /// In a folder that others may write to, one of them could have put a file there that only they can
    /// remove: the copy would be theirs to read, or a journal of theirs would be played into it.
    private static func makeAnew(_ part: String, besides names: [String]) throws {
        for name in names {
            guard unlink(name) == 0 || errno == ENOENT else {
                throw StorageError(
                    .unavailable,
                    "cannot remove \(name): \(String(cString: strerror(errno))). If another user has put it there, name a folder that only you write to"
                )
            }
        }
        let file = open(part, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard file >= 0 else {
            throw StorageError(
                .unavailable,
                "cannot make \(part): \(String(cString: strerror(errno)))"
            )
        }
        close(file)
    }

    /// Puts `copy` in the place of the database at `path`, which no server may be using.
    ///
    /// The database that was there, and its log, are kept beside it as `path` and `suffix`. The copy
    /// stays where it is.
    ///
    /// - Returns: where the former database is now; `nil`: there was none.
    /// - Throws: `StorageError`, `.inUse` while a server has the database open; all is as it was then.
    @discardableResult
    public static func restore(
        _ copy: String,
        to path: String,
        keepingFormerAs suffix: String,
        progress: Progress = { _, _ in }
    ) throws -> String? {
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent()
        try FileManager.default.createDirectory(
            at: folder,
            withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700]
        )
        let lock = try FileLock(database: path)
        defer { withExtendedLifetime(lock) {} }
        // The name of a copy that is not whole yet.
        let whole = path + ".restored"
        unlink(whole)
        try self.copy(copy, to: whole, progress: progress)
        let former = try keep(path, as: path + suffix)
        // A log that stayed would be taken for that of the copy.
        for end in ["-wal", "-shm"] { unlink(path + end) }
        try move(whole, to: path)
        return former
    }

    /// Gives the database at `path` and its log a second name; the first one may then go.
    private static func keep(_ path: String, as former: String) throws -> String? {
        guard access(path, F_OK) == 0 else { return nil }
        for end in ["", "-wal", "-shm"] where access(path + end, F_OK) == 0 {
            guard link(path + end, former + end) == 0 else {
                throw StorageError(
                    .unavailable,
                    "cannot keep \(path + end) as \(former + end): \(String(cString: strerror(errno)))"
                )
            }
        }
        return former
    }

    private static func copyPages(
        of path: String,
        to copy: String,
        progress: Progress
    ) throws {
        let source = try SQLiteConnection(readingFrom: path, cacheKiB: 1_000)
        let target = try SQLiteConnection(copyingTo: copy)
        // One transaction around all steps: without it each commit of the server begins the copy anew.
        try source.transaction("BEGIN") { connection in
            _ = try connection.query("SELECT count(*) FROM sqlite_schema", [])
            try step(from: source, to: target, progress)
        }
        // The source's log is not copied; a file without one is read anywhere.
        _ = try target.query("PRAGMA journal_mode = DELETE", [])
        let found = try target.query("PRAGMA quick_check(1)", [])
        guard found.first?[0] == SQLValue.text("ok") else {
            throw StorageError(.corrupt, "\(path) is damaged: a copy of it does not hold together")
        }
    }

    private static func step(
        from source: SQLiteConnection,
        to target: SQLiteConnection,
        _ progress: Progress
    ) throws {
        guard
            let backup = sqlite3_backup_init(target.database, "main", source.database, "main")
        else { throw SQLiteConnection.lastError(target.database) }
        var code = SQLITE_OK
        while code == SQLITE_OK {
            code = sqlite3_backup_step(backup, pages)
            let all = Int(sqlite3_backup_pagecount(backup))
            progress(all - Int(sqlite3_backup_remaining(backup)), all)
        }
        sqlite3_backup_finish(backup)
        guard code == SQLITE_DONE else {
            throw storageError(code, "the copy failed: \(String(cString: sqlite3_errstr(code)))")
        }
    }

    /// Renames a file that is complete, durably.
    private static func move(_ from: String, to path: String) throws {
        guard rename(from, path) == 0 else {
            throw StorageError(
                .unavailable,
                "cannot name \(from) \(path): \(String(cString: strerror(errno)))"
            )
        }
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
        let handle = open(folder, O_RDONLY | O_CLOEXEC)
        guard handle >= 0 else { return }
        fsync(handle)
        close(handle)
    }
}
