/// A value that goes into a statement or comes out of a row: what both databases have.
///
/// There is no floating point on purpose: money and coins are integers, instants are milliseconds.
public enum SQLValue: Hashable, Sendable {
    case null
    case integer(Int64)
    case text(String)
    case blob([UInt8])

    /// An integer, or null for nil.
    public init(_ integer: Int64?) {
        self = integer.map(Self.integer) ?? .null
    }

    /// A text, or null for nil.
    public init(_ text: String?) {
        self = text.map(Self.text) ?? .null
    }

    /// Bytes, or null for nil.
    public init(_ bytes: [UInt8]?) {
        self = bytes.map(Self.blob) ?? .null
    }

    /// The name of the value's type, for messages; never the value itself.
    package var typeName: String {
        switch self {
        case .null: "null"
        case .integer: "integer"
        case .text: "text"
        case .blob: "blob"
        }
    }
}
