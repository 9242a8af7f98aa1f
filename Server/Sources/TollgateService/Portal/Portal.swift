internal import Foundation
internal import Storage
public import Stores
public import TollgateAPI
internal import TollgateCore

/// The page where customers see and change what they bought.
public struct Portal: Sendable {
    let records: RecordStore
    let clocks: Clocks
    let random: RandomSource
    let directory: CustomerDirectory
    let coins: Coins
    let standings: Standings
    let connectors: [any StoreConnector]
    /// The store whose plans are changed here; one, since the page has one button for payment methods.
    let billing: (any StoreBilling)?
    /// How often a customer may have a link made.
    let links: CallLimit
    let publicURL: String
    let portalReturnURL: String?

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
        let wayBack = try returnURL.map {
            try ReturnAddress(publicURL: publicURL).address($0, or: "", param: "return_url")
        }
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
                var purchase = standings.shown(
                    HeldPurchase(record, access, in: catalog, at: now)
                )
                let seller = connectors.first { $0.store == record.key.store }
                purchase.shop = seller?.shopName
                purchase.inShop = seller?.inShop
                purchase.managementURL =
                    purchase.kind == .plan ? seller?.managementURL(of: record) : nil
                return purchase
            }
            // A page that was left is no purchase; staff see it.
            .filter { $0.standing.state != .notPaid }
            .sorted {
                ($0.isActive ? 0 : 1, $0.name, $0.id) < ($1.isActive ? 0 : 1, $1.name, $1.id)
            }
        let payers = try await payers(of: purchases, profile)
        let bills = await billing?.invoices(of: payers) ?? StoreInvoices()
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
            hasStripe: billing?.isSetUp == true && !payers.isEmpty,
            returnURL: visit.returnURL
        )
    }

    /// The customers of the store with the invoices that are this customer, by the store's ids.
    private func payers(
        of purchases: [PortalView.Purchase],
        _ profile: Profile
    ) async throws -> [String] {
        guard let store = billing?.store else { return [] }
        var payers = profile.storeCustomers[store].map { [$0] } ?? []
        for payer in purchases.compactMap(\.standing.storeCustomer) where !payers.contains(payer) {
            // Staff may have assigned a purchase that somebody else pays for: what that person has at
            // the store is nobody else's business.
            guard let holder = Holder.storeCustomer(payer, of: store) else { continue }
            let owner = try await records.profile(alias: holder)?.customer
            if owner?.rawValue == profile.customer.id { payers.append(payer) }
        }
        return payers
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
                if purchase.standing.renews { renewing.insert(key) }
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

    /// A link to the store's own page, where payment methods are changed.
    ///
    /// - Parameter flow: `payment_method_update` begins there; `nil`: the page's beginning.
    /// - Throws: refusals 404 `resource_missing`, 503 `store_unavailable`.
    public func paymentPage(_ visit: PortalVisit, flow: String?) async throws -> String {
        try visit.session.require(.customerPortal)
        let now = await clocks.now()
        let catalog = records.history.current
        let profile = try await directory.profile(visit.session.customer.rawValue)
        let purchases = try await records.purchases(
            of: visit.session.customer,
            in: visit.session.environment
        ).map { standings.shown(HeldPurchase($0.record, $0.access, in: catalog, at: now)) }
        let own = try await payers(of: purchases, profile)
        // Whoever pays for a plan now comes before others.
        let first = purchases.map(\.standing).first { plan in
            plan.renews && plan.storeCustomer.map { own.contains($0) } ?? false
        }?.storeCustomer
        let page = try await billing?.page(
            of: [first].compactMap(\.self) + own.filter { $0 != first },
            changingPaymentMethod: flow == "payment_method_update",
            returnURL: portalReturnURL ?? publicURL + "/portal"
        )
        guard let page else { throw Refusal.missing("Stripe customer", profile.customer.id) }
        return page
    }

    /// Changes a plan of the visitor's.
    ///
    /// - Parameter id: the store's id of the plan.
    /// - Throws: refusals 404 `resource_missing`, 402 `payment_failed`, 409 `change_not_possible`, 503
    ///   `store_unavailable`.
    public func change(_ id: String, _ change: PlanChange, in visit: PortalVisit) async throws {
        try visit.session.require(.customerPortal)
        let now = await clocks.now()
        let catalog = records.history.current
        let records = try await records.purchases(
            of: visit.session.customer,
            in: visit.session.environment
        )
        guard let billing,
            let (record, access) = records.first(where: {
                $0.record.key.id == id && $0.record.key.store == billing.store
            }),
            case let plan = standings.shown(HeldPurchase(record, access, in: catalog, at: now))
                .standing, plan.isPlan
        else { throw Refusal.missing("subscription", id, param: "subscription") }
        let isPossible =
            switch change {
            case .cancel: plan.canCancel
            case .resume: plan.canResume
            case .switchPlan(let product): plan.choices.contains { $0.id == product }
            }
        guard isPossible else { throw Refusal.changeNotPossible }
        try await billing.change(record, change)
    }
}

/// What lies behind the token of a portal link.
private struct PortalToken: Codable {
    var visit: PortalVisit
    /// UNIX seconds.
    var expiresAt: Int64
}
