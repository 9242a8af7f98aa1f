internal import Foundation
internal import HTTPTypes
internal import Hummingbird
internal import Logging
internal import Stores
internal import TollgateService

/// One request to the dashboard.
struct Ask: Sendable {
    let request: Request
    let context: ServerRequestContext
    let language: Language
    /// The parts of the path after `/dashboard`, unescaped.
    let path: [String]

    init(_ request: Request, _ context: ServerRequestContext, language: Language) {
        self.request = request
        self.context = context
        self.language = language
        path = request.uri.path.split(separator: "/").dropFirst().map {
            $0.removingPercentEncoding ?? String($0)
        }
    }

    /// The first part of the path: `customers`; empty for the overview.
    var section: String { path.first ?? "" }

    /// Whether it asks for a page, and changes nothing.
    var isReading: Bool { request.method == .get || request.method == .head }

    /// This page's path, with one slash between its parts.
    ///
    /// Requests for `//dashboard` come here, too; in a link it would name a host.
    var pagePath: String {
        "/" + request.uri.path.split(separator: "/").joined(separator: "/")
    }

    /// Path and query, to come back to.
    var address: String {
        pagePath + (request.uri.query.map { "?\($0)" } ?? "")
    }

    /// This page's address with other parameters; `nil` takes one away.
    ///
    /// What was said of a deed, and a form that is no page, are left behind.
    func address(with changes: KeyValuePairs<String, String?>) -> String {
        var pairs: [(name: String, value: String)] = []
        for (name, value) in request.uri.queryParameters where name != "done" && name != "format" {
            guard !changes.contains(where: { $0.key == name }) else { continue }
            pairs.append((String(name), String(value)))
        }
        for (name, value) in changes {
            if let value { pairs.append((name, value)) }
        }
        guard !pairs.isEmpty else { return pagePath }
        return pagePath + "?"
            + pairs.map { "\(Self.escaped($0.name))=\(Self.escaped($0.value))" }
            .joined(separator: "&")
    }

    /// Names this request in the log and in the audit log.
    var requestID: String { context.logger[metadataKey: "hb.request.id"].map { "\($0)" } ?? "" }

    /// A parameter of the query; `nil` where it is empty.
    func query(_ name: String) -> String? {
        guard let value = request.uri.queryParameters[Substring(name)], !value.isEmpty,
            !value.utf8.contains(0)
        else { return nil }
        return String(value)
    }

    /// An amount of the query in thousandths: 9990 for `9.99`; `nil` where it is empty.
    ///
    /// - Throws: a refusal 400 `parameter_invalid`.
    func milliunits(_ name: String) throws -> Int64? {
        guard let text = query(name) else { return nil }
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        let rest = parts.count == 2 ? parts[1] : ""
        guard parts.count <= 2, rest.utf8.count <= 3, rest.utf8.allSatisfy({ 48...57 ~= $0 }),
            let whole = parts.first.flatMap({ Int64($0) }), (0...1_000_000_000_000).contains(whole),
            let part = Int64(rest + String(repeating: "0", count: 3 - rest.utf8.count))
        else { throw Refusal.invalid(name, "An amount looks like 9.99.") }
        return whole * 1000 + part
    }

    /// The fields of the form that was sent.
    func form() async throws -> [String: String] {
        let form = try StrictBody.form(try await request.bytes(upTo: 1 << 20))
        // PostgreSQL has no text with NUL, and nothing here is named by one.
        guard !form.values.contains(where: { $0.utf8.contains(0) }) else {
            throw HTTPError(.badRequest)
        }
        return form
    }

    /// For the query of an address.
    static func escaped(_ text: String) -> String {
        text.addingPercentEncoding(withAllowedCharacters: unreserved) ?? ""
    }

    private static let unreserved = CharacterSet(
        charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~"
    )

    /// A page of the dashboard to come back to; the overview where it is none.
    static func wayBack(_ address: String?) -> String {
        guard let address,
            address == "/dashboard" || address.hasPrefix("/dashboard/")
                || address.hasPrefix("/dashboard?"), !address.contains("\\"),
            !address.contains("//"),
            address.unicodeScalars.allSatisfy({ $0.value > 0x20 && $0.value < 0x7F })
        else { return "/dashboard" }
        return address
    }
}
