/// `sql` with `$1` spelled `?1`: SQLite takes `$1` for a name and numbers names as they appear.
func numberedParameters(_ sql: String) -> String {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(sql.utf8.count)
    var quote: UInt8?
    for byte in sql.utf8 {
        if let open = quote {
            if byte == open { quote = nil }
        } else if byte == UInt8(ascii: "'") || byte == UInt8(ascii: "\"") {
            quote = byte
        }
        bytes.append(quote == nil && byte == UInt8(ascii: "$") ? UInt8(ascii: "?") : byte)
    }
    return String(decoding: bytes, as: UTF8.self)
}
