import Foundation
import Testing
import TollgateCore
import TollgateService

@Suite("Sentences of the dashboard in Japanese")
struct DashboardSentenceTests {
    @Test("A template has a number for each gap, whatever stands in it")
    func templates() {
        #expect(
            SentenceTemplates.literals(in: #"f("a \(b(c: "d (")) e \(g)", "h") // "i""#)
                == ["a {1} e {2}", "h"]
        )
        #expect(SentenceTemplates.isSentence("{1} to {2}"))
        #expect(!SentenceTemplates.isSentence("app_store.key"))
        #expect(!SentenceTemplates.isSentence("{1}: {2}"))
    }

    @Test("Every sentence of Why and of Doctor is in the catalogue, and none is there for nothing")
    func complete() throws {
        let japanese = try DashboardPageTests.words("ja")
        let known = japanese.filter { SentenceTemplates.isSentence($0.key) }
        let said = try SentenceTemplates.all()
        #expect(said.count > 150)
        #expect(said.subtracting(known.keys).sorted() == [])
        #expect(Set(known.keys).subtracting(said).sorted() == [])
        func gaps(_ text: String) -> [String] {
            text.matches(of: /\{\d\}/).map { String($0.output) }.sorted()
        }
        for (template, text) in known { #expect(gaps(template) == gaps(text), "\(template)") }
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
            let japanese = "日数は 1〜36,500 の整数で入力してください。"
            #expect(page.text.contains(english) == (language == "en"))
            #expect(page.text.contains(japanese) == (language == "ja"))
        }
    }
}
