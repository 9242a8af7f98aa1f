import AppStoreSimulator
import Foundation
import NIOHTTP1
import Reports
import Storage
import Testing
import TollgateAPI
import TollgateCore
import TollgateServer
import TollgateService
import TollgateSimulation

@Suite("Pages of the dashboard")
struct DashboardPageTests {
    private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appendingPathComponent("../../../Sources/TollgateServer")

    static func words(_ language: String, _ kind: String = "dashboard") throws
        -> [String: String]
    {
        let text = try String(
            contentsOf: folder.appendingPathComponent("Pages/\(kind)_\(language).txt"),
            encoding: .utf8
        )
        var words: [String: String] = [:]
        for line in text.split(separator: "\n") where !line.hasPrefix("#") {
            let sign = try #require(line.firstRange(of: " = "), "\(line)")
            let key = String(line[..<sign.lowerBound])
            #expect(words[key] == nil, "\(key) is there twice")
            words[key] = String(line[sign.upperBound...])
        }
        return words
    }

    @Test("No text is missing in any language, and none is there for nothing")
    func complete() throws {
        let english = try Self.words("en")
        let japanese = try Self.words("ja")
        // Stands in English elsewhere: what figures and differences mean beside the figures, what a
        // refusal says in the API's error, and sentences where they are made (`SentenceTemplates`).
        let meanings =
            Reports.Report.allCases.flatMap(\.definitions).map(\.name)
            .map { $0.lowercased().replacing(" ", with: "_") }
            .flatMap { ["defined_\($0)", "definition_\($0)"] }
            + Finance.Reason.allCases.map { "explained_\($0.rawValue)" }
        let translated = japanese.keys.filter {
            !$0.hasPrefix("refused_") && !SentenceTemplates.isSentence($0)
        }
        #expect(Set(english.keys).union(meanings) == Set(translated))
        var used: Set<String> = []
        let files = FileManager.default
        for folder in ["Pages", "Dashboard", "Dashboard/Pages", "Routes"] {
            let place = Self.folder.appendingPathComponent(folder)
            for file in try files.contentsOfDirectory(atPath: place.path)
            where file.hasSuffix(".mustache") || file.hasSuffix(".swift") {
                let text = try String(
                    contentsOf: place.appendingPathComponent(file),
                    encoding: .utf8
                )
                used.formUnion(text.matches(of: /\bt\.([a-z_]+)/).map { String($0.1) })
                used.formUnion(text.matches(of: /words\(?\[?\s*"([a-z_]+)"/).map { String($0.1) })
            }
        }
        #expect(used.subtracting(english.keys).isEmpty)
        // What is filled in has the same names in both.
        func names(_ text: String) -> Set<String> {
            Set(text.matches(of: /\{(\w+)\}/).map { String($0.1) })
        }
        for (key, text) in english {
            #expect(names(text) == names(japanese[key] ?? ""), "\(key)")
        }
        // Customers have every text of theirs in every language.
        let pages = ["portal", "portal_change", "unsubscribe"].map { "Pages/\($0).mustache" }
        var seen = Set(english.keys.filter { $0.hasPrefix("page_") || $0.hasPrefix("portal_") })
        for file in pages + ["BrowserPage.swift", "Letters/LetterTemplates.swift"] {
            let text = try String(
                contentsOf: Self.folder.appendingPathComponent(file),
                encoding: .utf8
            )
            seen.formUnion(text.matches(of: /\bt\.([a-z_]+)/).map { String($0.1) })
            seen.formUnion(
                text.matches(of: /"([a-z]+_[a-z_]+)"/).map { String($0.1) }
                    .filter { english[$0] != nil }
            )
        }
        for language in ["de", "es", "fr", "ko", "zh"] {
            let words = try Self.words(language, "customer")
            #expect(Set(words.keys) == seen, "\(language)")
            for (key, text) in words {
                #expect(names(text) == names(english[key] ?? ""), "\(language): \(key)")
            }
        }
        // Words that are put together from what a record says.
        let said =
            StoreEnvironment.allCases.map { "environment_\($0.rawValue)" }
            + StaffRole.allCases.flatMap { ["role_\($0.rawValue)", "meaning_\($0.rawValue)"] }
            + JournalItem.Kind.allCases.map { "kind_\($0.rawValue)" }
            + TollgateCore.Catalog.Product.Kind.allCases.map { "product_\($0.rawValue)" }
            + API.KeyScope.allCases.map { "scope_\($0.rawValue)" }
            + ["payment", "renewal", "status", "grace", "family", "grant"].map { "ground_\($0)" }
        #expect(Set(said).subtracting(english.keys).isEmpty)
    }

    /// Every page that a world with some sales has.
    private static func paths(_ server: TestServer, _ browser: inout StaffBrowser) async throws
        -> [String]
    {
        var paths = [
            "", "/customers", "/purchases", "/deliveries", "/parked", "/events", "/catalog",
            "/health", "/audit", "/staff", "/keys", "/account", "/account/second-factor",
            "/reports", "/reconciliation", "/access", "/emails",
            "/customers?q=nothing",
        ].map { "/dashboard\($0)" }
        paths += [
            "sales", "revenue", "downloads", "subscriptions", "events", "mrr", "mrr-movement",
            "churn", "trials", "retention", "ltv", "refunds", "coins", "placements",
            "rows-sales", "rows-periods", "rows-coins",
        ].map { "/dashboard/reports/\($0)" }
        for list in ["/dashboard/customers", "/dashboard/purchases", "/dashboard/deliveries"] {
            let page = try await browser.open(list)
            let links = Set(
                page.text.matches(of: /href="(\/dashboard\/[a-z]+\/[^"?]+)"/).map { String($0.1) }
            )
            paths += links.filter { $0.hasPrefix(list + "/") }.sorted().prefix(6)
        }
        for path in paths where path.hasPrefix("/dashboard/customers/") {
            paths += ["\(path)/explain?lookup_key=pro", "\(path)/erase"]
        }
        return paths
    }

    @Test(
        "Every page says who it is for, runs nothing inline and may be framed by nobody",
        arguments: ["en", "ja"]
    )
    func policy(_ language: String) async throws {
        try await TestServer.run { server in
            _ = try await server.customerWithCoins()
            var browser = try await server.staff(.admin)
            browser.language = language
            let paths = try await Self.paths(server, &browser)
            #expect(paths.count > 18)
            for path in paths {
                let page = try await browser.open(path)
                #expect(page.status == 200, "\(path)")
                let policy = page.headers.first(name: "Content-Security-Policy") ?? ""
                #expect(
                    policy.contains("default-src 'none'")
                        && policy.contains("frame-ancestors 'none'")
                )
                #expect(!policy.contains("unsafe") && !policy.contains("data:"))
                #expect(page.headers.first(name: "Cache-Control") == "no-store")
                #expect(page.headers.first(name: "X-Content-Type-Options") == "nosniff")
                #expect(page.text.contains("<html lang=\"\(language)\">"))
                #expect(!page.text.contains("style=\""), "\(path)")
                #expect(page.text.firstMatch(of: /<[^>]* on[a-z]+=/) == nil, "\(path)")
                #expect(page.text.matches(of: /<script/).count == 1)
                // Nothing of a template was left over, and no key stands for a text.
                #expect(!page.text.contains("{{") && !page.text.contains("Optional("), "\(path)")
                #expect(page.text.matches(of: /<h1/).count == 1, "\(path)")
            }
        }
    }

