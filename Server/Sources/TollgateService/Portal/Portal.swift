internal import Foundation
internal import Logging
internal import Storage
internal import Stores
internal import StripeAPI
internal import StripeConnector
public import TollgateAPI
internal import TollgateCore

/// The page where customers see and change what they bought.
public struct Portal: Sendable {
    let records: RecordStore
    let clocks: Clocks
    let random: RandomSource
    let directory: CustomerDirectory
    let coins: Coins
    let checkouts: Checkouts
    let stripe: StripeConnector
    let connectors: [any StoreConnector]
    /// How often a customer may have a link made.
    let links: CallLimit
    let publicURL: String
    let portalReturnURL: String?
    let logger: Logger

    /// A link to the portal page for the customer of `session`: it works once, within five minutes.
    ///
    /// A link that lies in a history or a log must open nothing, so it carries no session.
    ///
    /// - Parameter returnURL: a page of this server to which the portal's way back leads.
    /// - Throws: refusals 403 `component_disabled`, 422 `redirect_forbidden`, 429 `rate_limited`.
    public func createSession(
        _ session: CustomerSession,
        returnURL: String? = nil
    ) async throws -> API.PortalSession {
        try session.require(.customerPortal)
        let wayBack = try returnURL.map { try checkouts.redirect($0, "", "return_url") }
        try links.admit(session.customer.rawValue, at: clocks.wall())
        let now = clocks.wall().milliseconds / 1000
        let visit = PortalVisit(
            session: CustomerSession(
                customer: session.customer,
                environment: session.environment,
                components: API.SessionComponents(customerPortal: .enabled),
                created: now,
                expiresAt: session.expiresAt
            ),
            returnURL: wayBack,
            parent: session.keptUnder?.hex
        )
        let token = random.id("ptok_", length: 48)
        let isKept = try await records.sessions.keep(
            token,
            customer: session.customer,
            body: Array(try APIJSON.encode(PortalToken(visit: visit, expiresAt: now + 300))),
            expires: min(now + 300, session.expiresAt)
        )
        guard isKept else { throw Refusal.erased("customer") }
        return API.PortalSession(url: "\(publicURL)/portal?token=\(token)")
    }

    /// Opens the portal with the token of a link.
    ///
    /// - Returns: the secret by which the browser is known from now on, and until when (UNIX
    ///   seconds); `nil` where the token was used before, or is too old.
    public func open(token: String) async throws -> (secret: String, expiresAt: Int64)? {
        guard token.hasPrefix("ptok_"), let body = try await records.sessions.take(token) else {
            return nil
        }
        let kept = try APIJSON.decode(PortalToken.self, from: Data(body))
        let now = clocks.wall().milliseconds / 1000
        guard now < kept.expiresAt, now < kept.visit.session.expiresAt,
            try await isSignedIn(kept.visit)
        else { return nil }
        let secret = random.id("portal_", length: 48)
        let isKept = try await records.sessions.keep(
            secret,
            customer: kept.visit.session.customer,
            body: Array(try APIJSON.encode(kept.visit)),
            expires: kept.visit.session.expiresAt
        )
        return isKept ? (secret, kept.visit.session.expiresAt) : nil
    }

    /// The visit that a browser is in; `nil` where it has ended or never was.
    public func visit(_ secret: String) async throws -> PortalVisit? {
        guard secret.hasPrefix("portal_"), let body = try await records.sessions.session(secret)
        else {
            return nil
        }
        let visit = try APIJSON.decode(PortalVisit.self, from: Data(body))
        let now = clocks.wall().milliseconds / 1000
        guard now < visit.session.expiresAt, try await isSignedIn(visit) else { return nil }
        return visit
    }

    /// Whether the session still is that led to the portal.
    private func isSignedIn(_ visit: PortalVisit) async throws -> Bool {
        guard let parent = visit.parent else { return true }
        return try await records.sessions.hasSession(keptUnder: parent)
    }

    /// Proves that a form of the portal's was filled in on our page: another site does not know it.
    public func formToken(_ secret: String) -> String {
        RowKey("portal form", secret).hex
    }

