import AsyncHTTPClient
import Foundation
import HummingbirdTesting
import NIOCore
import NIOHTTP1
import Testing

/// A browser as far as pages without scripts need one: it keeps a cookie, sends forms, and follows
/// redirections within the server.
struct Browser: Sendable {
    struct Page: Sendable {
        var status: Int
        var headers: HTTPHeaders
        var text: String
        var location: String? { headers.first(name: "Location") }
    }

    private static let client = HTTPClient(
        eventLoopGroupProvider: .singleton,
        configuration: HTTPClient.Configuration(redirectConfiguration: .disallow)
    )

    /// `http://localhost:PORT`.
    let base: String
    var cookie: String?

    init(port: Int) {
        base = "http://localhost:\(port)"
    }

    /// One request, no redirection followed.
    mutating func send(_ path: String, form: [String: String]? = nil) async throws -> Page {
        var request = HTTPClientRequest(url: path.hasPrefix("http") ? path : base + path)
        if let cookie { request.headers.add(name: "Cookie", value: cookie) }
        if let form {
            request.method = .POST
            request.headers.add(name: "Content-Type", value: "application/x-www-form-urlencoded")
            let body = form.sorted { $0.key < $1.key }.map {
                "\(Self.escaped($0.key))=\(Self.escaped($0.value))"
            }.joined(separator: "&")
            request.body = .bytes(ByteBuffer(string: body))
        }
        let response = try await Self.client.execute(request, timeout: .seconds(300))
        let text = String(buffer: try await response.body.collect(upTo: 1 << 22))
        if let set = response.headers.first(name: "Set-Cookie") {
            cookie = set.split(separator: ";").first.map(String.init)
        }
        return Page(status: Int(response.status.code), headers: response.headers, text: text)
    }

    /// A page, and those it leads on to.
    mutating func open(_ path: String, form: [String: String]? = nil) async throws -> Page {
        var page = try await send(path, form: form)
        for _ in 0..<5 {
            guard page.status == 303, let next = page.location, next.hasPrefix("/") else { break }
            page = try await send(next)
        }
        return page
    }

    private static func escaped(_ text: String) -> String {
        text.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
    }

    /// The value of a hidden field.
    static func field(_ name: String, in page: Page) -> String? {
        guard let start = page.text.range(of: "name=\"\(name)\" value=\"") else { return nil }
        return page.text[start.upperBound...].prefix { $0 != "\"" }.description
    }
}

extension Browser {
    /// Follows a link on the portal's page and presses the button behind it.
    mutating func press(_ action: String, product: String? = nil) async throws -> Page {
        let page = try await open("/portal")
        let pattern = "/portal/change?action=\(action)&amp;subscription="
        let start = try #require(page.text.range(of: pattern), "no way to \(action)")
        let address =
            pattern.replacing("&amp;", with: "&")
            + page.text[start.upperBound...].prefix { $0 != "\"" }.replacing("&amp;", with: "&")
        let asked = try await open(address)
        #expect(asked.status == 200)
        var form: [String: String] = [:]
        for name in ["form", "action", "subscription", "product"] {
            form[name] = Self.field(name, in: asked)
        }
        if let product { #expect(form["product"] == product) }
        return try await open("/portal/change", form: form)
    }
}

extension TestServer {
    /// A browser that knows nobody yet.
    var browser: Browser { Browser(port: client.port ?? 0) }

    /// A browser in the portal of `customer`, by a link.
    func portal(of customer: String, returnURL: String? = nil) async throws -> Browser {
        let session = try await session(of: customer, components: ["customer_portal"])
        let body = returnURL.map { "{\"return_url\":\"\($0)\"}" } ?? "{}"
        let link = try await post("/v1/portal_sessions", as: session, body)
        var browser = browser
        _ = try await browser.open(
            (link.json["url"].string ?? "").replacing(TestServer.publicURL, with: "")
        )
        return browser
    }
}
