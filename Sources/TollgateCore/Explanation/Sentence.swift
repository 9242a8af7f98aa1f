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

    /// A sentence by its template and what fills its gaps.
    public init(_ template: String, _ values: [Value]) {
        parts = [Part(template: template, values: values)]
    }

    public static func += (sentence: inout Sentence, more: Sentence) {
        sentence.parts += more.parts
    }

    /// The sentence in English.
    public var text: String {
        parts.flatMap { $0.pieces() }.map { piece in
            switch piece {
            case .text(let text), .gap(.text(let text), _), .gap(.word(let text, _), _): text
            case .gap(.instant(let instant), _): "\(instant)"
            case .gap(.list(let sentences), _): sentences.map(\.text).joined(separator: "; ")
            }
        }
        .joined()
    }
}

extension Sentence.Part {
    /// A piece of a sentence: text of the template, or what fills a gap.
    public enum Piece: Hashable, Sendable {
        case text(String)
        /// - Parameter kind: the kind of words in the gap, where a template names it: `{2:quoted}`.
        case gap(Sentence.Value, kind: String?)
    }

    /// The template with its gaps filled.
    ///
    /// - Parameter template: the same in another language, which may order the gaps otherwise.
    public func pieces(_ template: String? = nil) -> [Piece] {
        var pieces: [Piece] = []
        // In one pass, so that nothing that was filled in is taken for a gap.
        var rest = (template ?? self.template)[...]
        while let open = rest.firstIndex(of: "{"), let close = rest[open...].firstIndex(of: "}") {
            let gap = rest[rest.index(after: open)..<close].split(separator: ":", maxSplits: 1)
            if let number = gap.first.flatMap({ Int($0) }), values.indices.contains(number - 1) {
                pieces.append(.text(String(rest[..<open])))
                let kind = gap.count > 1 ? String(gap[1]) : nil
                pieces.append(.gap(values[number - 1], kind: kind))
            } else {
                pieces.append(.text(String(rest[...close])))
            }
            rest = rest[rest.index(after: close)...]
        }
        return pieces + [.text(String(rest))]
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
