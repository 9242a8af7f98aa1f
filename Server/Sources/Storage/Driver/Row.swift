/// One row of a result.
///
/// Columns are counted from zero, in the order the statement names them.
public struct Row: Hashable, Sendable {
    /// The row's values, in the order of the statement's columns.
    public let values: [SQLValue]

    /// A row of `values`.
    public init(_ values: [SQLValue]) {
        self.values = values
    }

    /// The value in `column`; null if the statement has no such column.
    public subscript(_ column: Int) -> SQLValue {
        values.indices.contains(column) ? values[column] : .null
    }

    /// The integer in `column`.
    ///
    /// Throws `.typeMismatch` if it holds anything else.
    public func int64(_ column: Int) throws(StorageError) -> Int64 {
        guard case .integer(let value) = self[column] else { throw mismatch(column, "integer") }
        return value
    }

    /// The text in `column`.
    ///
    /// Throws `.typeMismatch` if it holds anything else.
    public func text(_ column: Int) throws(StorageError) -> String {
        guard case .text(let value) = self[column] else { throw mismatch(column, "text") }
        return value
    }

    /// The bytes in `column`.
    ///
    /// Throws `.typeMismatch` if it holds anything else.
    public func bytes(_ column: Int) throws(StorageError) -> [UInt8] {
        guard case .blob(let value) = self[column] else { throw mismatch(column, "blob") }
        return value
    }

    /// The integer in `column`, nil for null.
    ///
    /// Throws `.typeMismatch` for another type.
    public func optionalInt64(_ column: Int) throws(StorageError) -> Int64? {
        if case .null = self[column] { return nil }
        return try int64(column)
    }

    /// The text in `column`, nil for null.
    ///
    /// Throws `.typeMismatch` for another type.
    public func optionalText(_ column: Int) throws(StorageError) -> String? {
        if case .null = self[column] { return nil }
        return try text(column)
    }

    /// The bytes in `column`, nil for null.
    ///
    /// Throws `.typeMismatch` for another type.
    public func optionalBytes(_ column: Int) throws(StorageError) -> [UInt8]? {
        if case .null = self[column] { return nil }
        return try bytes(column)
    }

    private func mismatch(_ column: Int, _ wanted: String) -> StorageError {
        StorageError(
            .typeMismatch,
            "column \(column) of \(values.count) holds \(self[column].typeName), not \(wanted)"
        )
    }
}
