import Foundation
import Testing

/// What only a programmer understands, and no answer may hold.
///
/// `plain_words.py` looks for the same from outside.
enum DumpedWords {
    /// A type of this program or of a library, what a decoder says, an errno.
    ///
    /// ICU's, since every answer of every test is searched: Swift's own takes ten times as long.
    private static let pattern = Result {
        try NSRegularExpression(
            pattern: #"""
                \b\w*(?:Error|Failure|Refusal)(?:\.[a-z]|\()
                |\b(?:Swift|NIO\w*|Foundation|AsyncHTTPClient|Hummingbird)\.[A-Z]\w+
                |\b(?:Tollgate[A-Z]\w*|AppStoreAPI|StripeAPI|StrictJSON|Storage\w*)\.[A-Z]\w+
                |\b(?:keyNotFound|typeMismatch|valueNotFound|dataCorrupted|codingPath)\b
                |Error\ Domain=|\berrno\b|\bOptional\(|CodingKeys?\(
                """#,
            options: .allowCommentsAndWhitespace
        )
    }

    static func found(in text: String) -> String? {
        guard let pattern = try? pattern.get() else { return "the pattern itself is wrong" }
        let whole = NSRange(text.startIndex..., in: text)
        return pattern.firstMatch(in: text, range: whole)
            .flatMap { Range($0.range, in: text) }
            .map { String(text[$0]) }
    }
}

@Suite("Words of programmers in answers")
struct DumpedWordsTests {
    @Test(
        "are found",
        arguments: [
            "it failed: StorageError.busy", "Refusal(reason: x)", "Swift.DecodingError",
            "TollgateService.Refusal", "keyNotFound", "an errno", "Optional(5)", "CodingKeys(a)",
        ]
    )
    func found(_ text: String) { #expect(DumpedWords.found(in: text) != nil) }

    @Test(
        "are not seen where there are none",
        arguments: ["An error.", "The refusal was sent.", "Tollgate. Pro", "Swift. Quick", ""]
    )
    func absent(_ text: String) { #expect(DumpedWords.found(in: text) == nil) }
}
