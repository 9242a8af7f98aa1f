internal import Foundation
internal import TollgateAPI
internal import TollgateCore

/// A text of a page, in pieces: what a store wrote is English on every page.
struct Said {
    struct Piece: Hashable {
        var text: String
        var isEnglish = false
    }

    private(set) var pieces: [Piece]

    init(_ text: String, isEnglish: Bool = false) {
        pieces = [Piece(text: text, isEnglish: isEnglish)]
    }

    init(_ parts: [Said], separator: String = "") {
        pieces = []
        for (index, part) in parts.enumerated() {
            for piece in (index == 0 ? [] : [Piece(text: separator)]) + part.pieces {
                if let last = pieces.last, last.isEnglish == piece.isEnglish {
                    pieces[pieces.count - 1].text += piece.text
                } else if !piece.text.isEmpty {
                    pieces.append(piece)
                }
            }
        }
    }

    var text: String { pieces.map(\.text).joined() }

    var models: [Model] { pieces.map { ["piece": $0.text, "isEnglish": $0.isEnglish] } }
}

extension Words {
    /// A sentence of ours in this language; in English where it is in none.
    func said(_ sentence: Sentence, _ formats: Formats) -> Said {
        let isForeign = isForeign(sentence)
        // A message of ours that was passed on as somebody's words.
        if isForeign {
            let known = read(sentence.text)
            if !self.isForeign(known) { return said(known, formats) }
        }
        let parts = sentence.parts.flatMap { part in
            part.pieces(isForeign ? nil : table[part.template]).map { piece in
                // Beside English text, the English word.
                if isForeign, case .gap(.word(let word, _), _) = piece { return Said(word) }
                return said(piece, formats)
            }
        }
        return isForeign ? Said(Said(parts).text, isEnglish: true) : Said(parts)
    }

    private func said(_ piece: Sentence.Part.Piece, _ formats: Formats) -> Said {
        switch piece {
        case .text(let text): Said(text)
        case .gap(.text(let text), "quoted"): Said(text, isEnglish: true)
        case .gap(.text(let text), "sentence"): said(read(text), formats)
        case .gap(.text(let text), let kind?), .gap(.word(let text, let kind), _):
            Said(word(text, of: kind))
        case .gap(.text(let text), nil): Said(formats.readable(text))
        case .gap(.instant(let instant), _): Said(formats.moment(instant))
        case .gap(.list(let sentences), _):
            Said(sentences.map { said($0, formats) }, separator: between)
        }
    }

    private func word(_ word: String, of kind: String) -> String {
        table["\(kind)_\(word)"] ?? table["\(kind)_\(word.lowercased())"] ?? word
    }

    /// What stands between two sentences of a list.
    private var between: String { self("sentences_together", ["before": "", "next": ""]) }

    /// Returns `true` where a sentence is in the words of somebody else, or has no translation.
    private func isForeign(_ sentence: Sentence) -> Bool {
        sentence.parts.contains { table[$0.template] == nil }
    }

    /// A sentence that was kept as English text, by the template of which it was made.
    ///
    /// A text that no template fits, or that is longer than any sentence of ours, is taken for the words of
    /// somebody else.
    func read(_ text: String) -> Sentence {
        guard text.utf8.count <= 1_000 else { return Sentence(quoting: text) }
        for template in templates where !template.fitsAnything {
            guard let gaps = template.gaps(in: text) else { continue }
            let values = gaps.enumerated().map { index, gap -> Sentence.Value in
                guard !template.quoted.contains(index + 1) else { return .text(gap) }
                let sentence = read(gap)
                return isForeign(sentence) ? .text(gap) : .list([sentence])
            }
            // `{1} ({2})` fits much; it joins to a sentence of ours what explains it.
            if !template.hasWords, case .text? = values.first { continue }
            return Sentence(template.text, values)
        }
        return Sentence(quoting: text)
    }
}

/// A template of sentences, to find what fills its gaps in a text.
struct SentenceTemplate: Sendable {
    let text: String
    /// The numbers of the gaps in which a store's words stand.
    let quoted: Set<Int>
    /// What is before, between and behind the gaps.
    private let literals: [String]

    /// - Returns: `nil` for the key of a text that is no sentence: `nav_customers`.
    init?(_ key: String, _ translation: String) {
        let literals = key.split(separator: /\{\d\}/, omittingEmptySubsequences: false).map(
            String.init
        )
        guard key.contains(" ") || key == "." else { return nil }
        (text, self.literals) = (key, literals)
        quoted = Set(translation.matches(of: /\{(\d):quoted\}/).compactMap { Int($0.1) })
    }

    /// Whether it begins and ends with a gap and has little between them: `{1} to {2}`.
    var fitsAnything: Bool {
        hasWords && weight <= 4 && literals.first == "" && literals.last == ""
    }

    var hasWords: Bool { literals.contains { $0.contains(where: \.isLetter) } }

    /// How much of a text has to be as the template has it.
    var weight: Int { literals.reduce(0) { $0 + $1.count } }

    /// The texts in the gaps, of which none is empty; `nil` where a text does not fit.
    func gaps(in text: String) -> [String]? {
        guard let first = literals.first, let last = literals.last, text.hasPrefix(first),
            text.hasSuffix(last)
        else { return nil }
        guard literals.count > 1 else { return text == first ? [] : nil }
        guard text.count > first.count + last.count else { return nil }
        var rest = text.dropFirst(first.count).dropLast(last.count)
        var gaps: [String] = []
        for literal in literals.dropFirst().dropLast() {
            guard let place = rest.dropFirst().firstRange(of: literal) else { return nil }
            gaps.append(String(rest[..<place.lowerBound]))
            rest = rest[place.upperBound...]
        }
        gaps.append(String(rest))
        // A parenthesis opens and closes within one gap.
        let areWhole = gaps.allSatisfy { gap in
            !gap.isEmpty && gap.count { $0 == "(" } == gap.count { $0 == ")" }
        }
        return areWhole ? gaps : nil
    }
}

extension Words {
    /// Codes whose message quotes a store.
    private static let quoting: Set = ["app_store_refused", "sandbox_refused"]

    /// The message of a refusal: by its code and parameter in a language other than English.
    ///
    /// - Returns: `nil` where the heading of the code says it all.
    func said(_ error: APIError, in language: Language) -> (text: String, isEnglish: Bool)? {
        let code = error.code.rawValue
        let english = (error.message, true)
        guard language != .english, !Self.quoting.contains(code) else { return english }
        let known =
            table["refused_\(code)_\(error.param ?? "")"] ?? table["refused_\(code)"]
        if let known { return (known, false) }
        return table["error_\(code)"] == nil ? english : nil
    }
}

extension Cell {
    static func said(_ sentence: Sentence, _ words: Words, _ formats: Formats) -> Cell {
        let said = words.said(sentence, formats)
        var cell = Cell(said.text)
        cell.said = said
        cell.isLong = true
        return cell
    }
}

extension DashboardPages {
    /// A sentence that was kept as English text.
    func read(_ text: String) -> Said { words.said(words.read(text), formats) }

    /// The same as a cell.
    func readCell(_ text: String) -> Cell { Cell.said(words.read(text), words, formats) }
}
