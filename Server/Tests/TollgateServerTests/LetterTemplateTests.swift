import Foundation
import Testing
import TollgateCore
import TollgateServer
import TollgateService

@Suite("The texts of emails to customers")
struct LetterTemplateTests {
    private static let day = Instant(milliseconds: 1_780_272_000_000)

    private static func content(_ kind: Letter.Kind, product: String = "Pro") -> LetterContent {
        LetterContent(
            Letter(
                kind,
                about: TollgateCore.Purchase.Key(
                    store: .stripe,
                    environment: .production,
                    application: "-",
                    id: "sub_1"
                ),
                reference: "in_1",
                caused: day,
                product: product,
                amount: TollgateCore.Catalog.Product.Price(amount: 999, currency: "usd"),
                interval: "month",
                date: day
            ),
            app: "Example",
            shop: "Web",
            link: "https://example.com/account",
            unsubscribe: kind.isTransactional ? nil : "https://example.com/u?a=1&b=2"
        )
    }

    @Test("Every kind is written in every language, and nothing of a template is left over")
    func builtIn() throws {
        let templates = try LetterTemplates()
        var texts: Set<String> = []
        for kind in Letter.Kind.allCases {
            for language in LetterSettings.languages {
                let text = templates.text(of: Self.content(kind), in: language)
                texts.insert(text.text)
                #expect(text.subject.contains("Pro") && !text.subject.contains("\n"))
                for part in [text.subject, text.text, text.html] {
                    #expect(!part.contains("{{") && !part.contains("Optional("))
                }
                #expect(text.text.contains("\n\nExample\n"))
                #expect(text.text.contains("https://example.com/account\n"))
                #expect(text.html.contains("<html lang=\"\(language)\">"))
                // Those that are not about a payment say how to get no more of them.
                #expect(text.text.contains("https://example.com/u?a=1&b=2") != kind.isTransactional)
                #expect(text.html.contains("u?a=1&amp;b=2\"") != kind.isTransactional)
            }
        }
        #expect(texts.count == Letter.Kind.allCases.count * LetterSettings.languages.count)
    }

    @Test("The end of a trial has its time in UTC, and one cancels a day before")
    func time() throws {
        let templates = try LetterTemplates()
        let english = templates.text(of: Self.content(.trialEnds), in: "en").text
        #expect(english.contains("ends on 1 June 2026 at 00:00 UTC."))
        #expect(english.contains("cancel at least one day before the trial ends"))
        let japanese = templates.text(of: Self.content(.trialEnds), in: "ja").text
        #expect(japanese.contains("2026年6月1日 00:00 UTCに終了"))
        #expect(japanese.contains("1日前までに解約"))
    }

    @Test("Markup in names is text in HTML, and a name stays as it is in plain text")
    func markup() throws {
        let content = Self.content(.lapsed, product: "<b>Tom & \"Co\"</b>")
        let text = try LetterTemplates().text(of: content, in: "en")
        #expect(text.text.contains("<b>Tom & \"Co\"</b> ended"))
        #expect(text.html.contains("&lt;b&gt;Tom &amp; &quot;Co&quot;&lt;/b&gt; ended"))
        #expect(!text.html.contains("<b>"))
    }

    @Test("A file takes the place of a built-in text, and mistakes have a file and a line")
    func own() throws {
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("letters-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appendingPathComponent("lapsed.en.txt")
        try Data("Subject: Bye {{product}}\r\n\r\n{{! ours }}Come back: {{link}}\r\n".utf8)
            .write(to: file)
        let text = try LetterTemplates(folder: folder.path)
            .text(of: Self.content(.lapsed), in: "en")
        #expect(text.subject == "Bye Pro")
        #expect(text.text.hasPrefix("Come back: https://example.com/account\n\n"))
        #expect(text.text.contains("https://example.com/u?a=1&b=2"))
        try Data("Subject: Bye\n\n{{prodct}} {{>part}}\n".utf8).write(to: file)
        let mistakes = #expect(throws: CatalogErrors.self) {
            try LetterTemplates(folder: folder.path)
        }
        #expect(mistakes?.errors.map(\.line) == [3, 3])
        #expect(mistakes?.errors.map(\.column) == [1, 12])
        #expect(mistakes?.errors.first?.message.contains("‘product’?") == true)
        // Names come from stores: in HTML they must be escaped.
        try Data("Subject: Bye\n\n{{product}}\n".utf8).write(to: file)
        try Data("{{subject}}\n {{{app}}} {{#paragraphs}}{{{html}}}{{/paragraphs}}\n".utf8)
            .write(to: folder.appendingPathComponent("letter.html"))
        let unescaped = #expect(throws: CatalogErrors.self) {
            try LetterTemplates(folder: folder.path)
        }
        #expect(unescaped?.errors.map(\.line) == [2])
        #expect(unescaped?.errors.map(\.column) == [2])
        #expect(unescaped?.errors.first?.message.contains("write {{app}}") == true)
    }
}
