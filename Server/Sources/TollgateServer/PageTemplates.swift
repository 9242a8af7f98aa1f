internal import HTTPTypes
internal import Hummingbird
internal import Markup
internal import Mustache
internal import NIOCore

/// The templates, compiled once for the process, and how a page goes out.
struct PageTemplates: Sendable {
    private let library: MustacheLibrary

    init() throws {
        library = try Self.compiled.get()
    }

    private static let compiled = Result {
        MustacheLibrary(templates: [
            "plain": try MustacheTemplate(page: PackageResources.plain_mustache),
            "checkout": try MustacheTemplate(page: PackageResources.checkout_mustache),
            "portal": try MustacheTemplate(page: PackageResources.portal_mustache),
            "statement": try MustacheTemplate(page: PackageResources.statement_mustache),
            "unsubscribe": try MustacheTemplate(page: PackageResources.unsubscribe_mustache),
            "portal_change": try MustacheTemplate(page: PackageResources.portal_change_mustache),
        ])
    }

    /// A page that runs no scripts, is framed by nobody and kept by nobody.
    func page(_ name: String, _ content: Any, status: HTTPResponse.Status = .ok) -> Response {
        let html = library.render(content, withTemplate: name) ?? ""
        var headers: HTTPFields = [
            .contentType: "text/html; charset=utf-8", .cacheControl: "no-store",
        ]
        headers[.contentSecurityPolicy] =
            "default-src 'none'; style-src 'self'; img-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'"
        headers[.xContentTypeOptions] = "nosniff"
        if let name = HTTPField.Name("Referrer-Policy") { headers[name] = "no-referrer" }
        return Response(
            status: status,
            headers: headers,
            body: .init(byteBuffer: ByteBuffer(string: html))
        )
    }

    /// Sends the browser on with a GET.
    func redirect(to address: String, cookie: String? = nil) -> Response {
        var headers: HTTPFields = [.location: address, .cacheControl: "no-store"]
        if let name = HTTPField.Name("Referrer-Policy") { headers[name] = "no-referrer" }
        if let cookie { headers[.setCookie] = cookie }
        return Response(status: .seeOther, headers: headers)
    }
}
