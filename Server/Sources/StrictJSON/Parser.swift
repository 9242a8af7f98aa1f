/// Reads a text from front to back, once.
///
/// Every access is checked against `end` before it is made; arithmetic stays below the limit of
/// the length, so nothing here can trap.
struct Parser {
    /// What was read.
    struct Output {
        var nodes: ContiguousArray<Node>
        var unescaped: [UInt8]
        var unescapedRanges: [Range<Int>]
    }

    private let text: UnsafeRawBufferPointer
    private let end: Int
    private var at = 0
    private var nodes: ContiguousArray<Node> = []
    private var unescaped: [UInt8] = []
    private var unescapedRanges: [Range<Int>] = []

    init(_ text: UnsafeRawBufferPointer) {
        self.text = text
        end = text.count
        // Stores' payloads have a node per ten bytes or fewer.
        nodes.reserveCapacity(min(end / 10 + 8, 512))
    }

    mutating func parse() throws(JSON.ParsingError) -> Output {
        if end >= 3, text[0] == 0xEF, text[1] == 0xBB, text[2] == 0xBF {
            throw JSON.ParsingError(.byteOrderMark, at: 0)
        }
        skipSpace()
        try value(depth: 0)
        skipSpace()
        guard at == end else { throw JSON.ParsingError(.trailingBytes, at: at) }
        return Output(nodes: nodes, unescaped: unescaped, unescapedRanges: unescapedRanges)
    }

    // MARK: - Values