    @Test("The language is the browser's, until one is chosen")
    func language() async throws {
        try await TestServer.run { server in
            var browser = StaffBrowser(server)
            for (accepted, language) in [
                ("ja,en;q=0.5", "ja"), ("en-US,en;q=0.9,ja;q=0.8", "en"), ("de", "en"),
                ("de, ja-JP;q=0.1", "ja"), ("ja;q=0", "en"), ("", "en"), ("*;q=x,,;", "en"),
            ] {
                browser.language = accepted
                let page = try await browser.open("/dashboard/sign-in")
                #expect(page.text.contains("<html lang=\"\(language)\">"), "\(accepted)")
            }
            browser.language = "en"
            let chosen = try await browser.open(
                "/dashboard/language?to=ja&back=%2Fdashboard%2Fsign-in"
            )
            #expect(chosen.text.contains("<html lang=\"ja\">") && chosen.text.contains("サインイン"))
        }
    }

    @Test("What is written into names, emails, metadata and product ids is shown, never run (B2)")
    func scripting() async throws {
        try await TestServer.run(
            catalog: { catalog in
                for index in catalog.products.indices {
                    catalog.products[index].name = Self.payloads[index % Self.payloads.count]
                }
                catalog.entitlements[0].name = Self.payloads[0]
            }
        ) { server in
            var ids: [String] = []
            func quoted(_ text: String) throws -> String {
                String(decoding: try JSONEncoder().encode(text), as: UTF8.self)
            }
            for payload in Self.payloads {
                let text = try quoted(payload)
                // An email address has no line breaks.
                let email = try quoted(payload.filter { !$0.isNewline })
                let made = try await server.post(
                    "/v1/customers",
                    "{\"app_user_id\":\(text),\"email\":\(email),\"metadata\":{\(text):\(text)}}"
                )
                ids.append(try #require(made.json["id"].string))
            }
            _ = try await server.customerWithCoins("buyer")
            var browser = try await server.staff(.admin)
            var paths = try await Self.paths(server, &browser)
            paths += ids.flatMap {
                ["/dashboard/customers/\($0)", "/dashboard/customers/\($0)/erase"]
            }
            paths += Self.payloads.flatMap { payload in
                let text = StaffBrowser.escaped(payload)
                return [
                    "/dashboard/customers?q=\(text)", "/dashboard/audit?subject=\(text)",
                    "/dashboard/audit?actor=\(text)", "/dashboard?done=\(text)",
                    "/dashboard/customers/\(text)",
                    "/dashboard/customers/\(ids[0])/explain?lookup_key=\(text)",
                    "/dashboard/sign-in?to=\(text)",
                ]
            }
            for path in paths {
                let page = try await browser.open(path)
                #expect([200, 303, 404, 400].contains(page.status), "\(path) \(page.status)")
                #expect(!page.text.contains("<x"), "\(path)")
                #expect(page.text.matches(of: /<script/).count == 1, "\(path)")
                #expect(
                    page.text.matches(of: /<img|<iframe|<object|<embed|<base|<meta http/).isEmpty
                )
                #expect(
                    page.text.firstMatch(of: /<[^>"]*("[^"]*"[^>"]*)* on\w+=/) == nil,
                    "\(path)"
                )
                #expect(
                    page.text.firstMatch(of: /(href|action|src)="\s*(javascript|data|vbscript):/)
                        == nil
                )
            }
            // A catalog that is checked comes back as it was pasted.
            for payload in Self.payloads {
                _ = try await browser.open("/dashboard/catalog")
                let page = try await browser.press(
                    "/dashboard/catalog/check",
                    ["catalog": payload + "\n</textarea><x onclick=1>"]
                )
                #expect(page.status == 200 && !page.text.contains("<x"))
            }
        }
    }

    /// Ways in which a text becomes a script where it is not escaped.
    static let payloads = [
        "<x>", "<script>window.hit=1</script>", "<img src=x onerror=window.hit=1>",
        "\"><x onclick=window.hit=1>", "'><x onclick=window.hit=1>", "</title><x>",
        "</textarea><x>", "</script><x>", "</style><x>", "--><x>", "]]><x>",
        "<svg/onload=window.hit=1>", "<svg><script>window.hit=1</script></svg>",
        "<iframe src=javascript:window.hit=1>", "<body onload=window.hit=1>",
        "<details open ontoggle=window.hit=1>", "<input autofocus onfocus=window.hit=1>",
        "<a href=javascript:window.hit=1>x</a>", "javascript:window.hit=1",
        "\" autofocus onfocus=window.hit=1 x=\"", "' autofocus onfocus=window.hit=1 x='",
        "` onclick=window.hit=1 x=`", "<math><mi xlink:href=javascript:window.hit=1>x",
        "<base href=//evil.example>", "<meta http-equiv=refresh content=0;url=//evil.example>",
        "<link rel=stylesheet href=//evil.example>", "<object data=javascript:window.hit=1>",
        "<embed src=javascript:window.hit=1>", "<form action=//evil.example><x>",
        "<video><source onerror=window.hit=1>", "<style>@import'//evil.example'</style>",
        "{{constructor}}", "{{{content}}}", "{{> dash_me}}", "${window.hit=1}",
        "&lt;x&gt;", "&#60;x&#62;", "\\u003cx\\u003e", "%3Cx%3E", "＜x＞", "\u{202E}<x>",
        "<x\u{0C}onclick=window.hit=1>", "<<x>>", "<x/", "a\r\nSet-Cookie: hit=1",
    ]

    @Test(
        "Long lists go on where the page before ended, and show nothing twice",
        arguments: Backend.allCases
    )
    func paging(_ backend: Backend) async throws {
        try await TestServer.run(on: backend) { server in
            for index in 0..<60 {
                let id = try await server.customer("reader-\(index)")
                _ = try await server.post(
                    "/v1/customers/\(id)/grants",
                    "{\"lookup_key\":\"pro\"}",
                    idempotencyKey: "\(index)"
                )
            }
            await server.tollgate.events.publish()
            var browser = try await server.staff(.viewer)
            for (path, pattern, count) in [
                ("/dashboard/customers", /\/dashboard\/customers\/cus_tg_\w+/, 60),
                ("/dashboard/purchases", /\/dashboard\/purchases\/[0-9a-f]{32}/, 60),
            ] {
                var seen: [String] = []
                var next: String? = path
                while let address = next {
                    let page = try await browser.open(address)
                    seen += page.text.matches(of: pattern).map { String($0.output) }
                    next = page.text.firstMatch(of: /href="([^"]*)" rel="next"/).map {
                        String($0.1).replacing("&amp;", with: "&")
                    }
                }
                #expect(seen.count == count && Set(seen).count == count, "\(path)")
            }
        }
    }

    @Test(
        "The overview shows what was sold, and each figure leads to its report and its rows",
        arguments: Backend.allCases
    )
    func overview(_ backend: Backend) async throws {
        try await TestServer.run(on: backend) { server in
            let empty = try await server.staff(.viewer)
            var browser = empty
            let before = try await browser.open("/dashboard")
            #expect(before.words.contains("There are no figures for this range"))
            for index in 0..<3 {
                let account = try await server.appStore.createCustomer()
                _ = try await server.appStore.buy(
                    index == 0 ? "com.example.app.coins100" : "com.example.app.pro.monthly",
                    customer: account.id
                )
            }
            try await server.deliverNotifications()
            let page = try await browser.open("/dashboard?span=7")
            // 10.00 and two times 9.99.
            for text in [
                "Revenue $29.98", "MRR $19.98", "Active subscriptions 2", "Coins outstanding 100",
            ] {
                #expect(page.words.contains(text), "\(text)")
            }
            #expect(page.text.contains("<svg class=\"plot\"") && page.text.contains("role=\"img\""))
            let report = try await browser.open("/dashboard/reports/sales?by=day&group=product")
            #expect(report.words.contains("100 coins") && report.words.contains("$19.98"))
            // Each plot has a file of its own.
            let links = report.text.matches(of: /href="([^"]*format=csv)"/).map { String($0.1) }
            let link = try #require(links.first { !$0.contains("plot=") })
            let csv = try await browser.open(link.replacing("&amp;", with: "&"))
            #expect(csv.headers.first(name: "Content-Type") == "text/csv; charset=utf-8")
            #expect(csv.text.contains("coins_100") && csv.text.contains("10.00"))
            let rows = try await browser.open("/dashboard/reports/rows-sales")
            #expect(rows.text.matches(of: /<tr role="row">/).count == 4)
            for address in [
                "?from=yesterday", "?from=2026-13-01", "?to=1", "?from=2026-06-02&to=2026-06-01",
            ] {
                #expect(try await browser.open("/dashboard/reports/mrr\(address)").status == 400)
            }
            #expect(try await browser.open("/dashboard/reports/nothing").status == 404)
        }
    }

