internal import Foundation
internal import Storage

/// The lock file beside a database, held for as long as this lives: one process owns a SQLite file.
///
/// Two processes that write would not only lose the single writer's speed: SQLite before 3.51.3 can
/// damage the file when two connections write and checkpoint it at once. The kernel drops the lock
/// with the process, however that ends, so a file left behind means nothing.
final class FileLock: Sendable {
    private let file: Int32

    /// Takes the lock on the database at `path`, or throws `.inUse` and says who holds it.
    init(database path: String) throws(StorageError) {
        let name = path + ".lock"
        let file = open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard file >= 0 else {
            throw StorageError(
                .unavailable,
                "cannot open \(name): \(String(cString: strerror(errno)))"
            )
        }
        guard flock(file, LOCK_EX | LOCK_NB) == 0 else {
            let holder = Self.process(in: file)
            close(file)
            throw StorageError(
                .inUse,
                "\(path) is in use by another server\(holder.map { " (process \($0))" } ?? ""). "
                    + "One process owns a SQLite file: stop the other, or let both use PostgreSQL."
            )
        }
        self.file = file
        let process = Array(String(getpid()).utf8)
        ftruncate(file, 0)
        // For the message above, and for whoever has something to tell the server; the lock holds without it.
        _ = write(file, process, process.count)
    }

    /// The process that holds the lock on the database at `path`; `nil`: none does.
    static func holder(of path: String) -> Int32? {
        let file = open(path + ".lock", O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        guard flock(file, LOCK_SH | LOCK_NB) != 0 else { return nil }
        return process(in: file)
    }

    /// The process that a lock file names; `nil`: it names none.
    private static func process(in file: Int32) -> Int32? {
        var bytes = [UInt8](repeating: 0, count: 20)
        let count = read(file, &bytes, bytes.count)
        let number = Int32(String(decoding: bytes.prefix(max(0, count)), as: UTF8.self))
        // Zero and less would mean many processes to whoever sends a signal there.
        return number.flatMap { $0 > 0 ? $0 : nil }
    }

    deinit {
        // Closing alone would leave the lock to a child that is being started at this moment.
        flock(file, LOCK_UN)
        close(file)
    }
}
