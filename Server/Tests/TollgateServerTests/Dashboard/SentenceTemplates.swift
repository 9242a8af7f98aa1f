import Foundation

/// The templates of sentences in Swift files, as `Sentence` makes them: `{1} was voided at {2}`.
enum SentenceTemplates {
    /// Where the sentences of pages are: of the question Why, and of the checks of Doctor.
    private static let places = [
        "Sources/TollgateCore/Explanation",
        "Sources/TollgateCore/Purchase/GooglePlay/GooglePlayRecord+Lines.swift",
        "Server/Sources/StripeConnector/Reads/StripeOpinions.swift",
        "Server/Sources/TollgateService/Operations/Finding.swift",
        "Server/Sources/TollgateService/Operations/CheckUp.swift",
        "Server/Sources/TollgateCLI/Doctor",
    ]
    /// The command `doctor` is in English, and it alone judges settings.
    private static let english = "DoctorCommand.swift"
    /// Texts with spaces that are no sentences: a date's form, a line of the log, names of places.
    private static let others: Set = [
        "EEE, dd MMM yyyy HH:mm:ss 'GMT'", "one without a host", "an address without a host",
        "Stripe's entitlements differ from the catalog's; the catalog decides",
    ]

    static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appendingPathComponent("../../../..").standardizedFileURL

    static func all() throws -> Set<String> {
        var found: Set<String> = []
        for place in places {
            for file in try files(in: place) where !file.hasSuffix("/\(english)") {
                found.formUnion(literals(in: try String(contentsOfFile: file, encoding: .utf8)))
            }
        }
        return found.filter(isSentence).subtracting(others)
    }

    /// The Swift files of a folder, or the file itself.
    static func files(in place: String) throws -> [String] {
        let path = root.appendingPathComponent(place).path
        guard !path.hasSuffix(".swift") else { return [path] }
        return try FileManager.default.subpathsOfDirectory(atPath: path)
            .filter { $0.hasSuffix(".swift") }.map { "\(path)/\($0)" }
    }

    /// Returns `true` for a text with a space and a word, and for the full stop of a store's message.
    static func isSentence(_ text: String) -> Bool {
        // The key of a word: `happened_Start Offer Code`.
        guard text.prefixMatch(of: /[a-z]+_/) == nil else { return false }
        let words = text.replacing(/\{\d+\}/, with: "")
        return text == "." || (text.contains(" ") && words.contains(/[A-Za-z]{2}/))
    }

    /// The string literals of a file, with a number in braces for each interpolation.
    static func literals(in source: String) -> [String] {
        var found: [String] = []
        var rest = source[...]
        while let next = rest.firstIndex(where: { $0 == "\"" || $0 == "/" }) {
            rest = rest[next...]
            if rest.hasPrefix("//") {
                rest = rest[(rest.firstIndex(of: "\n") ?? rest.endIndex)...]
            } else if rest.removeFirst() == "\"" {
                found.append(literal(&rest))
            }
        }
        return found
    }

    /// Reads a literal behind its opening quote, and its closing one.
    private static func literal(_ rest: inout Substring) -> String {
        var text = ""
        var gaps = 0
        while let character = rest.popFirst(), character != "\"" {
            guard character == "\\" else {
                text.append(character)
                continue
            }
            guard let escaped = rest.popFirst(), escaped == "(" else { continue }
            skipInterpolation(&rest)
            gaps += 1
            text += "{\(gaps)}"
        }
        return text
    }

    /// Reads an interpolation behind its opening parenthesis, and its closing one.
    private static func skipInterpolation(_ rest: inout Substring) {
        var depth = 1
        while depth > 0, let character = rest.popFirst() {
            switch character {
            case "(": depth += 1
            case ")": depth -= 1
            case "\"": _ = literal(&rest)
            default: break
            }
        }
    }
}
