extension JSON {
    /// Why a text was refused.
    ///
    /// It names the rule and the place, never what stood there.
    public struct ParsingError: Error, Hashable, Sendable, CustomStringConvertible {
        /// The rule that was broken.
        public let rule: Rule
        /// Where, counted in bytes from the start of the text.
        public let offset: Int

        /// An error at a place of the text.
        public init(_ rule: Rule, at offset: Int) {
            self.rule = rule
            self.offset = offset
        }

        public var description: String { "\(rule.sentence) (byte \(offset))" }
    }

    /// The rules of RFC 8259, and those we add because parsers disagree where it is silent.
    public enum Rule: String, Hashable, Sendable, CaseIterable {
        /// The text ends inside a value.
        case endOfText
        /// A byte that no value, name, comma or bracket can begin with here.
        case unexpectedByte
        /// Something follows the value.
        case trailingBytes
        /// The text begins with a byte order mark (RFC 8259, section 8.1 forbids to write one).
        case byteOrderMark
        /// Bytes that are no UTF-8: overlong forms, surrogates, beyond U+10FFFF, cut sequences.
        case invalidUTF8
        /// A control character stands unescaped in a string.
        case controlCharacter
        /// A backslash with something after it that is no escape.
        case invalidEscape
        /// Half of a UTF-16 pair; most databases refuse it.
        case loneSurrogate
        /// U+0000, which PostgreSQL cannot keep in text.
        case nullCharacter
        /// A name stands twice in one object; parsers disagree which of the two counts.
        case duplicateName
        /// More than ``JSON/maximumDepth`` arrays and objects inside each other.
        case tooDeep
        /// A number that RFC 8259 does not know: leading zeros, a lone minus, `.5`, `1.`, NaN.
        case invalidNumber
        /// A number longer than 128 characters, or with an exponent beyond ±308.
        case numberOutOfRange
        /// More than ``JSON/maximumLength`` bytes.
        case tooLong

        /// The rule in words.
        public var sentence: String {
            switch self {
            case .endOfText: "the JSON text ends too early"
            case .unexpectedByte: "an unexpected byte in JSON"
            case .trailingBytes: "something follows the JSON value"
            case .byteOrderMark: "JSON begins with a byte order mark"
            case .invalidUTF8: "JSON is not valid UTF-8"
            case .controlCharacter: "a control character in a JSON string"
            case .invalidEscape: "an invalid escape in a JSON string"
            case .loneSurrogate: "a lone surrogate in a JSON string"
            case .nullCharacter: "the character U+0000 in a JSON string"
            case .duplicateName: "a name occurs twice in a JSON object"
            case .tooDeep: "JSON is nested too deeply"
            case .invalidNumber: "an invalid number in JSON"
            case .numberOutOfRange: "a JSON number is too large or too long"
            case .tooLong: "the JSON text is too long"
            }
        }
    }
}