    private mutating func value(depth: Int) throws(JSON.ParsingError) {
        guard at < end else { throw JSON.ParsingError(.endOfText, at: at) }
        switch text[at] {
        case UInt8(ascii: "\""):
            let node = try string()
            nodes.append(node)
            nodes[nodes.count - 1].next = UInt32(truncatingIfNeeded: nodes.count)
        case UInt8(ascii: "{"): try object(depth: depth + 1)
        case UInt8(ascii: "["): try array(depth: depth + 1)
        case UInt8(ascii: "t"): try word("true", .true)
        case UInt8(ascii: "f"): try word("false", .false)
        case UInt8(ascii: "n"): try word("null", .null)
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): try number()
        default: throw JSON.ParsingError(.unexpectedByte, at: at)
        }
    }

    private mutating func word(_ word: StaticString, _ kind: JSON.Kind) throws(JSON.ParsingError) {
        let count = word.utf8CodeUnitCount
        guard count <= end - at else { throw JSON.ParsingError(.endOfText, at: end) }
        for offset in 0..<count where text[at + offset] != word.utf8Start[offset] {
            throw JSON.ParsingError(.unexpectedByte, at: at + offset)
        }
        append(kind, from: at, to: at + count)
        at += count
    }

    private mutating func append(_ kind: JSON.Kind, from start: Int, to end: Int) {
        nodes.append(Node(kind, from: start, to: end, next: nodes.count + 1))
    }

    private mutating func close(_ container: Int, count: Int) {
        nodes[container].end = UInt32(truncatingIfNeeded: at)
        nodes[container].next = UInt32(truncatingIfNeeded: nodes.count)
        nodes[container].tag |= UInt32(truncatingIfNeeded: count) << 8
    }

    @inline(__always)
    private mutating func skipSpace() {
        while at < end {
            switch text[at] {
            case 0x20, 0x0A, 0x0D, 0x09: at += 1
            default: return
            }
        }
    }

    // MARK: - Containers

    private mutating func array(depth: Int) throws(JSON.ParsingError) {
        guard depth <= JSON.maximumDepth else { throw JSON.ParsingError(.tooDeep, at: at) }
        let container = nodes.count
        append(.array, from: at, to: at)
        at += 1
        skipSpace()
        guard at < end else { throw JSON.ParsingError(.endOfText, at: at) }
        if text[at] == UInt8(ascii: "]") {
            at += 1
            return close(container, count: 0)
        }
        var count = 0
        while true {
            try value(depth: depth)
            count += 1
            skipSpace()
            guard at < end else { throw JSON.ParsingError(.endOfText, at: at) }
            switch text[at] {
            case UInt8(ascii: ","):
                at += 1
                skipSpace()
            case UInt8(ascii: "]"):
                at += 1
                return close(container, count: count)
            default: throw JSON.ParsingError(.unexpectedByte, at: at)
            }
        }
    }

    private mutating func object(depth: Int) throws(JSON.ParsingError) {
        guard depth <= JSON.maximumDepth else { throw JSON.ParsingError(.tooDeep, at: at) }
        let container = nodes.count
        append(.object, from: at, to: at)
        at += 1
        skipSpace()
        guard at < end else { throw JSON.ParsingError(.endOfText, at: at) }
        if text[at] == UInt8(ascii: "}") {
            at += 1
            return close(container, count: 0)
        }
        var names = SeenNames()
        while true {
            guard at < end else { throw JSON.ParsingError(.endOfText, at: at) }
            guard text[at] == UInt8(ascii: "\"") else {
                throw JSON.ParsingError(.unexpectedByte, at: at)
            }
            let place = at
            var name = try string()
            name.next = withContent(name) { nameHash($0) }
            if names.mayHave(name.next), names.count <= SeenNames.comparedAtOnce,
                hasName(name, container: container)
            {
                throw JSON.ParsingError(.duplicateName, at: place)
            }
            nodes.append(name)
            skipSpace()
            guard at < end else { throw JSON.ParsingError(.endOfText, at: at) }
            guard text[at] == UInt8(ascii: ":") else {
                throw JSON.ParsingError(.unexpectedByte, at: at)
            }
            at += 1
            skipSpace()
            try value(depth: depth)
            skipSpace()
            guard at < end else { throw JSON.ParsingError(.endOfText, at: at) }
            switch text[at] {
            case UInt8(ascii: ","):
                at += 1
                skipSpace()
            case UInt8(ascii: "}"):
                at += 1
                close(container, count: names.count)
                if names.count > SeenNames.comparedAtOnce { try refuseDuplicates(container) }
                return
            default: throw JSON.ParsingError(.unexpectedByte, at: at)
            }
        }
    }

    // MARK: - Names that occur twice

    /// Which names an open object may already have: no false "no", some false "yes".
    private struct SeenNames {
        /// Up to here a possible repetition is looked at when it comes; objects with more members
        /// are sorted once at their end, so that crafted names cannot cost quadratic time.
        static let comparedAtOnce = 64

        private var low: UInt64 = 0
        private var high: UInt64 = 0
        private(set) var count = 0

        /// Notes a name; false if it is certainly new.
        mutating func mayHave(_ hash: UInt32) -> Bool {
            count += 1
            let bit: UInt64 = 1 << UInt64(hash & 63)
            guard hash & 64 == 0 else {
                defer { high |= bit }
                return high & bit != 0
            }
            defer { low |= bit }
            return low & bit != 0
        }
    }

    private func hasName(_ name: Node, container: Int) -> Bool {
        var other = container + 1
        while other < nodes.count {
            if nodes[other].next == name.next, areEqualNames(nodes[other], name) { return true }
            other = Int(nodes[other + 1].next)
        }
        return false
    }

    private func refuseDuplicates(_ container: Int) throws(JSON.ParsingError) {
        var names: [Node] = []
        names.reserveCapacity(nodes[container].count)
        var at = container + 1
        while at < nodes.count {
            names.append(nodes[at])
            at = Int(nodes[at + 1].next)
        }
        names.sort { left, right in
            if left.next != right.next { return left.next < right.next }
            return withContent(left) { left in
                withContent(right) { left.lexicographicallyPrecedes($0) }
            }
        }
        for (left, right) in zip(names, names.dropFirst())
        where left.next == right.next && areEqualNames(left, right) {
            let place = Int(max(left.start, right.start)) - 1
            throw JSON.ParsingError(.duplicateName, at: place)
        }
    }

    @inline(__always)
    private func areEqualNames(_ left: Node, _ right: Node) -> Bool {
        withContent(left) { left in withContent(right) { right in areEqual(left, right) } }
    }

    @inline(__always)
    private func withContent<Result>(
        _ string: Node,
        _ body: (UnsafeRawBufferPointer) -> Result
    ) -> Result {
        guard string.count == 0 else {
            let range = unescapedRanges[string.count - 1]
            return unescaped.withUnsafeBytes { body(UnsafeRawBufferPointer(rebasing: $0[range])) }
        }
        return body(UnsafeRawBufferPointer(rebasing: text[Int(string.start)..<Int(string.end)]))
    }

    // MARK: - Numbers

    private mutating func number() throws(JSON.ParsingError) {
        let start = at
        if text[at] == UInt8(ascii: "-") { at += 1 }
        guard at < end else { throw JSON.ParsingError(.endOfText, at: at) }
        if text[at] == UInt8(ascii: "0") {
            at += 1
            if at < end, isDigit(text[at]) { throw JSON.ParsingError(.invalidNumber, at: at) }
        } else {
            try digits()
        }
        if at < end, text[at] == UInt8(ascii: ".") {
            at += 1
            try digits()
        }
        if at < end, text[at] | 0x20 == UInt8(ascii: "e") {
            at += 1
            if at < end, text[at] == UInt8(ascii: "+") || text[at] == UInt8(ascii: "-") { at += 1 }
            let exponent = at
            try digits()
            var magnitude = 0
            for place in exponent..<at where magnitude <= 308 {
                magnitude = magnitude * 10 + Int(text[place] - UInt8(ascii: "0"))
            }
            guard magnitude <= 308 else { throw JSON.ParsingError(.numberOutOfRange, at: start) }
        }
        guard at - start <= 128 else { throw JSON.ParsingError(.numberOutOfRange, at: start) }
        append(.number, from: start, to: at)
    }

    private mutating func digits() throws(JSON.ParsingError) {
        let start = at
        while at < end, isDigit(text[at]) { at += 1 }
        guard at > start else {
            throw JSON.ParsingError(at < end ? .invalidNumber : .endOfText, at: at)
        }
    }

    @inline(__always)
    private func isDigit(_ byte: UInt8) -> Bool { byte &- UInt8(ascii: "0") <= 9 }

    // MARK: - Strings

    /// Reads a string from its opening quote to after its closing one.
    private mutating func string() throws(JSON.ParsingError) -> Node {
        at += 1
        let start = at
        try skipPlain()
        if text[at] == UInt8(ascii: "\"") {
            let node = Node(.string, from: start, to: at, next: 0)
            at += 1
            return node
        }
        return try stringWithEscapes(from: start)
    }

    /// Goes on from the first backslash of a string that began at `start`.
    private mutating func stringWithEscapes(from start: Int) throws(JSON.ParsingError) -> Node {
        let first = unescaped.count
        unescaped.append(contentsOf: text[start..<at])
        while text[at] == UInt8(ascii: "\\") {
            try escape()
            let plain = at
            try skipPlain()
            unescaped.append(contentsOf: text[plain..<at])
        }
        unescapedRanges.append(first..<unescaped.count)
        var node = Node(.string, from: start, to: at, next: 0)
        node.tag |= UInt32(truncatingIfNeeded: unescapedRanges.count) << 8
        at += 1
        return node
    }

    /// Moves to the next quote or backslash; checks what lies before it.
    @inline(__always)
    private mutating func skipPlain() throws(JSON.ParsingError) {
        while true {
            // Eight bytes at once. A high bit in `marks` stands for a quote, a backslash, a control
            // character or a byte beyond ASCII; the lowest such bit is exact.
            while at &+ 8 <= end {
                let word = UInt64(
                    littleEndian: text.loadUnaligned(fromByteOffset: at, as: UInt64.self)
                )
                let quotes = (word ^ 0x2222_2222_2222_2222) &- 0x0101_0101_0101_0101
                let backslashes = (word ^ 0x5C5C_5C5C_5C5C_5C5C) &- 0x0101_0101_0101_0101
                let controls = word &- 0x2020_2020_2020_2020
                let marks = (word | quotes | backslashes | controls) & 0x8080_8080_8080_8080
                if marks != 0 {
                    at &+= marks.trailingZeroBitCount >> 3
                    break
                }
                at &+= 8
            }
            guard at < end else { throw JSON.ParsingError(.endOfText, at: at) }
            let byte = text[at]
            if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") { return }
            if byte < 0x20 { throw JSON.ParsingError(.controlCharacter, at: at) }
            if byte < 0x80 { at += 1 } else { try skipCharacter() }
        }
    }

    /// Skips one character of two to four bytes (table 3-7 of the Unicode standard).
    private mutating func skipCharacter() throws(JSON.ParsingError) {
        let first = text[at]
        let length: Int
        var second: ClosedRange<UInt8> = 0x80...0xBF
        switch first {
        case 0xC2...0xDF: length = 2
        case 0xE0: (length, second) = (3, 0xA0...0xBF)
        case 0xED: (length, second) = (3, 0x80...0x9F)
        case 0xE1...0xEF: length = 3
        case 0xF0: (length, second) = (4, 0x90...0xBF)
        case 0xF1...0xF3: length = 4
        case 0xF4: (length, second) = (4, 0x80...0x8F)
        default: throw JSON.ParsingError(.invalidUTF8, at: at)
        }
        guard end - at >= length, second.contains(text[at + 1]) else {
            throw JSON.ParsingError(.invalidUTF8, at: at)
        }
        for offset in 2..<max(length, 2) where text[at + offset] & 0xC0 != 0x80 {
            throw JSON.ParsingError(.invalidUTF8, at: at)
        }
        at += length
    }

    /// Reads one escape from its backslash on and appends what it stands for.
    private mutating func escape() throws(JSON.ParsingError) {
        let start = at
        guard end - at >= 2 else { throw JSON.ParsingError(.endOfText, at: end) }
        at += 2
        switch text[start + 1] {
        case UInt8(ascii: "\""): unescaped.append(UInt8(ascii: "\""))
        case UInt8(ascii: "\\"): unescaped.append(UInt8(ascii: "\\"))
        case UInt8(ascii: "/"): unescaped.append(UInt8(ascii: "/"))
        case UInt8(ascii: "b"): unescaped.append(0x08)
        case UInt8(ascii: "f"): unescaped.append(0x0C)
        case UInt8(ascii: "n"): unescaped.append(0x0A)
        case UInt8(ascii: "r"): unescaped.append(0x0D)
        case UInt8(ascii: "t"): unescaped.append(0x09)
        case UInt8(ascii: "u"): try unicodeEscape(from: start)
        default: throw JSON.ParsingError(.invalidEscape, at: start)
        }
    }

    private mutating func unicodeEscape(from start: Int) throws(JSON.ParsingError) {
        var code = try fourHexDigits()
        if code & 0xF800 == 0xD800 {
            guard code < 0xDC00, end - at >= 2, text[at] == UInt8(ascii: "\\"),
                text[at + 1] == UInt8(ascii: "u")
            else { throw JSON.ParsingError(.loneSurrogate, at: start) }
            at += 2
            let low = try fourHexDigits()
            guard low & 0xFC00 == 0xDC00 else {
                throw JSON.ParsingError(.loneSurrogate, at: start)
            }
            code = 0x10000 + (code & 0x3FF) << 10 + low & 0x3FF
        }
        guard code != 0 else { throw JSON.ParsingError(.nullCharacter, at: start) }
        guard let scalar = Unicode.Scalar(code) else {
            throw JSON.ParsingError(.loneSurrogate, at: start)
        }
        unescaped.append(contentsOf: UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter)
    }

    private mutating func fourHexDigits() throws(JSON.ParsingError) -> UInt32 {
        guard end - at >= 4 else { throw JSON.ParsingError(.endOfText, at: end) }
        var code: UInt32 = 0
        for _ in 0..<4 {
            let digit: UInt8
            switch text[at] {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): digit = text[at] - UInt8(ascii: "0")
            case UInt8(ascii: "a")...UInt8(ascii: "f"): digit = text[at] - UInt8(ascii: "a") + 10
            case UInt8(ascii: "A")...UInt8(ascii: "F"): digit = text[at] - UInt8(ascii: "A") + 10
            default: throw JSON.ParsingError(.invalidEscape, at: at)
            }
            code = code << 4 | UInt32(digit)
            at += 1
        }
        return code
    }
}