    /// What the portal page shows.
    public func view(_ visit: PortalVisit) async throws -> PortalView {
        let session = visit.session
        try session.require(.customerPortal)
        let profile = try await directory.profile(session.customer.rawValue)
        let now = await clocks.now()
        let catalog = records.history.current
        let purchases = try await records.purchases(of: session.customer, in: session.environment)
            .map { record, access -> PortalView.Purchase in
                var purchase = record.portalPurchase(access, in: catalog, at: now)
                let seller = connectors.first { $0.store == record.key.store }
                purchase.shop = seller?.shopName
                purchase.inShop = seller?.inShop
                purchase.managementURL =
                    purchase.kind == .plan ? seller?.managementURL(of: record) : nil
                return purchase
            }
            // A page that was left is no purchase; staff see it.
            .filter { $0.state != .notPaid }
            .sorted {
                ($0.isActive ? 0 : 1, $0.name, $0.id) < ($1.isActive ? 0 : 1, $1.name, $1.id)
            }
        let stripeCustomers = try await stripeCustomers(of: purchases, profile)
        let bills = await invoices(of: stripeCustomers)
        let transfers = try await records.transfers(of: session.customer, in: session.environment)
        let twice = paidTwice(purchases, catalog)
        return PortalView(
            customer: profile.customer,
            purchases: purchases,
            coins: try await coins.balance(of: profile.customer.id, in: session.environment),
            coinMovements: transfers.suffix(10).reversed().map { .init(amount: $0.amount) },
            invoices: bills.invoices,
            lacksInvoices: bills.isIncomplete,
            paidTwice: twice.names,
            paidTwicePlaces: twice.places,
            paidTwiceShops: twice.shops,
            hasStripe: stripe.client != nil && !stripeCustomers.isEmpty,
            returnURL: visit.returnURL
        )
    }

    private func stripeCustomers(
        of purchases: [PortalView.Purchase],
        _ profile: Profile
    ) async throws -> [String] {
        var customers = profile.stripeCustomer.map { [$0] } ?? []
        for customer in purchases.compactMap(\.storeCustomer) where !customers.contains(customer) {
            // Staff may have assigned a purchase that somebody else pays for: what that person has at
            // Stripe is nobody else's business.
            let owner = try await records.profile(alias: .stripeCustomer(customer))?.customer
            if owner?.rawValue == profile.customer.id { customers.append(customer) }
        }
        return customers
    }

    /// What is open by a plan that renews in one store and by another store too: money for nothing.
    ///
    /// - Returns: the entitlements' names, where they are paid, and what these stores are called.
    private func paidTwice(
        _ purchases: [PortalView.Purchase],
        _ catalog: Catalog
    ) -> (names: [String], places: [String], shops: [String]) {
        var stores: [String: Set<Store>] = [:]
        var renewing: Set<String> = []
        for purchase in purchases where purchase.isActive && purchase.kind != .gift {
            for key in purchase.lookupKeys {
                stores[key, default: []].insert(purchase.store)
                if purchase.renews { renewing.insert(key) }
            }
        }
        let twice = stores.filter { $0.value.count > 1 && renewing.contains($0.key) }
        let sellers = twice.values.reduce(into: Set()) { $0.formUnion($1) }
        return (
            twice.keys.sorted().map { catalog.entitlement(lookupKey: $0)?.name ?? $0 },
            connectors.filter { sellers.contains($0.store) }.map(\.inShop),
            connectors.filter { sellers.contains($0.store) }.map(\.shopName)
        )
    }

    /// The newest invoices, as many as Stripe lists at once; the page is shown without them where Stripe is out of reach.
    private func invoices(
        of customers: [String]
    ) async -> (invoices: [PortalView.Invoice], isIncomplete: Bool) {
        guard let stripe = stripe.client else { return ([], false) }
        var invoices: [PortalView.Invoice] = []
        for customer in customers.prefix(3) {
            do {
                let page = try await stripe.list(
                    ["invoices"],
                    ["customer": .string(customer), "limit": .integer(100)],
                    of: Stripe.Invoice.self
                )
                invoices += page.value.data.compactMap { invoice in
                    guard let status = invoice.status, status != .draft else { return nil }
                    return PortalView.Invoice(
                        number: invoice.number ?? invoice.id,
                        created: Instant(seconds: invoice.created),
                        amount: .init(amount: invoice.total, currency: invoice.currency),
                        status: status.rawValue,
                        url: invoice.hostedInvoiceURL
                    )
                }
            } catch let error where error.isMissing("customer") {
                continue
            } catch {
                logger.warning(
                    "the portal is shown without invoices",
                    metadata: ["error": "\(error)"]
                )
                return (invoices, true)
            }
        }
        return (invoices.sorted { $0.created > $1.created }, false)
    }

