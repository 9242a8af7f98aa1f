import Foundation
import HTTPTypes
import Testing

@Suite("Pages")
struct PageTests {
    @Test("The portal shows what its customer has, by a link that ends")
    func portal() async throws {
        try await TestServer.run { server in
            let id = try await server.customerWithCoins("reader-1")
            let session = try await server.session(of: id, components: ["customer_portal"])
            let link = try await server.post("/v1/portal_sessions", as: session)
            let url = try #require(link.json["url"].string)
            #expect(url.hasPrefix(TestServer.publicURL + "/portal?session="))
            let path = String(url.dropFirst(TestServer.publicURL.count))
            let page = try await server.get(path, as: nil)
            #expect(page.status == 200)
            #expect(page.text.contains("reader-1"))
            #expect(page.text.contains("100 coins"))
            #expect(!page.text.contains("Back to the app"))
            server.wall.advance(seconds: 1800)
            let expired = try await server.get(path, as: nil)
            #expect(expired.status == 401)
            #expect(expired.text.contains("expired"))
            #expect(!expired.text.contains("reader-1"))
        }
    }

    @Test("The portal leads back to where it was asked to, if that is here")
    func wayBack() async throws {
        try await TestServer.run { server in
            let id = try await server.customer()
            let session = try await server.session(of: id, components: ["customer_portal"])
            let link = try await server.post(
                "/v1/portal_sessions",
                as: session,
                "{\"return_url\":\"https://billing.example.com/demo\"}"
            )
            let url = try #require(link.json["url"].string)
            let path = String(url.dropFirst(TestServer.publicURL.count))
            let page = try await server.get(path, as: nil)
            #expect(page.text.contains("href=\"https://billing.example.com/demo\""))
            let forged = path.replacing("billing", with: "evil")
            #expect(try await !server.get(forged, as: nil).text.contains("Back to the app"))
        }
    }

    @Test("A link that never was shows no portal")
    func unknownLinks() async throws {
        try await TestServer.run { server in
            let id = try await server.customer()
            let other = try await server.session(of: id, components: ["buy_button"])
            for query in ["", "?session=", "?session=cuss_secret_x", "?session=\(other)"] {
                let page = try await server.get("/portal\(query)", as: nil)
                #expect(page.status == 401)
                #expect(page.text.contains("expired"))
            }
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
            let session = try await server.session(of: id, components: ["customer_portal"])
            let page = try await server.get("/portal?session=\(session)", as: nil)
            #expect(page.status == 200)
            let escaped = name.replacing("&", with: "&amp;").replacing("<", with: "&lt;")
                .replacing(">", with: "&gt;").replacing("\"", with: "&quot;")
                .replacing("'", with: "&#39;")
            #expect(page.text.contains("Signed in as <strong>\(escaped)</strong></p>"))
            for tag in ["<script", "<img", "<iframe", "<svg"] {
                #expect(!page.text.contains(tag))
            }
        }
    }

    @Test("Every page forbids scripts, frames and foreign content, and is not kept")
    func headers() async throws {
        try await TestServer.run { server in
            let id = try await server.customer()
            let session = try await server.session(of: id, components: ["customer_portal"])
            for path in [
                "/checkout_redirect/success", "/checkout_redirect/cancel", "/portal",
                "/portal?session=\(session)",
            ] {
                let page = try await server.get(path, as: nil)
                let policy = try #require(page.headers[.contentSecurityPolicy])
                #expect(policy.contains("default-src 'none'"))
                #expect(policy.contains("frame-ancestors 'none'"))
                #expect(!policy.contains("unsafe"))
                #expect(page.headers[.contentType] == "text/html; charset=utf-8")
                #expect(page.headers[.cacheControl] == "no-store")
                #expect(page.headers[.xContentTypeOptions] == "nosniff")
                #expect(
                    HTTPField.Name("Referrer-Policy").flatMap { page.headers[$0] } == "no-referrer"
                )
                #expect(!page.text.contains("<script") && !page.text.contains(" style="))
            }
            let style = try await server.get("/assets/tollgate.css", as: nil)
            #expect(style.status == 200)
        }
    }
}