    @Test("A parked message is seen, and tried again by hand")
    func parked() async throws {
        try await TestServer.run { server in
            let key = RowKey("x")
            try await server.tollgate.store.parked.park(
                ParkedMessage(
                    key: key,
                    store: .stripe,
                    source: "evt_parked",
                    reason: "a product of nobody's",
                    body: [0x7B, 0x7D],
                    received: Instant(milliseconds: TestServer.start)
                )
            )
            var browser = try await server.staff(.support)
            let page = try await browser.open("/dashboard/parked")
            #expect(page.words.contains("evt_parked"))
            let health = try await browser.open("/dashboard/health")
            #expect(health.words.contains("needs attention"))
            _ = try await browser.open("/dashboard/parked")
            let tried = try await browser.press("/dashboard/parked/retry")
            #expect(tried.words.contains("Some messages are still parked"))
            #expect(try await server.tollgate.store.audit.entries().first?.action == "parked.retry")
        }
    }

    @Test("A catalog is checked before it is deployed, with lines, and nothing is adopted")
    func catalog() async throws {
        try await TestServer.run { server in
            var browser = try await server.staff(.viewer)
            _ = try await browser.open("/dashboard/catalog")
            let wrong = try await browser.press(
                "/dashboard/catalog/check",
                ["catalog": "products:\n  - id: x\n    kind: nothing\n"]
            )
            #expect(
                wrong.words.contains("A server would not start") && wrong.words.contains("Line 3")
            )
            let versions = server.tollgate.store.history.versions.count
            let right = try await browser.press(
                "/dashboard/catalog/check",
                ["catalog": "entitlements:\n  - lookup_key: pro\n    name: Pro\nproducts: []\n"]
            )
            #expect(right.words.contains("Entitlements: 1; products: 0"))
            #expect(server.tollgate.store.history.versions.count == versions)
        }
    }

    @Test("A server in earnest has no levers")
    func levers() async throws {
        try await TestServer.run { server in
            var browser = try await server.staff(.admin)
            #expect(try await browser.open("/dashboard/sandbox").status == 404)
            _ = try await browser.open("/dashboard/account")
            let page = try await browser.press("/dashboard/sandbox/pull", ["lever": "wait-P1D"])
            #expect(page.status == 404)
        }
    }
}
