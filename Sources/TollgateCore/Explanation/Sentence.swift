/// An English sentence that keeps its parts, so that a page can say it in another language.
///
/// `"\(product) was voided at \(instant)"` has the template `{1} was voided at {2}`, by which a catalog
/// of another language has it.
public struct Sentence: Sendable {
    /// What stands in a gap of a template.
    public enum Value: Hashable, Sendable {
        /// A name, an id or a number; the same in every language.
        case text(String)
        case instant(Instant)
        /// A word of a store or of ours, with the kind of words that it is one of.
        case word(String, kind: String)
        /// Sentences beside each other.
        case list([Sentence])
    }

    /// A template with what fills its gaps.
    public struct Part: Hashable, Sendable {
        /// The English text with a number in braces for each gap: `{1} was voided at {2}`.
        public fileprivate(set) var template = ""
        public fileprivate(set) var values: [Value] = []
    }

    public private(set) var parts: [Part]

    /// A sentence of somebody else, such as a store; it has no template of ours.
    public init(quoting text: String) { self = "\(text)" }

    public static func += (sentence: inout Sentence, more: Sentence) {
        sentence.parts += more.parts
    }

    /// The sentence in English.
    public var text: String {
        parts.map { part in
            part.filled { value in
                switch value {
                case .text(let text), .word(let text, _): text
                case .instant(let instant): "\(instant)"
                case .list(let sentences): sentences.map(\.text).joined(separator: "; ")
                }
            }
        }
        .joined()
    }
}

extension Sentence.Part {
    /// The text with its gaps filled.
    ///
    /// - Parameters:
    ///   - template: the same in another language, which may order the gaps otherwise.
    ///   - text: how a value is written.
    public func filled(
        _ template: String? = nil,
        _ text: (Sentence.Value) -> String
    ) -> String {
        var filled = ""
        // In one pass, so that nothing that was filled in is taken for a gap.
        var rest = (template ?? self.template)[...]
        while let open = rest.firstIndex(of: "{"), let close = rest[open...].firstIndex(of: "}") {
            filled += rest[..<open]
            let number = Int(rest[rest.index(after: open)..<close])
            if let number, values.indices.contains(number - 1) {
                filled += text(values[number - 1])
            }
            rest = rest[rest.index(after: close)...]
        }
        return filled + rest
    }
}

/// Sentences are equal where they read the same.
extension Sentence: Hashable {
    public static func == (left: Sentence, right: Sentence) -> Bool { left.text == right.text }

    public func hash(into hasher: inout Hasher) { hasher.combine(text) }
}

extension Sentence: CustomStringConvertible {
    public var description: String { text }
}

extension Sentence: ExpressibleByStringInterpolation {
    public struct StringInterpolation: StringInterpolationProtocol {
        fileprivate var part = Part()

        public init(literalCapacity: Int, interpolationCount: Int) {}

        public mutating func appendLiteral(_ literal: String) { part.template += literal }

        public mutating func appendInterpolation<Value>(_ value: Value) {
            append(.text(String(describing: value)))
        }

        public mutating func appendInterpolation(_ instant: Instant) { append(.instant(instant)) }

        public mutating func appendInterpolation(_ sentences: [Sentence]) {
            append(.list(sentences))
        }

        /// - Parameter kind: the kind of words that it is one of: `stripe_status`.
        public mutating func appendInterpolation(_ word: String, of kind: String) {
            append(.word(word, kind: kind))
        }

        private mutating func append(_ value: Sentence.Value) {
            part.values.append(value)
            part.template += "{\(part.values.count)}"
        }
    }

    public init(stringLiteral text: String) {
        var part = Part()
        part.template = text
        parts = [part]
    }

    public init(stringInterpolation: StringInterpolation) { parts = [stringInterpolation.part] }
}

extension Sentence: Codable {
    /// Reads the English text.
    public init(from decoder: any Decoder) throws {
        self.init(quoting: try decoder.singleValueContainer().decode(String.self))
    }

    /// Writes the English text.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text)
    }
}
