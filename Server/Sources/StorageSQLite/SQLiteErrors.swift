internal import CSQLite
internal import Storage

/// SQLite's extended result code as our error.
///
/// SQLite's messages name tables and columns, no values.
func storageError(_ code: Int32, _ message: String) -> StorageError {
    let kind: StorageError.Kind =
        switch code & 0xff {
        case SQLITE_CONSTRAINT:
            // SQLITE_CONSTRAINT_UNIQUE, _PRIMARYKEY and _ROWID; macros that Swift cannot import.
            [8, 6, 10].contains(code >> 8) ? .uniqueViolation : .constraintViolation
        case SQLITE_BUSY, SQLITE_LOCKED, SQLITE_IOERR, SQLITE_CANTOPEN, SQLITE_NOMEM: .unavailable
        case SQLITE_FULL: .diskFull
        case SQLITE_CORRUPT, SQLITE_NOTADB: .corrupt
        case SQLITE_READONLY: .readOnly
        case SQLITE_MISMATCH: .typeMismatch
        default: .other
        }
    return StorageError(kind, message, code: String(code))
}
