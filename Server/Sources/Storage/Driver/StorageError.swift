/// What went wrong in a database.
///
/// It names tables and constraints, never a parameter's value.
public struct StorageError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What a caller can do about it.
    public enum Kind: String, Hashable, Sendable {
        /// The database cannot be reached or is too busy; nothing was written. Try again later.
        case unavailable
        /// The connection broke while COMMIT was under way: written or not, nobody knows. Do again
        /// what is idempotent, and look before doing again what is not.
        case outcomeUnknown
        /// Two transactions got into each other's way more often than the driver retries.
        case contention
        /// A unique or primary key is taken already.
        case uniqueViolation
        /// Another constraint does not hold: a null, a check, a foreign key.
        case constraintViolation
        /// The disk is full; nothing was written.
        case diskFull
        /// The file is damaged, or no database at all.
        case corrupt
        /// Another process owns this file.
        case inUse
        /// A write on a database that was opened for reading.
        case readOnly
        /// The schema is newer than this program, or is not the one that this program knows.
        case schema
        /// A row or parameter has another type than the statement wants.
        case typeMismatch
        /// The driver was closed.
        case closed
        /// Anything else; a defect of ours, such as a statement that does not parse.
        case other
    }

    /// What a caller can do about it.
    public var kind: Kind
    /// The database's own code: a five character SQLSTATE, or SQLite's extended result code.
    public var code: String?
    /// A sentence for a person.
    public var message: String

    /// An error of `kind`, with the database's own `code` if it has one.
    public init(_ kind: Kind, _ message: String, code: String? = nil) {
        self.kind = kind
        self.code = code
        self.message = message
    }

    /// Whether the same call may succeed later without anything being changed.
    public var isRetryable: Bool {
        switch kind {
        case .unavailable, .outcomeUnknown, .contention, .diskFull: true
        default: false
        }
    }

    /// The kind, the database's code and the message in one line.
    public var description: String {
        "storage: \(kind.rawValue)\(code.map { " [\($0)]" } ?? ""): \(message)"
    }
}
