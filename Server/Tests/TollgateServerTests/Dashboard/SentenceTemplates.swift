import AppStoreAPI
import Foundation

/// The templates of sentences in Swift files, as `Sentence` makes them: `{1} was voided at {2}`.
enum SentenceTemplates {
    /// Where the sentences of pages are: of the question Why, of the checks of Doctor and of a catalog.
    private static let places = [
        "Sources/TollgateCore/Explanation",
        "Sources/TollgateCore/Purchase/GooglePlay/GooglePlayRecord+Lines.swift",
        "Server/Sources/StripeConnector/Reads/StripeOpinions.swift",
        "Server/Sources/TollgateService/Operations/Finding.swift",
        "Server/Sources/TollgateService/Operations/CheckUp.swift",
        "Server/Sources/TollgateCLI/Doctor",
        "Sources/TollgateCore/Catalog/Catalog+AppValidation.swift",
        "Sources/TollgateCore/Catalog/Catalog+OfferingValidation.swift",
        "Sources/TollgateCore/Catalog/Catalog+Validation.swift",
        "Sources/TollgateCore/Catalog/CatalogReport.swift",
        "Server/Sources/TollgateService/Catalog/CatalogReader.swift",
        "Server/Sources/TollgateService/Catalog/NearMiss.swift",
        "Server/Sources/TollgateService/Catalog/YAMLReading.swift",
        "Server/Sources/TollgateService/Catalog/YAMLReading+Catalog.swift",
        "Server/Sources/TollgateService/Catalog/YAMLReading+Offerings.swift",
        "Server/Sources/TollgateService/Alerts/AlertTrial.swift",
        "Server/Sources/Reports/Reconciliation/Reissue.swift",
        "Server/Sources/StrictJSON/ParsingError.swift",
    ]
    /// Where sentences are beside other texts: outcomes of webhooks and emails, reasons of parked
    /// messages, second opinions, differences from reports, notes of reports, details of the audit log.
    private static let mixedPlaces = [
        "Server/Sources/AppStoreConnector", "Server/Sources/GooglePlayConnector",
        "Server/Sources/StripeConnector/Books", "Server/Sources/StripeConnector/Messages",
        "Server/Sources/SecondOpinion", "Server/Sources/Storage/Evidence",
        "Server/Sources/Storage/Letters", "Server/Sources/TollgateService/Deliveries",
        "Server/Sources/TollgateService/Letters/Letters.swift",
        "Server/Sources/TollgateServer/Connections", "Server/Sources/Reports",
        "Server/Sources/TollgateService/Reports", "Server/Sources/TollgateServer/Dashboard",
    ]
    /// How the statements begin there that hold sentences of pages.
    private static let markers = [
        ".parked(", "WebhookRefused(reason:", "MailFailed(", "let sentence =", ".unanswered(",
        ".drop(", ".giveUp(", "disabled = ", "byRequest = ", "outcome =", "outcome: ", ".sent, ",
        "notes.append(", "Finding(", "Difference(", ".init(.", "detail =", "detail:", "note(.",
        "Opinion(", "another =", "reason =", "why =", "return (\"", "Deed(",
    ]
    /// The command `doctor` is in English, and it alone judges settings.
    private static let english = "DoctorCommand.swift"
    /// Texts with spaces that are no sentences: a date's form, a line of the log, names of places.
    private static let others: Set = [
        "EEE, dd MMM yyyy HH:mm:ss 'GMT'", "one without a host", "an address without a host",
        "Stripe's entitlements differ from the catalog's; the catalog decides",
        "a webhook endpoint was disabled", "DAILY {1}", "FISCAL {1} ZZ",
        "This extension was sent before, and its result is not known. Look at the renewal date, and open the page anew to extend it once more.",
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
        for place in mixedPlaces {
            for file in try files(in: place) {
                for statement in statements(in: try String(contentsOfFile: file, encoding: .utf8)) {
                    found.formUnion(literals(in: statement))
                }
            }
        }
        // What is parked of the App Store: data that is signed and cannot be read.
        found.formUnion(
            AppStore.VerificationError.Rule.allCases
                .filter { [.encoding, .json, .date].contains($0.code) }.map(\.sentence)
        )
        found.insert("{1}, byte {2}: {3}")
        return found.filter(isSentence).subtracting(others)
    }

    /// The statements that begin with a marker, each from there to the end of its last line.
    static func statements(in source: String) -> [String] {
        let lines = source.split(separator: "\n", omittingEmptySubsequences: false)
        func indent(_ line: Substring) -> Int { line.prefix { $0 == " " }.count }
        return lines.indices.compactMap { index in
            let line = lines[index]
            let starts = markers.compactMap { line.firstRange(of: $0)?.lowerBound }
            guard let start = starts.min(), !line.dropFirst(indent(line)).hasPrefix("//") else {
                return nil
            }
            let rest = lines[(index + 1)...].prefix { indent($0) > indent(line) }
            return ([line[start...]] + rest).joined(separator: "\n")
        }
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
        return [".", "{1} ({2})"].contains(text)
            || (text.contains(" ") && words.contains(/[A-Za-z]{2}/))
    }

    /// The string literals of a file, with a number in braces for each interpolation; literals that
    /// are added together are one.
    static func literals(in source: String) -> [String] {
        var found: [String] = []
        let joined = source.replacing(/"\s*\+\s*"/, with: "")
        var rest = joined[...]
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
