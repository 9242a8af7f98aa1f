extension JSON {
    /// The value in one fixed form: names sorted by their UTF-8, no spaces, only the escapes that
    /// are needed, numbers as they were written.
    ///
    /// Two readings of one object have equal canonical bytes whatever the order of its members.
    public var canonicalBytes: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(rawBytes.count)
        appendCanonical(to: &bytes)
        return bytes
    }

    private func appendCanonical(to bytes: inout [UInt8]) {
        switch kind {
        case .null, .true, .false, .number:
            bytes.append(contentsOf: rawBytes)
        case .string:
            Self.appendString(document, index, to: &bytes)
        case .array:
            bytes.append(UInt8(ascii: "["))
            for (place, element) in elements.enumerated() {
                if place > 0 { bytes.append(UInt8(ascii: ",")) }
                element.appendCanonical(to: &bytes)
            }
            bytes.append(UInt8(ascii: "]"))
        case .object:
            appendObject(to: &bytes)
        }
    }

    private func appendObject(to bytes: inout [UInt8]) {
        var names: [(name: [UInt8], index: Int)] = []
        let end = Int(document.nodes[index].next)
        var at = index + 1
        while at < end {
            names.append((document.withContent(at) { [UInt8]($0) }, at))
            at = document.index(after: at + 1)
        }
        names.sort { $0.name.lexicographicallyPrecedes($1.name) }
        bytes.append(UInt8(ascii: "{"))
        for (place, member) in names.enumerated() {
            if place > 0 { bytes.append(UInt8(ascii: ",")) }
            Self.appendString(document, member.index, to: &bytes)
            bytes.append(UInt8(ascii: ":"))
            JSON(document: document, index: member.index + 1).appendCanonical(to: &bytes)
        }
        bytes.append(UInt8(ascii: "}"))
    }

    private static func appendString(
        _ document: Document,
        _ index: Int,
        to bytes: inout [UInt8]
    ) {
        bytes.append(UInt8(ascii: "\""))
        document.withContent(index) { content in
            for byte in content {
                switch byte {
                case UInt8(ascii: "\""), UInt8(ascii: "\\"):
                    bytes.append(UInt8(ascii: "\\"))
                    bytes.append(byte)
                case 0..<0x20:
                    let digits = Array("0123456789abcdef".utf8)
                    bytes.append(contentsOf: Array("\\u00".utf8))
                    bytes.append(digits[Int(byte >> 4)])
                    bytes.append(digits[Int(byte & 15)])
                default: bytes.append(byte)
                }
            }
        }
        bytes.append(UInt8(ascii: "\""))
    }
}
