internal import TollgateAPI
internal import TollgateCore

extension Words {
    /// A sentence of the engine or of a check in this language; in English where it is in none.
    func said(_ sentence: Sentence, _ formats: Formats) -> String {
        let isForeign = isForeign(sentence)
        return sentence.parts.map { part in
            part.filled(isForeign ? nil : table[part.template]) { value in
                switch value {
                case .text(let text): text
                case .instant(let instant): formats.moment(instant)
                case .word(let word, let kind):
                    isForeign ? word : table["\(kind)_\(word.lowercased())"] ?? word
                case .list(let sentences): together(sentences.map { said($0, formats) })
                }
            }
        }
        .joined()
    }

    private func together(_ sentences: [String]) -> String {
        sentences.dropFirst().reduce(sentences.first ?? "") { before, next in
            self("sentences_together", ["before": before, "next": next])
        }
    }

    /// Returns `true` where a sentence is in the words of somebody else, or has no translation.
    func isForeign(_ sentence: Sentence) -> Bool {
        sentence.parts.contains { table[$0.template] == nil }
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
        var cell = Cell(words.said(sentence, formats))
        cell.isLong = true
        cell.isEnglish = words.isForeign(sentence)
        return cell
    }
}
