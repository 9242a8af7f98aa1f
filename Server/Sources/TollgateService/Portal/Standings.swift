package import Stores
public import TollgateCore

/// Shows purchases to customers and staff.
///
/// The room of the store that sold a purchase says how it stands.
public struct Standings: Sendable {
    private let stores: [any StoreStandings]

    /// - Parameter stores: those of every room.
    package init(_ stores: [any StoreStandings]) {
        self.stores = stores
    }

    /// The purchase as its customer's portal shows it.
    func shown(_ held: HeldPurchase) -> PortalView.Purchase {
        let (purchase, catalog, products) = (held.purchase, held.catalog, held.products)
        // No store sold a gift; without a room, access says how a purchase stands.
        let standing = room(of: purchase)?.standing(of: held) ?? PurchaseStanding(held.state())
        let names = zip(purchase.storeProducts, products).map { $1?.name ?? $0.id }
        return PortalView.Purchase(
            id: purchase.key.id,
            name: purchase.grant.map {
                catalog.entitlement(lookupKey: $0.value.lookupKey)?.name ?? $0.value.lookupKey
            } ?? names.joined(separator: ", "),
            kind: purchase.grant != nil ? .gift : standing.isPlan ? .plan : .once,
            store: purchase.key.store,
            standing: standing,
            price: held.onlyProduct?.price,
            interval: products.first??.singleInterval,
            isActive: held.isActive,
            lookupKeys: held.active.map(\.lookupKey)
        )
    }

    /// The lines about the purchase on its page for staff.
    package func details(of purchase: Purchase) -> [PurchaseDetail] {
        room(of: purchase)?.details(of: purchase) ?? []
    }

    /// The purchase as its buyer's portal shows it, whoever that is.
    public func shown(
        _ purchase: Purchase,
        in history: CatalogHistory,
        at now: Instant
    ) -> PortalView.Purchase {
        var access = PurchaseAccess()
        for share in purchase.evaluate(in: history).shares { access.merge(share.access) }
        return shown(HeldPurchase(purchase, access, in: history.current, at: now))
    }

    private func room(of purchase: Purchase) -> (any StoreStandings)? {
        stores.first { $0.store == purchase.key.store }
    }
}
