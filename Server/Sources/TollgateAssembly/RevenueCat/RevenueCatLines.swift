/// The rows of an export: a line, or several where a value in quotes holds line ends.
///
/// App user ids are the customers' own words: a line within one must not pass as a row.
struct RevenueCatLines {
    /// The bytes of one row.
    struct Row {
        var bytes: [UInt8]
        /// Its first and its last line, from 1; the heading is the first line of the file.
        var first: Int
        var last: Int
        /// Whether the row before it ended within quotes, so that this may be a part of that.
        var isDoubtful: Bool
    }

    /// The longest row that is put together from several lines, in bytes.
    private static let longest = 16 << 10

    private let heading: RevenueCatHeading
    private var line = 1
    private var isDoubtful = false

    init(_ heading: RevenueCatHeading) {
        self.heading = heading
    }

    /// The next row; `nil` after the last one.
    ///
    /// - Parameter next: the next line of the file without its end.
    mutating func next(from next: () throws -> [UInt8]?) throws -> Row? {
        guard let bytes = try next() else { return nil }
        line += 1
        var row = Row(bytes: bytes, first: line, last: line, isDoubtful: isDoubtful)
        var quote = heading.openQuote(in: row.bytes)
        while quote == .open, row.bytes.count < Self.longest, let more = try next() {
            line += 1
            row.bytes.append(UInt8(ascii: "\n"))
            row.bytes += more
            row.last = line
            quote = heading.openQuote(in: row.bytes)
        }
        isDoubtful = quote != .none
        return row
    }
}
