internal import Foundation
internal import TollgateService

/// A language of the dashboard.
enum Language: String, CaseIterable, Sendable {
    case english = "en"
    case japanese = "ja"

    /// What it is called by those who speak it.
    var name: String {
        switch self {
        case .english: "English"
        case .japanese: "日本語"
        }
    }

    /// The one that a browser would rather have; English where it has neither.
    init(accepting header: String?) {
        self =
            preferred(header) { Language(rawValue: String($0.lowercased().prefix { $0 != "-" })) }
            ?? .english
    }
}

/// The choice that a browser would rather have, by its `Accept-Language` (RFC 9110 §12.5.4).
///
/// - Parameter choice: the choice for a language tag; `nil`: there is none.
func preferred<Choice>(_ header: String?, _ choice: (String) -> Choice?) -> Choice? {
    var best: (choice: Choice, quality: Double)?
    for part in (header ?? "").split(separator: ",").prefix(32) {
        let pieces = part.split(separator: ";").map {
            $0.trimmingCharacters(in: .whitespaces)
        }
        guard let found = pieces.first.flatMap(choice) else { continue }
        var quality = 1.0
        for piece in pieces.dropFirst() where piece.hasPrefix("q=") {
            quality = Double(piece.dropFirst(2)) ?? 0
        }
        if quality > best?.quality ?? 0 { best = (found, quality) }
    }
    return best?.choice
}

/// The texts of all pages in one language, by key.
///
/// The languages that only customers have hold only the texts that customers see.
struct Words: Sendable {
    let table: [String: String]
    /// The templates of sentences, those with the longest text first.
    let templates: [SentenceTemplate]

    /// The text of a key; the key itself where there is none, which a test rules out.
    subscript(_ key: String) -> String { table[key] ?? key }

    /// A text with what its braces name filled in.
    func callAsFunction(_ key: String, _ values: KeyValuePairs<String, String>) -> String {
        // In one pass, so that nothing that was filled in is taken for a brace of ours.
        var text = ""
        var rest = self[key][...]
        while let open = rest.firstIndex(of: "{"),
            let close = rest[open...].firstIndex(of: "}")
        {
            text += rest[..<open]
            let name = String(rest[rest.index(after: open)..<close])
            text += values.first { $0.key == name }?.value ?? ""
            rest = rest[rest.index(after: close)...]
        }
        return text + rest
    }

    /// The text of a word that a record holds; the word itself where it is none of ours.
    func of(_ kind: String, _ word: String) -> String { table["\(kind)_\(word)"] ?? word }

    static func of(_ language: Language) -> Words {
        switch language {
        case .english: english
        case .japanese: japanese
        }
    }

    static func of(_ language: CustomerLanguage) -> Words {
        switch language {
        case .english: english
        case .german: german
        case .spanish: spanish
        case .french: french
        case .japanese: japanese
        case .korean: korean
        case .chinese: chinese
        }
    }

    private static let english = Words(PackageResources.dashboard_en_txt)
    private static let german = Words(PackageResources.customer_de_txt)
    private static let spanish = Words(PackageResources.customer_es_txt)
    private static let french = Words(PackageResources.customer_fr_txt)
    private static let japanese = Words(PackageResources.dashboard_ja_txt)
    private static let korean = Words(PackageResources.customer_ko_txt)
    private static let chinese = Words(PackageResources.customer_zh_txt)

    /// Reads lines of `key = text`; empty ones and those that begin with `#` are left out.
    private init(_ bytes: [UInt8]) {
        var table: [String: String] = [:]
        for line in String(decoding: bytes, as: UTF8.self).split(separator: "\n") {
            guard !line.hasPrefix("#"), let sign = line.firstRange(of: " = ") else { continue }
            table[String(line[..<sign.lowerBound])] = String(line[sign.upperBound...])
        }
        self.table = table
        templates = table.compactMap { SentenceTemplate($0, $1) }
            .sorted { ($0.weight, $0.text) > ($1.weight, $1.text) }
    }
}
