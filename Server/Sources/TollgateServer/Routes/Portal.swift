internal import Foundation
internal import HTTPTypes
internal import Hummingbird
internal import Stores
internal import TollgateAPI
internal import TollgateCore
internal import TollgateService

/// The customer portal: one page for everything that was bought, and what can be done about it.
///
/// A link carries a token that works once; from then on a cookie that only this page sees says who
/// is there.
func addPortal(
    to router: Router<ServerRequestContext>,
    _ tollgate: Tollgate,
    _ pages: PageTemplates
) {
    let desk = PortalDesk(tollgate: tollgate, pages: pages)
    addPortalPage(to: router, tollgate, pages, desk)
    router.get(APIPath.portalChange.route) { request, context in
        try await desk.visit(request, context) { secret, visit in
            let query = request.uri.queryParameters
            let view = try await tollgate.portal.view(visit)
            let page = PortalChangePage(
                view,
                PortalText(desk.language(of: request)),
                subscription: query["subscription"].map(String.init) ?? "",
                action: query["action"].map(String.init) ?? "",
                product: query["product"].map(String.init),
                form: tollgate.portal.formToken(secret)
            )
            guard let page else { return pages.redirect(to: "/portal?done=gone") }
            return pages.page("portal_change", page)
        }
    }
    router.post(APIPath.portalChange.route) { request, context in
        try await desk.visit(request, context, calling: true) { secret, visit in
            let form = try StrictBody.form(try await request.bytes(upTo: 16 << 10))
            guard form["form"] == tollgate.portal.formToken(secret),
                let change = PlanChange(form), let subscription = form["subscription"]
            else { return pages.redirect(to: "/portal?done=gone") }
            do {
                try await tollgate.portal.change(subscription, change, in: visit)
                return pages.redirect(to: "/portal?done=\(form["action"] ?? "")")
            } catch let refusal as Refusal where refusal.status < 500 {
                let word = refusal.status == 402 ? "declined" : "gone"
                return pages.redirect(to: "/portal?done=\(word)")
            } catch let refusal as Refusal where refusal.status >= 502 {
                return pages.redirect(to: "/portal?done=later")
            }
        }
    }
    router.get(APIPath.portalStripe.route) { request, context in
        try await desk.visit(request, context, calling: true) { _, visit in
            do {
                let flow = request.uri.queryParameters["flow"].map(String.init)
                return pages.redirect(to: try await tollgate.portal.paymentPage(visit, flow: flow))
            } catch let refusal as Refusal {
                let word = refusal.status < 500 ? "gone" : "later"
                return pages.redirect(to: "/portal?done=\(word)")
            }
        }
    }
}

/// The page itself, the way in, and the choice of a language.
private func addPortalPage(
    to router: Router<ServerRequestContext>,
    _ tollgate: Tollgate,
    _ pages: PageTemplates,
    _ desk: PortalDesk
) {
    router.get(APIPath.portal.route) { request, context in
        if let token = request.uri.queryParameters["token"].map(String.init) {
            // Looking ahead must not use the link up.
            guard request.method == .get else { return pages.redirect(to: "/portal") }
            return try await desk.open(token, desk.language(of: request))
        }
        if let language = request.parameter("lang").flatMap({ CustomerLanguage(rawValue: $0) }) {
            return desk.choose(language)
        }
        let text = PortalText(desk.language(of: request))
        return try await desk.visit(request, context) { secret, visit in
            let view = try await tollgate.portal.view(visit)
            return pages.page(
                "portal",
                PortalPage(
                    view,
                    text,
                    returnURL: visit.returnURL ?? tollgate.configuration.appURL,
                    notice: PortalPage.notice(request.parameter("done"), text),
                    page: request.parameter("page").flatMap { Int($0) } ?? 1
                )
            )
        }
    }
}

extension PlanChange {
    /// What a form of the portal's asks for.
    fileprivate init?(_ form: [String: String]) {
        switch form["action"] {
        case "cancel": self = .cancel
        case "resume": self = .resume
        case "switch":
            guard let product = form["product"] else { return nil }
            self = .switchPlan(product: product)
        default: return nil
        }
    }
}

/// Lets visitors in and recognises them.
private struct PortalDesk: Sendable {
    let tollgate: Tollgate
    let pages: PageTemplates

    private static let cookieName = "tollgate_portal"

    func open(_ token: String, _ language: CustomerLanguage) async throws -> Response {
        guard let visit = try await tollgate.portal.open(token: token) else {
            return expired(language)
        }
        let seconds = max(0, visit.expiresAt - tollgate.clocks.wall().milliseconds / 1000)
        let isSecure = tollgate.configuration.publicURL.hasPrefix("https://")
        return pages.redirect(
            to: "/portal",
            cookie:
                "\(Self.cookieName)=\(visit.secret); Path=/portal; Max-Age=\(seconds); HttpOnly; "
                + "SameSite=Lax" + (isSecure ? "; Secure" : "")
        )
    }

    /// Answers who is recognised, and asks everybody else to come by a fresh link.
    ///
    /// Each page asks Stripe for invoices, so visits are counted.
    ///
    /// - Parameter isCalling: whether Stripe is to do something.
    func visit(
        _ request: Request,
        _ context: ServerRequestContext,
        calling isCalling: Bool = false,
        _ answer: (String, PortalVisit) async throws -> Response
    ) async throws -> Response {
        guard let secret = Self.secret(in: request),
            let visit = try await tollgate.portal.visit(secret)
        else { return expired(language(of: request)) }
        do {
            let limits = tollgate.callLimits
            let now = tollgate.clocks.wall()
            let limit = isCalling ? limits.storeCalls : limits.questions
            try limit.admit(visit.session.customer.rawValue, at: now)
            let address = ClientAddress(request, context, tollgate).text
            try limits.addresses.admit(address, at: now)
        } catch {
            return tooMany(error, tollgate, pages, language(of: request))
        }
        return try await answer(secret, visit)
    }

    private static let languageCookie = "tollgate_portal_language"

    /// As chosen on the page, else as the browser would have it.
    func language(of request: Request) -> CustomerLanguage {
        Self.cookie(Self.languageCookie, in: request).flatMap { CustomerLanguage(rawValue: $0) }
            ?? request.language
    }

    /// Keeps a language for this browser, and goes on to the page.
    func choose(_ language: CustomerLanguage) -> Response {
        let isSecure = tollgate.configuration.publicURL.hasPrefix("https://")
        return pages.redirect(
            to: "/portal",
            cookie: "\(Self.languageCookie)=\(language.rawValue); Path=/portal; "
                + "Max-Age=31536000; HttpOnly; SameSite=Lax" + (isSecure ? "; Secure" : "")
        )
    }

    private static func secret(in request: Request) -> String? {
        cookie(cookieName, in: request)
    }

    private static func cookie(_ name: String, in request: Request) -> String? {
        for header in request.headers[values: .cookie] {
            for pair in header.split(separator: ";") {
                let parts = pair.split(separator: "=", maxSplits: 1)
                guard parts.count == 2,
                    parts[0].trimmingCharacters(in: .whitespaces) == name
                else { continue }
                return parts[1].trimmingCharacters(in: .whitespaces)
            }
        }
        return nil
    }

    private func expired(_ language: CustomerLanguage) -> Response {
        pages.page(
            "checkout",
            CheckoutPage(.linkExpired, appURL: tollgate.configuration.appURL, language),
            status: .unauthorized
        )
    }
}
