internal import Foundation
internal import HTTPTypes
internal import Hummingbird
internal import Logging
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

    /// Path and query, to come back to.
    var address: String {
        request.uri.path + (request.uri.query.map { "?\($0)" } ?? "")
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
