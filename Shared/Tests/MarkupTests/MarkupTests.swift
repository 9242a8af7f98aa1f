import Markup
import Mustache
import Testing

@Suite("What somebody wrote, on a page")
struct MarkupTests {
    private static let special = [
        "&": "&amp;", "<": "&lt;", ">": "&gt;", "\"": "&quot;", "'": "&#39;",
    ]
    /// Scalars that make one `Character` with what follows or goes before: a number sign, a vowel
    /// sign, an accent, a joiner, a variation, half a pair of letters, the end of a line.
    private static let beside = [
        "", "\u{600}", "\u{6DD}", "\u{110BD}", "\u{301}", "\u{200D}", "\u{FE0F}", "\u{1F1E6}", "\r",
        "\n", "\u{E0020}", "\u{903}",
    ]

    @Test("nothing that stands beside one of the five hides it", arguments: special)
    func nothingHides(_ plain: String, _ escaped: String) throws {
        let page = try MustacheTemplate(page: Array("<a href=\"{{a}}\">{{#b}}{{a}}{{/b}}</a>".utf8))
        for before in Self.beside {
            for after in Self.beside {
                let text = before + plain + after
                let right = before + escaped + after
                #expect(Array(text.escapedForMarkup.utf8) == Array(right.utf8))
                let html = page.render(["a": text, "b": true] as [String: Any])
                #expect(Array(html.utf8) == Array("<a href=\"\(right)\">\(right)</a>".utf8))
            }
        }
    }

    @Test("parts of a page escape as the page does, and what is marked as such goes out as it is")
    func parts() throws {
        let library = MustacheLibrary(templates: [
            "page": try MustacheTemplate(page: Array("{{>part}}|{{a}}|{{{a}}}".utf8)),
            "part": try MustacheTemplate(page: Array("({{a}})".utf8)),
        ])
        let html = library.render(["a": "\u{600}<"], withTemplate: "page") ?? ""
        #expect(
            Array(html.utf8)
                == Array("(\u{600}&lt;)|\u{600}&lt;|\u{600}<".utf8)
        )
    }
}
