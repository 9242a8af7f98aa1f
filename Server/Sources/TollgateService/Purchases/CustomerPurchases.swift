internal import Storage
internal import Stores
public import TollgateAPI
public import TollgateCore

/// The purchases of a customer, with all that an app says of each.
public struct CustomerPurchases: Sendable {
    let records: RecordStore
    let clocks: Clocks
    let directory: CustomerDirectory
    let standings: Standings
    let connectors: [any StoreConnector]
    let defaultEnvironment: StoreEnvironment

    /// Every plan of `customer`, and whatever else gives access now.
    ///
    /// - Throws: refusals 404 `resource_missing`, 410 `customer_erased`.
    public func list(
        of customer: String,
        in environment: StoreEnvironment? = nil
    ) async throws -> API.CustomerPurchaseList {
        let environment = environment ?? defaultEnvironment
        let id = Customer.ID(try await directory.customer(customer).id)
        let now = await clocks.now()
        let catalog = records.history.current
        let purchases = try await records.purchases(of: id, in: environment)
            .compactMap { record, access in
                customerPurchase(record, access, in: catalog, at: now)
            }
            .sorted {
                ($0.entitlements.isEmpty ? 1 : 0, $0.name, $0.id)
                    < ($1.entitlements.isEmpty ? 1 : 0, $1.name, $1.id)
            }
        return API.CustomerPurchaseList(
            data: purchases,
            environment: API.Environment(rawValue: environment.rawValue),
            at: now.milliseconds
        )
    }

    /// `nil` for what is no plan and gives no access, and for a page that was left.
    private func customerPurchase(
        _ record: TollgateCore.Purchase,
        _ access: PurchaseAccess,
        in catalog: Catalog,
        at now: Instant
    ) -> API.CustomerPurchase? {
        let held = HeldPurchase(record, access, in: catalog, at: now)
        let shown = standings.shown(held)
        let (standing, active) = (shown.standing, held.active)
        guard standing.state != .notPaid, shown.kind == .plan || !active.isEmpty else { return nil }
        let seller = connectors.first { $0.store == record.key.store }
        let product = held.products.lazy.compactMap(\.self).first
        let isPlan = shown.kind == .plan
        let hasProblem = isPlan && standing.hasPaymentProblem(active)
        let ends = active.map(\.until)
        return API.CustomerPurchase(
            id: record.key.canonical,
            store: record.key.store.rawValue,
            product: product?.id,
            name: shown.name,
            kind: shown.kind.word,
            status: hasProblem
                ? "payment_failed" : active.isEmpty ? standing.state.wordWithoutAccess : "active",
            entitlements: active.map(\.lookupKey),
            until: ends.contains(nil) ? nil : ends.compactMap { $0?.milliseconds }.max(),
            willRenew: standing.renews,
            offer: active.isEmpty ? nil : standing.offer?.rawValue,
            paymentProblem: hasProblem,
            managementURL: isPlan ? seller?.managementURL(of: record) : nil,
            // When a failed payment is tried again is the store's secret.
            nextCharge: hasProblem ? nil : standing.nextCharge.map { .init($0) },
            interval: isPlan ? product?.interval : nil,
            intervalCount: isPlan ? product?.intervalCount : nil
        )
    }
}

extension PortalView.Purchase.Kind {
    fileprivate var word: String {
        switch self {
        case .plan: "plan"
        case .once: "once"
        case .gift: "grant"
        }
    }
}

extension PurchaseStanding.State {
    /// How a purchase that opens nothing stands, whose payment has not failed.
    fileprivate var wordWithoutAccess: String {
        switch self {
        case .paused: "paused"
        case .processing: "processing"
        case .startsLater: "starts_later"
        // A plan of coins alone, or one whose product the catalog does not know yet.
        case .renews, .endsAt, .trial: "active"
        case .ended, .paymentFailed, .forever, .bought, .refunded, .notPaid, .inactive: "ended"
        }
    }
}

extension API.CustomerPurchase.NextCharge {
    fileprivate init(_ charge: PurchaseStanding.NextCharge) {
        self.init(
            at: charge.at.milliseconds,
            price: charge.price.map { .init(amount: $0.amount, currency: $0.currency) },
            awaitsConsent: charge.awaitsConsent
        )
    }
}

extension PurchaseStanding {
    /// Whether the last payment of a plan failed and can still be mended.
    fileprivate func hasPaymentProblem(_ active: [ActiveEntitlement]) -> Bool {
        if case .paymentFailed = state { return true }
        if active.contains(where: { $0.ground == .grace }) { return true }
        return active.isEmpty && isRetried
    }
}
