import Testing
import TollgateCore

@Suite("Sentences")
struct SentenceTests {
    @Test("A template of another language orders the gaps and names kinds; other braces stay")
    func pieces() {
        let sentence: Sentence = "\("shop") refused \("mail")"
        #expect(sentence.text == "shop refused mail")
        #expect(sentence.parts[0].template == "{1} refused {2}")
        let pieces = sentence.parts[0].pieces("{2:quoted} {x: y} {3} {1}")
        #expect(
            pieces == [
                .text(""), .gap(.text("mail"), kind: "quoted"), .text(" {x: y}"), .text(" {3}"),
                .text(" "), .gap(.text("shop"), kind: nil), .text(""),
            ]
        )
        #expect(Sentence("{1} refused {2}", [.text("shop"), .text("mail")]) == sentence)
    }
}
