extension StringProtocol {
    /// The text as it may stand in HTML, XML or SVG, between tags and in quoted attributes.
    ///
    /// It goes by bytes, as browsers read: a Swift `Character` may be one of these five together
    /// with what stands beside it, and is then equal to none of them.
    public var escapedForMarkup: String {
        var escaped: [UInt8] = []
        escaped.reserveCapacity(utf8.count)
        for byte in utf8 {
            switch byte {
            case UInt8(ascii: "&"): escaped += Array("&amp;".utf8)
            case UInt8(ascii: "<"): escaped += Array("&lt;".utf8)
            case UInt8(ascii: ">"): escaped += Array("&gt;".utf8)
            case UInt8(ascii: "\""): escaped += Array("&quot;".utf8)
            case UInt8(ascii: "'"): escaped += Array("&#39;".utf8)
            default: escaped.append(byte)
            }
        }
        return String(decoding: escaped, as: UTF8.self)
    }
}
