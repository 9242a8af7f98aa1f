import Foundation
import HTTPTypes
import NIOHTTP1
import Testing

@Suite("Pages")
struct PageTests {
    @Test("The portal shows what its customer has, until the session ends")
    func portal() async throws {
        try await TestServer.run { server in
            let id = try await server.customerWithCoins("reader-1")
            var browser = try await server.portal(of: id)
            let page = try await browser.open("/portal")
            #expect(page.status == 200)
            #expect(page.text.contains("reader-1"))
            #expect(page.text.contains("100 coins"))
            #expect(!page.text.contains("Back to the app"))
            server.wall.advance(seconds: 1800)
            let expired = try await browser.open("/portal")
            #expect(expired.status == 401)
            #expect(expired.text.contains("expired"))
            #expect(!expired.text.contains("reader-1"))
        }
    }

    @Test("A link to the portal works once, within five minutes, and holds no session's secret")
    func links() async throws {
        try await TestServer.run { server in
            let id = try await server.customer()
            let session = try await server.session(of: id, components: ["customer_portal"])
            func link() async throws -> String {
                let answer = try await server.post("/v1/portal_sessions", as: session)
                let url = try #require(answer.json["url"].string)
                #expect(url.hasPrefix(TestServer.publicURL + "/portal?token="))
                #expect(!url.contains(session.dropFirst(12)))
                return String(url.dropFirst(TestServer.publicURL.count))
            }
            let path = try await link()
            var browser = server.browser
            let entered = try await browser.send(path)
            #expect(entered.status == 303 && entered.location == "/portal")
            let cookie = try #require(entered.headers.first(name: "Set-Cookie"))
            for word in ["HttpOnly", "Secure", "SameSite=Lax", "Path=/portal", "Max-Age="] {
                #expect(cookie.contains(word))
            }
            var second = server.browser
            #expect(try await second.open(path).status == 401)
            // The secret of the cookie opens nothing but the portal.
            let secret = cookie.dropFirst("tollgate_portal=".count).prefix { $0 != ";" }
            let api = try await server.get("/v1/customers/\(id)/coins", as: String(secret))
            #expect(api.status == 401)
            let late = try await link()
            server.wall.advance(seconds: 300)
            #expect(try await second.open(late).status == 401)
        }
    }

    @Test("Looking at a link ahead does not use it up")
    func heads() async throws {
        try await TestServer.run { server in
            let id = try await server.customer()
            let session = try await server.session(of: id, components: ["customer_portal"])
            let answer = try await server.post("/v1/portal_sessions", as: session)
            let url = try #require(answer.json["url"].string)
            let path = String(url.dropFirst(TestServer.publicURL.count))
            _ = try await server.send(.head, path, as: nil)
            var browser = server.browser
            #expect(try await browser.open(path).status == 200)
        }
    }

    @Test("The portal leads back to where it was asked to")
    func wayBack() async throws {
        try await TestServer.run { server in
            let id = try await server.customer()
            var browser = try await server.portal(
                of: id,
                returnURL: "https://billing.example.com/demo"
            )
            let page = try await browser.open("/portal?return_url=https://evil.example/")
            #expect(page.text.contains("href=\"https://billing.example.com/demo\""))
            #expect(!page.text.contains("evil"))
        }
    }

    @Test("A link that never was shows no portal")
    func unknownLinks() async throws {
        try await TestServer.run { server in
            let id = try await server.customer()
            let other = try await server.session(of: id)
            for query in ["", "?token=", "?token=ptok_x", "?token=\(other)", "?session=\(other)"] {
                let page = try await server.get("/portal\(query)", as: nil)
                #expect(page.status == 401)
                #expect(page.text.contains("expired"))
            }
            var browser = server.browser
            browser.cookie = "tollgate_portal=\(other)"
            #expect(try await browser.open("/portal").status == 401)
        }
    }

    private static let markup = [
        "<script>alert(1)</script>", "\"><img src=x onerror=alert(1)>", "'onmouseover='alert(1)",
        "</p><iframe src=//evil.example>", "{{user}}{{{user}}}", "&lt;script&gt;",
        "<svg/onload=alert(1)>",
    ]

    @Test("What people call themselves is text, never markup", arguments: markup)
    func namesAreEscaped(_ name: String) async throws {
        try await TestServer.run { server in
            let json = try String(decoding: JSONEncoder().encode(name), as: UTF8.self)
            let made = try await server.post("/v1/customers", "{\"app_user_id\":\(json)}")
            let id = try #require(made.json["id"].string)
            var browser = try await server.portal(of: id)
            let page = try await browser.open("/portal")
            #expect(page.status == 200)
            let escaped = name.replacing("&", with: "&amp;").replacing("<", with: "&lt;")
                .replacing(">", with: "&gt;").replacing("\"", with: "&quot;")
                .replacing("'", with: "&#39;")
            #expect(page.text.contains("Signed in as <strong>\(escaped)</strong>"))
            for tag in ["<script", "<img", "<iframe", "<svg"] {
                #expect(!page.text.contains(tag))
            }
        }
    }

    @Test("Every page forbids scripts, frames and foreign content, and is not kept")
    func headers() async throws {
        try await TestServer.run { server in
            let id = try await server.customer()
            var browser = try await server.portal(of: id)
            for path in [
                "/checkout_redirect/success", "/checkout_redirect/cancel", "/portal",
                "/buy/nothing",
            ] {
                let page = try await browser.open(path)
                let policy = try #require(page.headers.first(name: "Content-Security-Policy"))
                #expect(policy.contains("default-src 'none'"))
                #expect(policy.contains("frame-ancestors 'none'"))
                #expect(!policy.contains("unsafe"))
                #expect(page.headers.first(name: "Content-Type") == "text/html; charset=utf-8")
                #expect(page.headers.first(name: "Cache-Control") == "no-store")
                #expect(page.headers.first(name: "X-Content-Type-Options") == "nosniff")
                #expect(page.headers.first(name: "Referrer-Policy") == "no-referrer")
                #expect(!page.text.contains("<script") && !page.text.contains(" style="))
            }
            let style = try await server.get("/assets/tollgate.css", as: nil)
            #expect(style.status == 200)
        }
    }
}
