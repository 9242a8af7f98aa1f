internal import Foundation
internal import Storage
internal import StripeAPI
public import TollgateAPI
public import TollgateCore

/// Everything a customer has bought, wherever they bought it, for the portal page.
public struct PortalView: Sendable {
    public struct Purchase: Sendable {
        public var name: String
        public var store: Store
        /// A sentence: `until 2026-12-01`, `ended`.
        public var state: String
        public var isActive: Bool
    }

    public var customer: API.Customer
    public var purchases: [Purchase]
    public var coins: API.CoinBalance
    /// Stripe's own portal; `nil` where the customer has nothing there.
    public var stripePortalURL: String?
}

extension Tollgate {
    /// A link to the portal page for the customer of `session`, good for as long as the session.
    ///
    /// - Parameter returnURL: a page of this server to which the portal's way back leads.
    /// - Throws: refusals 403 `component_disabled`, 422 `redirect_forbidden`.
    public func createPortalSession(
        _ session: CustomerSession,
        returnURL: String? = nil
    ) async throws -> API.PortalSession {
        try session.require(.customerPortal)
        let wayBack = try returnURL.map { try redirect($0, "", "return_url") }
        let fresh = try await createSession(
            API.CreateCustomerSessionRequest(
                customer: session.customer.rawValue,
                components: API.SessionComponents(customerPortal: .enabled)
            ),
            environment: session.environment,
            notAfter: session.expiresAt
        )
        var url = "\(configuration.publicURL)/portal?session=\(fresh.clientSecret)"
        if let escaped = wayBack?.addingPercentEncoding(withAllowedCharacters: .alphanumerics) {
            url += "&return_url=\(escaped)"
        }
        return API.PortalSession(url: url)
    }

    /// Where the portal's way back leads: `asked` where that is a page of this server.
    public func wayBack(_ asked: String?) -> String? {
        asked.flatMap { try? redirect($0, "", "return_url") }
    }

    /// What the portal page shows.
    // Optimised, this function crashes the compiler (Swift 6.3.1, release builds).
    @_optimize(none)
    public func portal(_ session: CustomerSession) async throws -> PortalView {
        try session.require(.customerPortal)
        let profile = try await profile(session.customer.rawValue)
        let now = await clocks.now()
        let catalog = store.history.current
        let records = try await store.purchases(of: session.customer, in: session.environment)
        var purchases: [PortalView.Purchase] = []
        for (record, access) in records {
            let timeline = Timeline([(record.key, access)], in: catalog)
            let active = timeline.active(at: now).first
            let names = record.storeProducts.map { catalog.product($0)?.name ?? $0.id }
            let state: String
            if let active {
                state = active.until.map { "until \($0.description.prefix(10))" } ?? "for ever"
            } else if let last = timeline.entries.compactMap(\.until).max() {
                state = last <= now ? "ended \(last.description.prefix(10))" : "starts later"
            } else {
                state = "bought"
            }
            purchases.append(
                PortalView.Purchase(
                    name: names.joined(separator: ", "),
                    store: record.key.store,
                    state: state,
                    isActive: active != nil
                )
            )
        }
        var stripeURL: String?
        if let stripe, let customer = profile.stripeCustomer {
            let made = try? await stripe.createPortalSession(
                customer: customer,
                returnURL: configuration.publicURL + "/",
                idempotencyKey: newID("tollgate-portal-")
            )
            stripeURL = made?.value.url
        }
        return PortalView(
            customer: profile.customer,
            purchases: purchases,
            coins: try await coins(of: profile.customer.id, in: session.environment),
            stripePortalURL: stripeURL
        )
    }
}
