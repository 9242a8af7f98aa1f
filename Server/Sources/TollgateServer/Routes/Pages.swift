internal import Foundation
internal import HTTPTypes
internal import Hummingbird
internal import Stores
internal import StripeConnector
internal import TollgateAPI
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
            return tooMany(error, tollgate, pages)
        }
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
    router.get(APIPath.buy.route) { request, context in
        do {
            try limit(tollgate.callLimits.visits, request, context, tollgate)
        } catch {
            return tooMany(error, tollgate, pages)
        }
        return await checkout(of: try context.id, request, tollgate, pages)
    }
    addPortal(to: router, tollgate, pages)
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
func tooMany(_ error: any Error, _ tollgate: Tollgate, _ pages: PageTemplates) -> Response {
    let refusal = Refusal(telling: error)
    tollgate.counters.count(
        "tollgate_refusals_total",
        "status=\"\(refusal.status)\",code=\"\(refusal.error.code.rawValue)\""
    )
    var response = pages.page(
        "checkout",
        CheckoutPage(
            title: "Too many visits at once",
            kind: "processing",
            message: "Wait a minute and open this page again. What was paid for is not lost.",
            appURL: tollgate.configuration.appURL
        ),
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
        let checkout = try await tollgate.checkouts.create(
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
        return pages.page(
            "checkout",
            CheckoutPage(
                title: isMissing ? "This is not sold" : "The shop is closed for the moment",
                kind: "cancelled",
                message: isMissing
                    ? "Go back to the app and try again from there."
                    : refusal.status < 500
                        ? refusal.error.message : "You were not charged. Try again in a minute.",
                appURL: tollgate.configuration.appURL
            ),
            status: HTTPResponse.Status(code: refusal.status)
        )
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
    guard let session, session.hasPrefix("cs_"), session.utf8.count < 256,
        let fulfilment = try? await tollgate.stripe.reads.fulfilment(ofCheckoutSession: session)
    else { return processing }
    switch fulfilment {
    case .fulfilled:
        return CheckoutPage(
            title: "Thank you",
            kind: "success",
            message: "Your purchase is ready. You can close this page and go back to the app."
        )
    case .expired:
        return CheckoutPage(
            title: "This checkout has expired",
            kind: "cancelled",
            message: "You were not charged. Begin again from the app."
        )
    case .failed:
        return CheckoutPage(
            title: "The payment failed",
            kind: "cancelled",
            message: "Your bank refused it, so nothing was bought. Begin again from the app."
        )
    case .processing, .open:
        return processing
    }
}

struct CheckoutPage {
    var title: String
    var kind: String
    var message: String
    var appURL: String?
    var lang: String
    var toApp: String
    /// What is drawn above the title: a check, a dash, or the hands of a clock.
    private var mark: String

    init(
        title: String,
        kind: String,
        message: String,
        appURL: String? = nil,
        language: Language = .english
    ) {
        lang = language.rawValue
        toApp = Words.of(language)["portal_to_app"]
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
