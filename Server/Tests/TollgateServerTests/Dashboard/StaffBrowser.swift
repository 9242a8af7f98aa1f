import AsyncHTTPClient
import Foundation
import HummingbirdTesting
import NIOCore
import NIOHTTP1
import Storage
import Testing
import TollgateAPI
import TollgateService

/// A browser at the dashboard: it keeps its cookies, sends forms with the page's token, and follows
/// redirections within the server.
struct StaffBrowser: Sendable {
    struct Page: Sendable {
        var status: Int
        var headers: HTTPHeaders
        var text: String
        var location: String? { headers.first(name: "Location") }

        /// The value of a hidden field.
        func field(_ name: String) -> String? {
            guard let start = text.range(of: "name=\"\(name)\" value=\"") else { return nil }
            return String(text[start.upperBound...].prefix { $0 != "\"" })
        }

        /// The text between the tags, in one line.
        var words: String {
            text.replacing(/<[^>]*>/, with: " ").replacing(/\s+/, with: " ")
        }
    }

    private static let client = HTTPClient(
        eventLoopGroupProvider: .singleton,
        configuration: HTTPClient.Configuration(redirectConfiguration: .disallow)
    )

    /// `http://localhost:PORT`.
    let base: String
    var cookies: [String: String] = [:]
    /// The token that the last page's forms carried.
    var form: String?
    var language = "en"

    init(_ server: TestServer) {
        base = "http://localhost:\(server.client.port ?? 0)"
    }

    /// One request, no redirection followed.
    mutating func send(
        _ path: String,
        form fields: [String: String]? = nil,
        method: HTTPMethod? = nil,
        headers: [String: String] = [:]
    ) async throws -> Page {
        var request = HTTPClientRequest(url: base + path)
        request.headers.add(name: "Accept-Language", value: language)
        for (name, value) in headers { request.headers.add(name: name, value: value) }
        if !cookies.isEmpty {
            let pairs = cookies.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
            request.headers.add(name: "Cookie", value: pairs.joined(separator: "; "))
        }
        if let fields {
            request.method = .POST
            request.headers.add(name: "Content-Type", value: "application/x-www-form-urlencoded")
            let body = fields.sorted { $0.key < $1.key }.map {
                "\(Self.escaped($0.key))=\(Self.escaped($0.value))"
            }.joined(separator: "&")
            request.body = .bytes(ByteBuffer(string: body))
        }
        if let method { request.method = method }
        let response = try await Self.client.execute(request, timeout: .seconds(300))
        let text = String(buffer: try await response.body.collect(upTo: 1 << 23))
        for set in response.headers[canonicalForm: "Set-Cookie"] {
            let pair = set.prefix { $0 != ";" }.split(
                separator: "=",
                maxSplits: 1,
                omittingEmptySubsequences: false
            )
            guard pair.count == 2 else { continue }
            cookies[String(pair[0])] = pair[1].isEmpty ? nil : String(pair[1])
        }
        let page = Page(status: Int(response.status.code), headers: response.headers, text: text)
        if let token = page.field("form") { form = token }
        return page
    }

    /// A page, and those it leads on to.
    mutating func open(_ path: String, form fields: [String: String]? = nil) async throws -> Page {
        var page = try await send(path, form: fields)
        for _ in 0..<5 {
            guard page.status == 303, let next = page.location, next.hasPrefix("/") else { break }
            page = try await send(next)
        }
        return page
    }

    /// Sends one of the dashboard's forms with its token.
    mutating func press(_ path: String, _ fields: [String: String] = [:]) async throws -> Page {
        var fields = fields
        fields["form"] = form ?? ""
        return try await open(path, form: fields)
    }

    static func escaped(_ text: String) -> String {
        text.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
    }
}

extension TestServer {
    /// A browser of somebody in this role, signed in by a link.
    func staff(_ role: StaffRole, _ name: String? = nil) async throws -> StaffBrowser {
        let name = name ?? "\(role.rawValue)@example.com"
        if try await tollgate.staff.member(name) == nil {
            try await tollgate.staff.add(name, role: role)
        }
        let link = try await tollgate.signIns.link(for: name)
        var browser = StaffBrowser(self)
        let page = try await browser.open(link.replacing(TestServer.publicURL, with: ""))
        #expect(page.status == 200)
        return browser
    }
}
