internal import Foundation
internal import HTTPTypes
internal import Hummingbird
internal import Stores
internal import StripeConnector
internal import TollgateAPI
internal import TollgateAssembly
internal import TollgateService

/// The pages that people see: where Checkout begins and returns to, and the portal.
func addPages(to router: Router<ServerRequestContext>, _ tollgate: Tollgate) throws {
    let pages = try PageTemplates()
    let appURL = tollgate.configuration.appURL
    router.get(APIPath.stylesheet.route) { _, _ in
        Response.text(
            String(decoding: PackageResources.tollgate_css, as: UTF8.self),
            type: "text/css; charset=utf-8"
        )
    }
    router.get(APIPath.checkoutRedirectSuccess.route) { request, context in
        let session = request.uri.queryParameters["session_id"].map(String.init)
        do {
            try limit(tollgate.callLimits.returns, request, context, tollgate)
        } catch {
            return tooMany(error, tollgate, pages, request.language)
        }
        let page = await outcome(of: session, tollgate)
        return pages.page("checkout", CheckoutPage(page, appURL: appURL, request.language))
    }
    router.get(APIPath.checkoutRedirectCancel.route) { request, _ in
        pages.page("checkout", CheckoutPage(.cancelled, appURL: appURL, request.language))
    }
    router.get(APIPath.buy.route) { request, context in
        do {
            try limit(tollgate.callLimits.visits, request, context, tollgate)
        } catch {
            return tooMany(error, tollgate, pages, request.language)
        }
        return await checkout(of: try context.id, request, tollgate, pages)
    }
    addPortal(to: router, tollgate, pages)
    addUnsubscribe(to: router, tollgate, pages)
}

/// Counts one visit from where the request comes.
private func limit(
    _ limit: CallLimit,
    _ request: Request,
    _ context: ServerRequestContext,
    _ tollgate: Tollgate
) throws {
    try limit.admit(ClientAddress(request, context, tollgate).text, at: tollgate.clocks.wall())
}

/// Says to a person what `rate_limited` says to a program.
func tooMany(
    _ error: any Error,
    _ tollgate: Tollgate,
    _ pages: PageTemplates,
    _ language: CustomerLanguage
) -> Response {
    let refusal = Refusal(telling: error)
    tollgate.counters.count(
        "tollgate_refusals_total",
        "status=\"\(refusal.status)\",code=\"\(refusal.error.code.rawValue)\""
    )
    var response = pages.page(
        "checkout",
        CheckoutPage(.tooMany, appURL: tollgate.configuration.appURL, language),
        status: HTTPResponse.Status(code: refusal.status)
    )
    if let seconds = refusal.retryAfter { response.headers[.retryAfter] = "\(seconds)" }
    return response
}

/// Sends a visitor to a fresh page of Checkout: what a buy button's `checkout_url` leads to.
private func checkout(
    of button: String,
    _ request: Request,
    _ tollgate: Tollgate,
    _ pages: PageTemplates
) async -> Response {
    let query = request.uri.queryParameters
    do {
        let checkout = try await tollgate.stripe.checkouts.create(
            API.CheckoutSessionRequest(
                buyButton: button,
                storefront: query["storefront"].map(String.init)
            ),
            customer: nil,
            reference: query["client_reference_id"].map(String.init)
        )
        return pages.redirect(to: checkout.url)
    } catch {
        let refusal = Refusal(telling: error)
        let isMissing = refusal.status == 404
        var page = CheckoutPage(
            isMissing ? .notSold : .closed,
            appURL: tollgate.configuration.appURL,
            request.language
        )
        if !isMissing, refusal.status < 500 { page.message = refusal.error.message }
        return pages.page(
            "checkout",
            page,
            status: HTTPResponse.Status(code: refusal.status)
        )
    }
}

/// What the return page says.
///
/// It fulfils by itself, since the webhook may come hours later; and it believes Stripe, never the
/// address it was opened with.
private func outcome(of session: String?, _ tollgate: Tollgate) async -> CheckoutPage.Kind {
    guard let session, session.hasPrefix("cs_"), session.utf8.count < 256,
        let fulfilment = try? await tollgate.stripe.reads.fulfilment(ofCheckoutSession: session)
    else { return .processing }
    return switch fulfilment {
    case .fulfilled: .fulfilled
    case .expired: .expired
    case .failed: .failed
    case .processing, .open: .processing
    }
}

/// A page that says one thing, and leads back to the app.
struct CheckoutPage {
    /// What it says; its texts are in the catalogue of texts under `page_` and this word.
    enum Kind: String, CaseIterable {
        case fulfilled, processing, cancelled, expired, failed, closed
        case notSold = "not_sold"
        case tooMany = "too_many"
        case linkExpired = "link_expired"
        case unsubscribed
        case unsubscribeBroken = "unsubscribe_broken"
    }

    var title: String
    /// The class of its mark.
    var kind: String
    var message: String
    var appURL: String?
    var lang: String
    var toApp: String
    /// What is drawn above the title: a check, a dash, or the hands of a clock.
    private var mark: String

    init(_ page: Kind, appURL: String?, _ language: CustomerLanguage) {
        let words = Words.of(language)
        title = words["page_\(page.rawValue)_title"]
        message = words["page_\(page.rawValue)_text"]
        self.appURL = appURL
        lang = language.rawValue
        toApp = words["portal_to_app"]
        switch page {
        case .fulfilled, .unsubscribed: (kind, mark) = ("success", "M17 29l8 8 15-17")
        case .processing, .tooMany: (kind, mark) = ("processing", "M28 17v13l8 5")
        case .cancelled, .expired, .failed, .closed, .notSold, .linkExpired, .unsubscribeBroken:
            (kind, mark) = ("cancelled", "M19 28h18")
        }
    }
}

extension Request {
    /// The language of customers' pages that the browser would rather have; else English.
    var language: CustomerLanguage {
        preferred(headers[.acceptLanguage]) { CustomerLanguage(tag: $0) } ?? .english
    }
}
