internal import Foundation
internal import Storage

/// The files of a database, which hold personal data: only their owner may read them.
enum OwnersFile {
    /// Makes the file at `path` if it is missing, and closes it and its logs to everybody else.
    ///
    /// SQLite gives its logs the mode of the main file, which by itself would be that of any file. Files
    /// that an earlier version made are closed too, unless they belong to another user.
    static func protect(database path: String) throws(StorageError) {
        // Not one that is there: closing it would drop the locks that SQLite may hold on it.
        if access(path, F_OK) != 0 {
            let file = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
            guard file >= 0 || errno == EEXIST else {
                throw StorageError(
                    .unavailable,
                    "cannot open \(path): \(String(cString: strerror(errno)))"
                )
            }
            if file >= 0 { close(file) }
        }
        closeToOthers(database: path)
    }

    /// Takes everybody else's rights from the files that are there.
    ///
    /// Again once SQLite has opened them: where `path` was a link to nothing, SQLite has made the file
    /// that the link names, and its logs beside that one.
    static func closeToOthers(database path: String) {
        let target = realpath(path, nil)
        defer { free(target) }
        let real = target.map { String(cString: $0) } ?? path
        for name in [real, real + "-wal", real + "-shm", path + ".lock"] {
            var status = stat()
            guard stat(name, &status) == 0, status.st_uid == geteuid(),
                status.st_mode & 0o077 != 0
            else { continue }
            chmod(name, 0o600)
        }
    }
}
