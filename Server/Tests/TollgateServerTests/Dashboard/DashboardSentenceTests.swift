import Foundation
import Testing
import TollgateCore
import TollgateService

@testable import TollgateServer

@Suite("Sentences of the dashboard in Japanese")
struct DashboardSentenceTests {
    @Test("A template has a number for each gap, whatever stands in it")
    func templates() {
        #expect(
            SentenceTemplates.literals(in: #"f("a \(b(c: "d (")) e \(g)", "h") // "i""#)
                == ["a {1} e {2}", "h"]
        )
        #expect(SentenceTemplates.literals(in: "\"a \"\n    + \"b\"") == ["a b"])
        #expect(
            SentenceTemplates.statements(in: "  f(\n    1)\n  x.drop(\n    \"a b\"\n  )")
                == [".drop(\n    \"a b\""]
        )
        #expect(SentenceTemplates.isSentence("{1} to {2}"))
        #expect(!SentenceTemplates.isSentence("app_store.key"))
        #expect(!SentenceTemplates.isSentence("{1}: {2}"))
    }

    @Test("Every sentence that a page says is in the catalogue, and none is there for nothing")
    func complete() throws {
        let japanese = try DashboardPageTests.words("ja")
        let known = japanese.filter { SentenceTemplates.isSentence($0.key) }
        let said = try SentenceTemplates.all()
        #expect(said.count > 400)
        #expect(said.subtracting(known.keys).sorted() == [])
        #expect(Set(known.keys).subtracting(said).sorted() == [])
        func gaps(_ text: String) -> [String] {
            text.matches(of: /\{(\d)(:[a-z_]+)?\}/).map { String($0.1) }.sorted()
        }
        for (template, text) in known { #expect(gaps(template) == gaps(text), "\(template)") }
    }

    @Test("A sentence that was kept as English text is read back as it was made")
    func readBack() {
        let words = Words.of(Language.japanese)
        let templates = words.templates.filter { $0.hasWords && !$0.fitsAnything }
        #expect(templates.count > 400)
        for template in templates {
            let gaps = (1...9).filter { template.text.contains("{\($0)}") }
            let sentence = Sentence(template.text, gaps.map { .text("value-\($0)") })
            #expect(words.read(sentence.text).parts == sentence.parts, "\(template.text)")
        }
    }

    @Test("A message of ours that a check passes on is in Japanese, too")
    func passedOn() {
        let words = Words.of(Language.japanese)
        let passed = Sentence(quoting: "Nobody answers at localhost:9: check ‘host’ and ‘port’.")
        let said = words.said(passed, Formats(language: .japanese))
        #expect(said.text == "localhost:9 に接続できません。host と port を確認してください。")
        #expect(said.pieces.allSatisfy { !$0.isEnglish })
    }

    /// What is kept, and how a Japanese page says it: what stands in brackets is English there.
    static let kept = [
        "answered 503": "応答 503",
        "Nothing was sent: the host has no address.": "送信していません: ホストのアドレスなし。",
        "It was too old to be sent again. Last attempt: localhost:25 refused the mail: ‘550 no’.":
            "再送信の期限を過ぎました。最後の試行: localhost:25 がメールを拒否しました: [‘550 no’.]",
        "not strictly valid JSON (data, byte 4: the JSON text ends too early)":
            "JSON として不正（data、4 バイト目: JSON が途中で終了）",
        "no hint that can be read: PubSubMessage is not an object":
            "通知を読み取れません: [PubSubMessage is not an object]",
        "payment, by stripe/sandbox/-/sub_1 until 2026-07-01T00:00:00Z":
            "支払い済み（stripe/sandbox/-/sub_1、2026年7月1日 00:00 まで）",
        "ON_HOLD, paid until 2026-07-01T00:00:00Z":
            "保留中（支払い再試行）、支払いは 2026年7月1日 00:00 まで",
        "sold on 2026-06-01, booked on 2026-06-03": "2026年6月1日に販売、2026年6月3日に計上",
        "a tax beside the charges (Stripe: ‘Sales tax for June’)":
            "課金とは別の税（Stripe: [Sales tax for June]）",
        "the product ‘pro’ has no key ‘kinds’; did you mean ‘kind’?":
            "製品「pro」に「kinds」というキーはありません。「kind」の誤りではありませんか",
        "‘ten’ is not a whole number, like 100":
            "「ten」は正しい形式ではありません。必要な形式: 整数（例: 100）",
        "Your card was declined.": "[Your card was declined.]",
    ]

    @Test("Outcomes, reasons and opinions that were kept are said in Japanese", arguments: kept)
    func read(_ text: String, _ japanese: String) {
        let words = Words.of(Language.japanese)
        let said = words.said(words.read(text), Formats(language: .japanese))
        let shown = said.pieces.map { $0.isEnglish ? "[\($0.text)]" : $0.text }.joined()
        #expect(shown == japanese)
        // On an English page it stays as it is.
        let english = Words.of(Language.english)
        #expect(english.said(english.read(text), Formats(language: .english)).text == text)
    }

    /// Codes that answer keys and sessions, which no page has, and those with a heading that says it all.
    private static let withoutText: Set = [
        "missing_key", "invalid_key", "session_expired", "no_session_present", "key_not_permitted",
        "component_disabled", "customer_mismatch", "parameter_unknown", "signature_invalid",
        "app_mismatch", "inactive", "already_active", "sandbox_refused", "app_store_refused",
    ]

    @Test("Every error that a form of a page meets has a text by its code and parameter")
    func refusals() throws {
        let japanese = try DashboardPageTests.words("ja")
        let path = SentenceTemplates.root.appendingPathComponent(
            "Sources/TollgateAPI/Errors/APIError.swift"
        )
        let codes =
            try String(contentsOf: path, encoding: .utf8)
            .split(separator: "public struct Code").last ?? ""
        var met = Set(codes.matches(of: /Self\(rawValue: "(\w+)"\)/).map { String($0.1) })
        for place in [
            "TollgateServer/Dashboard", "TollgateService/Staff", "TollgateService/SecretKeys",
            "TollgateService/Entitlements", "TollgateService/Coins", "TollgateService/Purchases",
        ] {
            for file in try SentenceTemplates.files(in: "Server/Sources/\(place)") {
                let source = try String(contentsOfFile: file, encoding: .utf8)
                let named = source.matches(
                    of: /Refusal(?:\.conflict|\.forbidden|\.unauthenticated)\(\s*"(\w+)"/
                )
                met.formUnion(named.map { String($0.1) })
                let invalid = source.matches(of: /Refusal\.invalid\(\s*"(\w+)"/)
                met.formUnion(invalid.map { "parameter_invalid_\($0.1)" })
            }
        }
        #expect(met.isSuperset(of: ["last_admin", "parameter_invalid_days", "rate_limited"]))
        let lacking = met.subtracting(Self.withoutText).filter {
            japanese["refused_\($0)"] == nil && japanese["error_\($0)"] == nil
        }
        #expect(lacking.sorted() == [])
    }

    @Test("Why an entitlement is there is said in Japanese; the API keeps its English")
    func why() async throws {
        try await TestServer.run { server in
            let id = try await server.customerWithCoins()
            _ = try await server.post("/v1/customers/\(id)/grants", "{\"lookup_key\":\"pro\"}")
            var browser = try await server.staff(.support)
            browser.language = "ja"
            let page = try await browser.open("/dashboard/customers/\(id)/explain?lookup_key=pro")
            #expect(page.words.contains("pro を無期限で付与"))
            #expect(page.words.contains("返金または取り消されると終了します。"))
            #expect(!page.text.contains("granted") && !page.text.contains("would end"))
            let api = try await server.get("/v1/customers/\(id)/explain?lookup_key=pro")
            #expect(api.text.contains("pro granted for ever"))
        }
    }

    @Test("Doctor says a finding in Japanese; what a store says stays as it is")
    func doctor() async throws {
        let host = "shop.example.com"
        let checkUp = CheckUp([
            .init("all") {
                [
                    .failed(
                        "public_url.certificate",
                        "The certificate that \(host) shows is for another name.",
                        "Renew it and reload the proxy. Stores and apps refuse this one."
                    ),
                    .failed("stripe.key", Sentence(quoting: "Invalid API Key"), "Try again later."),
                ]
            }
        ])
        try await TestServer.run(checkUp: checkUp) { server in
            var browser = try await server.staff(.admin)
            browser.language = "ja"
            _ = try await browser.open("/dashboard/doctor")
            let page = try await browser.press("/dashboard/doctor/ask")
            #expect(page.text.contains("shop.example.com が提示する証明書は、別の名前のものです。"))
            #expect(page.text.contains("証明書を更新し、プロキシを再読み込みしてください。"))
            #expect(page.text.contains("<span lang=\"en\">Invalid API Key.</span>"))
            #expect(page.text.contains("しばらくしてからもう一度お試しください。"))
        }
    }

    @Test("A refused form says in Japanese what to correct", arguments: ["en", "ja"])
    func form(_ language: String) async throws {
        try await TestServer.run { server in
            let id = try await server.customer("reader-1")
            var browser = try await server.staff(.support)
            browser.language = language
            let address = "/dashboard/customers/\(id)"
            _ = try await browser.open(address)
            let page = try await browser.press(
                "\(address)/grant",
                ["lookup_key": "pro", "days": "0", "nonce": "n1"]
            )
            #expect(page.status == 400 && page.text.contains("parameter_invalid"))
            let english = "A grant lasts 1 to 36,500 days."
            let japanese = "日数は整数で入力してください。付与は 1〜36,500 日"
            #expect(page.text.contains(english) == (language == "en"))
            #expect(page.text.contains(japanese) == (language == "ja"))
        }
    }
}
