internal import Foundation

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

    /// The one that a browser would rather have (RFC 9110 §12.5.4); English where it has neither.
    init(accepting header: String?) {
        var best = (language: Language.english, quality: 0.0)
        for part in (header ?? "").split(separator: ",").prefix(32) {
            let pieces = part.split(separator: ";").map {
                $0.trimmingCharacters(in: .whitespaces)
            }
            let code = (pieces.first ?? "").lowercased().prefix { $0 != "-" }
            guard let language = Language(rawValue: String(code)) else { continue }
            var quality = 1.0
            for piece in pieces.dropFirst() where piece.hasPrefix("q=") {
                quality = Double(piece.dropFirst(2)) ?? 0
            }
            if quality > best.quality { best = (language, quality) }
        }
        self = best.language
    }
}

/// The texts of the dashboard in one language, by key.
struct Words: Sendable {
    let language: Language
    let table: [String: String]

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

    /// Every table, read once.
    static let all: [Language: Words] = [
        .english: Words(language: .english, bytes: PackageResources.dashboard_en_txt),
        .japanese: Words(language: .japanese, bytes: PackageResources.dashboard_ja_txt),
    ]

    static func of(_ language: Language) -> Words {
        all[language] ?? Words(language: language, table: [:])
    }

    private init(language: Language, table: [String: String]) {
        self.language = language
        self.table = table
    }

    /// Reads lines of `key = text`; empty ones and those that begin with `#` are left out.
    init(language: Language, bytes: [UInt8]) {
        var table: [String: String] = [:]
        for line in String(decoding: bytes, as: UTF8.self).split(separator: "\n") {
            guard !line.hasPrefix("#"), let sign = line.firstRange(of: " = ") else { continue }
            table[String(line[..<sign.lowerBound])] = String(line[sign.upperBound...])
        }
        self.init(language: language, table: table)
    }
}
