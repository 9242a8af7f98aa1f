internal import Foundation
internal import HTTPTypes
internal import Hummingbird
internal import Mustache
internal import NIOCore
internal import TollgateAPI
internal import TollgateCore
internal import TollgateService

/// The pages that people see: where Checkout returns to, and the portal.
func addPages(to router: Router<ServerRequestContext>, _ tollgate: Tollgate) throws {
    let pages = try Pages()
    let appURL = tollgate.configuration.appURL
    router.get("/assets/tollgate.css") { _, _ in
        Response.text(
            String(decoding: PackageResources.tollgate_css, as: UTF8.self),
            type: "text/css; charset=utf-8"
        )
    }
    router.get(APIPath.checkoutRedirectSuccess.route) { request, _ in
        let session = request.uri.queryParameters["session_id"].map(String.init)
        var page = await outcome(of: session, tollgate)
        page.appURL = appURL
        return pages.page("checkout", page)
    }
    router.get(APIPath.checkoutRedirectCancel.route) { _, _ in
        pages.page(
            "checkout",
            CheckoutPage(
                title: "Checkout was cancelled",
                kind: "cancelled",
                message: "You were not charged. You can close this page and go back to the app.",
                appURL: appURL
            )
        )
    }
    router.get(APIPath.portal.route) { request, _ in
        let secret = request.uri.queryParameters["session"].map(String.init) ?? ""
        do {
            let session = try await tollgate.session(secret)
            let wayBack = tollgate.wayBack(
                request.uri.queryParameters["return_url"].map(String.init)
            )
            let view = try await tollgate.portal(session)
            return pages.page("portal", PortalPage(view, returnURL: wayBack ?? appURL))
        } catch let refusal as Refusal where refusal.status < 500 {
            return pages.page(
                "checkout",
                CheckoutPage(
                    title: "This link has expired",
                    kind: "cancelled",
                    message: "Open the portal again from the app.",
                    appURL: appURL
                ),
                status: .unauthorized
            )
        }
    }
}

/// What the return page says.
///
/// It fulfils by itself, since the webhook may come hours later; and it believes Stripe, never the
/// address it was opened with.
private func outcome(of session: String?, _ tollgate: Tollgate) async -> CheckoutPage {
    let processing = CheckoutPage(
        title: "Your payment is being processed",
        kind: "processing",
        message: "The app will show your purchase as soon as the payment is confirmed."
    )
    guard let session, session.hasPrefix("cs_"), session.utf8.count < 256 else { return processing }
    do {
        let checkout = try await tollgate.fulfilment(ofCheckoutSession: session)
        return checkout
            ? CheckoutPage(
                title: "Thank you",
                kind: "success",
                message: "Your purchase is ready. You can close this page and go back to the app."
            )
            : processing
    } catch {
        return processing
    }
}

struct CheckoutPage {
    var title: String
    var kind: String
    var message: String
    var appURL: String?
    /// What is drawn above the title: a check, a dash, or the hands of a clock.
    private var mark: String

    init(title: String, kind: String, message: String, appURL: String? = nil) {
        self.title = title
        self.kind = kind
        self.message = message
        self.appURL = appURL
        mark =
            switch kind {
            case "success": "M17 29l8 8 15-17"
            case "cancelled": "M19 28h18"
            default: "M28 17v13l8 5"
            }
    }
}

struct PortalPage {
    struct Row {
        var name: String
        var store: String
        var state: String
        var isActive: Bool
        var isAppStore: Bool
        /// Whether it gives access for a time, rather than something to use up.
        var isLasting: Bool
    }

    var user: String
    var rows: [Row]
    var isEmpty: Bool
    var coins: Int64
    var debt: Int64?
    var stripeURL: String?
    var returnURL: String?

    init(_ view: PortalView, returnURL: String?) {
        self.returnURL = returnURL
        user = view.customer.appUserID
        rows = view.purchases.map {
            Row(
                name: $0.name,
                store: $0.store == .appStore ? "App Store" : $0.store == .stripe ? "Web" : "Gift",
                state: $0.state,
                isActive: $0.isActive,
                isAppStore: $0.store == .appStore,
                isLasting: $0.state != "bought"
            )
        }
        isEmpty = rows.isEmpty
        coins = view.coins.spendable
        debt = view.coins.debt > 0 ? view.coins.debt : nil
        stripeURL = view.stripePortalURL
    }
}

/// The templates, compiled once.
struct Pages: Sendable {
    private let library: MustacheLibrary

    init() throws {
        library = MustacheLibrary(templates: [
            "checkout": try Self.template(PackageResources.checkout_mustache),
            "portal": try Self.template(PackageResources.portal_mustache),
        ])
    }

    private static func template(_ bytes: [UInt8]) throws -> MustacheTemplate {
        try MustacheTemplate(string: String(decoding: bytes, as: UTF8.self))
    }

    func page(_ name: String, _ content: Any, status: HTTPResponse.Status = .ok) -> Response {
        let html = library.render(content, withTemplate: name) ?? ""
        var headers: HTTPFields = [
            .contentType: "text/html; charset=utf-8", .cacheControl: "no-store",
        ]
        headers[.contentSecurityPolicy] =
            "default-src 'none'; style-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'"
        headers[.xContentTypeOptions] = "nosniff"
        if let name = HTTPField.Name("Referrer-Policy") { headers[name] = "no-referrer" }
        return Response(
            status: status,
            headers: headers,
            body: .init(byteBuffer: ByteBuffer(string: html))
        )
    }
}