    /// A link to Stripe's own portal, where payment methods are changed.
    ///
    /// - Parameter flow: `payment_method_update` begins there; `nil`: the portal's first page.
    public func stripePortal(_ visit: PortalVisit, flow: String?) async throws -> String {
        try visit.session.require(.customerPortal)
        let stripe = try stripe.reads.configured()
        let now = await clocks.now()
        let catalog = records.history.current
        let profile = try await directory.profile(visit.session.customer.rawValue)
        let purchases = try await records.purchases(
            of: visit.session.customer,
            in: visit.session.environment
        ).map { $0.record.portalPurchase($0.access, in: catalog, at: now) }
        // Whoever pays for a plan now comes before others.
        let own = try await stripeCustomers(of: purchases, profile)
        let payer = purchases.first { plan in
            plan.renews && plan.storeCustomer.map { own.contains($0) } ?? false
        }?.storeCustomer
        for customer in [payer].compactMap(\.self) + own.filter({ $0 != payer }) {
            do {
                let isUpdate = flow == "payment_method_update"
                let made = try await stripe.createPortalSession(
                    customer: customer,
                    returnURL: portalReturnURL ?? publicURL + "/portal",
                    flow: isUpdate ? ["type": .string("payment_method_update")] : [:],
                    idempotencyKey: random.id("tollgate-portal-")
                )
                return made.value.url
            } catch {
                guard error.isMissing("customer") else { throw checkouts.unavailable(error) }
            }
        }
        throw Refusal.missing("Stripe customer", profile.customer.id)
    }

    /// Changes a Stripe subscription of the visitor's.
    ///
    /// What Stripe answers is recorded at once, so that the next page shows it before any webhook.
    ///
    /// - Throws: refusals 404 `resource_missing`, 402 `payment_failed`, 409 `change_not_possible`.
    public func change(
        _ subscription: String,
        _ change: PortalChange,
        in visit: PortalVisit
    ) async throws {
        try visit.session.require(.customerPortal)
        let stripe = try stripe.reads.configured()
        let now = await clocks.now()
        let catalog = records.history.current
        let records = try await records.purchases(
            of: visit.session.customer,
            in: visit.session.environment
        )
        guard
            let (record, access) = records.first(where: {
                $0.record.key.id == subscription && $0.record.subscription != nil
            }), let known = record.subscription?.value
        else { throw Refusal.missing("subscription", subscription, param: "subscription") }
        let shown = record.portalPurchase(access, in: catalog, at: now)
        let parameters: Stripe.Parameters
        switch change {
        case .cancel where shown.canCancel:
            parameters = ["cancel_at_period_end": .bool(true)]
        case .resume where shown.canResume:
            // With flexible billing Stripe's own portal sets only an instant (reference §3).
            parameters =
                known.cancelsAtPeriodEnd
                ? ["cancel_at_period_end": .bool(false)] : ["cancel_at": .string("")]
        case .switchPlan(let product):
            guard shown.choices.contains(where: { $0.product == product }),
                let price = catalog.product(id: product)?.stripePriceIDs.first,
                let item = known.items.first
            else { throw notPossible }
            parameters = [
                "items": .list([
                    .hash([
                        "id": .string(item.id), "price": .string(price),
                        "quantity": .integer(item.quantity),
                    ])
                ]), "proration_behavior": .string("always_invoice"),
                "payment_behavior": .string("error_if_incomplete"),
            ]
        default: throw notPossible
        }
        let answer: Stripe.Answer<Stripe.Subscription>
        do {
            answer = try await stripe.updateSubscription(
                subscription,
                parameters,
                idempotencyKey: random.id("tollgate-portal-change-")
            )
        } catch {
            if case .refused(let refused) = error, refused.status == 402 {
                throw Refusal(
                    402,
                    "payment_failed",
                    "The payment failed, so nothing was changed. Change the payment method and try again."
                )
            }
            throw checkouts.unavailable(error)
        }
        try await self.stripe.reads.record(
            answer.value,
            at: try await self.stripe.reads.instantOfRead(
                answer.date,
                testClock: answer.value.testClock?.id
            )
        )
    }

    private var notPossible: Refusal {
        Refusal.conflict(
            "change_not_possible",
            "This can no longer be changed in that way; load the page again."
        )
    }
}

/// What lies behind the token of a portal link.
private struct PortalToken: Codable {
    var visit: PortalVisit
    /// UNIX seconds.
    var expiresAt: Int64
}
