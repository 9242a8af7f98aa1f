import HTTPTypes
import Hummingbird
import Markup
import Mustache
import NIOCore

/// The hosted pages: plain HTML that works without scripts.
///
/// Mustache escapes every value.
enum Pages {
    private static let library: MustacheLibrary = {
        let sources: [(String, [UInt8])] = [
            ("layout_top", PackageResources.layout_top_mustache),
            ("layout_bottom", PackageResources.layout_bottom_mustache),
            ("checkout", PackageResources.checkout_mustache),
            ("challenge", PackageResources.challenge_mustache),
            ("message", PackageResources.message_mustache),
            ("invoice", PackageResources.invoice_mustache),
            ("portal", PackageResources.portal_mustache),
            ("confirm", PackageResources.confirm_mustache),
        ]
        var library = MustacheLibrary()
        for (name, bytes) in sources {
            do {
                try library.register(MustacheTemplate(page: bytes), named: name)
            } catch {
                preconditionFailure("The template \(name) is broken: \(error)")
            }
        }
        return library
    }()

    static func render(
        _ template: String,
        _ values: [String: Any],
        status: Int = 200
    ) -> Response {
        let text = library.render(values, withTemplate: template) ?? ""
        var headers = HTTPFields()
        headers[.contentType] = "text/html; charset=utf-8"
        headers[.cacheControl] = "no-store"
        secure(&headers)
        return Response(
            status: HTTPResponse.Status(code: status),
            headers: headers,
            body: ResponseBody(byteBuffer: ByteBuffer(string: text))
        )
    }

    /// No scripts, no frames, nothing from elsewhere.
    ///
    /// Forms are not restricted, since browsers apply that to the redirect to the merchant's page
    /// too.
    private static func secure(_ headers: inout HTTPFields) {
        headers[.contentSecurityPolicy] =
            "default-src 'none'; style-src 'self'; base-uri 'none'; frame-ancestors 'none'"
        headers[.xContentTypeOptions] = "nosniff"
        if let name = HTTPField.Name("Referrer-Policy") { headers[name] = "no-referrer" }
    }

    static func redirect(to url: String) -> Response {
        var headers = HTTPFields()
        headers[.location] = url
        headers[.cacheControl] = "no-store"
        return Response(status: .seeOther, headers: headers)
    }

    static func asset(_ name: String) -> Response {
        guard name == "pages.css" else { return Response(status: .notFound) }
        var headers = HTTPFields()
        headers[.contentType] = "text/css; charset=utf-8"
        headers[.cacheControl] = "max-age=300"
        return Response(
            status: .ok,
            headers: headers,
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: PackageResources.pages_css))
        )
    }

    static func message(
        title: String,
        text: String,
        link: String? = nil,
        linkText: String = "",
        status: Int = 200
    ) -> Response {
        var values: [String: Any] = ["title": title, "text": text, "linkText": linkText]
        if let link { values["link"] = link }
        return render("message", values, status: status)
    }

    static func index(baseURL: String) -> Response {
        message(
            title: "Stripe, played on this machine",
            text: "The API is served under \(baseURL)/v1. Give that address to a Stripe library as "
                + "its base, with the secret key of the sandbox."
        )
    }

    /// The page of an invoice.
    ///
    /// - Parameter entry: what stands in its fields, if it can be paid.
    static func invoice(
        _ invoice: JSON,
        _ entry: CheckoutEntry? = nil,
        decline: Decline? = nil
    ) -> Response {
        let currency = invoice["currency"].text
        let lines: [[String: Any]] = invoice["lines"].elements.map { line in
            [
                "name": line["description"].text,
                "amount": Money.words(line["amount"].count, currency),
            ]
        }
        var values: [String: Any] = [
            "title": "Invoice", "id": invoice["id"].text,
            "number": invoice["number"].string ?? "draft",
            "amount": Money.words(invoice["amount_due"].count, currency),
            "total": Money.words(invoice["total"].count, currency),
            "status": invoice["status"].text, "lines": lines,
            "email": invoice["customer_email"].string ?? "",
        ]
        if let entry {
            values["pay"] = cardFields(entry)
            values["button"] = "Pay \(Money.words(invoice["amount_due"].count, currency))"
        }
        if let decline { values["error"] = decline.message }
        return render("invoice", values, status: decline == nil ? 200 : 402)
    }

    private static func cardFields(_ entry: CheckoutEntry) -> [String: Any] {
        [
            "email": entry.email, "card": entry.card, "expiry": entry.expiry, "name": entry.name,
            "postalCode": entry.postalCode,
        ]
    }
}
