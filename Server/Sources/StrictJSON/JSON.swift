/// A JSON text that was read strictly, or one value inside of it.
///
/// Reading follows RFC 8259 to the letter and refuses what parsers disagree on: names that occur
/// twice, a byte order mark, invalid UTF-8, half surrogates, U+0000. The bytes are kept as they
/// came; a value is a place in them, so a string or number costs only when it is asked for.
///
/// ```swift
/// let event = try JSON(bytes)
/// let customer = event["data"]?["object"]?["customer"]?.string
/// ```
public struct JSON: Sendable {
    /// How many arrays and objects may stand inside each other.
    public static let maximumDepth = 64
    /// How long a text may be, in bytes.
    public static let maximumLength = 16 << 20

    let document: Document
    let index: Int

    /// Reads a whole text.
    public init(_ text: [UInt8]) throws(ParsingError) {
        document = try Document(text)
        index = 0
    }

    init(document: Document, index: Int) {
        self.document = document
        self.index = index
    }

    /// The kinds of values.
    public enum Kind: UInt8, Hashable, Sendable {
        case null, `false`, `true`, number, string, array, object
    }

    /// What kind of value this is.
    public var kind: Kind { document.nodes[index].kind }

    /// Whether this is `null`.
    public var isNull: Bool { kind == .null }

    /// The value of this name, if this is an object that has it (it may be `null`).
    public subscript(name: StaticString) -> JSON? {
        guard
            let found = document.member(
                of: index,
                UnsafeRawBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount)
            )
        else { return nil }
        return JSON(document: document, index: found)
    }

    /// The value of a name that is known only at run time.
    public subscript(named name: String) -> JSON? {
        var name = name
        guard
            let found = name.withUTF8({ document.member(of: index, UnsafeRawBufferPointer($0)) })
        else { return nil }
        return JSON(document: document, index: found)
    }

    /// The string, unescaped; nil if this is no string.
    public var string: String? {
        guard kind == .string else { return nil }
        return document.withContent(index) { String(decoding: $0, as: UTF8.self) }
    }

    /// The bytes of the string, unescaped, in UTF-8; nil if this is no string.
    public var utf8: [UInt8]? {
        guard kind == .string else { return nil }
        return document.withContent(index) { [UInt8]($0) }
    }

    /// Lends the bytes of the string, unescaped; nil if this is no string.
    public func withUTF8<Result>(
        _ body: (UnsafeRawBufferPointer) throws -> Result
    ) rethrows -> Result? {
        guard kind == .string else { return nil }
        return try document.withContent(index, body)
    }

    /// Whether this is a string with exactly this content.
    public func isString(_ other: StaticString) -> Bool {
        guard kind == .string else { return false }
        return document.withContent(index) {
            $0.elementsEqual(
                UnsafeRawBufferPointer(start: other.utf8Start, count: other.utf8CodeUnitCount)
            )
        }
    }

    /// The number, if it is written as an integer and fits; `1.0`, `1e3` and 2⁶³ do not.
    public var int64: Int64? {
        guard kind == .number else { return nil }
        return document.withContent(index, Self.integer)
    }

    /// The number as `Int`, by the same rule as ``int64``.
    public var int: Int? { int64.flatMap { Int(exactly: $0) } }

    /// The nearest `Double`; never infinite.
    ///
    /// Not for money.
    public var double: Double? {
        guard let number, let value = Double(number), value.isFinite else { return nil }
        return value
    }

    /// The text of the number, exactly as written.
    public var number: String? {
        guard kind == .number else { return nil }
        return document.withContent(index) { String(decoding: $0, as: UTF8.self) }
    }

    /// The truth value; nil if this is neither `true` nor `false`.
    public var bool: Bool? {
        switch kind {
        case .true: true
        case .false: false
        default: nil
        }
    }

    /// How many elements or members there are; nil if this is neither array nor object.
    public var count: Int? {
        switch kind {
        case .array, .object: document.nodes[index].count
        default: nil
        }
    }

    /// The bytes of this value as they stand in the text, with quotes or brackets.
    public var rawBytes: ArraySlice<UInt8> {
        let node = document.nodes[index]
        let quote = node.kind == .string ? 1 : 0
        return document.text[Int(node.start) - quote..<Int(node.end) + quote]
    }

    static func integer(_ digits: UnsafeRawBufferPointer) -> Int64? {
        var at = 0
        var isNegative = false
        if digits.first == UInt8(ascii: "-") {
            isNegative = true
            at = 1
        }
        // Nineteen digits fit into UInt64; a JSON number has no leading zeros.
        guard digits.count - at <= 19 else { return nil }
        var magnitude: UInt64 = 0
        while at < digits.count {
            let digit = digits[at] &- UInt8(ascii: "0")
            guard digit <= 9 else { return nil }
            magnitude = magnitude &* 10 &+ UInt64(digit)
            at += 1
        }
        if isNegative {
            return magnitude <= 1 << 63 ? Int64(truncatingIfNeeded: 0 &- magnitude) : nil
        }
        return Int64(exactly: magnitude)
    }
}

/// Two values are equal if the same bytes stand for them.
extension JSON: Hashable {
    public static func == (left: JSON, right: JSON) -> Bool { left.rawBytes == right.rawBytes }

    public func hash(into hasher: inout Hasher) { rawBytes.hash(into: &hasher) }
}

/// Says the kind only, so that no content ends up in a log.
extension JSON: CustomStringConvertible, CustomReflectable {
    public var description: String { "JSON \(kind)" }
    public var customMirror: Mirror { Mirror(self, children: []) }
}
