extension Timeline {
    /// When a customer has which product of the catalog, rather than which entitlement: the lookup
    /// keys of the entries are the products' own ids.
    ///
    /// What staff granted is no product.
    public init(ofProducts access: [(Purchase.Key, PurchaseAccess)], in catalog: Catalog) {
        var catalog = catalog
        for index in catalog.products.indices {
            catalog.products[index].entitlements = [catalog.products[index].id]
        }
        self.init(
            access.map { key, access in
                var access = access
                access.intervals.removeAll {
                    !$0.product.store.isSelling && $0.product.catalogProduct == nil
                }
                return (key, access)
            },
            in: catalog
        )
    }
}

extension Catalog {
    /// What stands in the way of buying `product` now, so that nobody pays twice by accident
    /// (`while_active: refuse`).
    ///
    /// Consumables are bought again and again. A plan is also refused while another plan of its
    /// group runs, unless the store would change the one into the other.
    ///
    /// - Parameters:
    ///   - store: where it would be bought.
    ///   - active: the customer's products, as `Timeline(ofProducts:in:)` gives them.
    public func obstacle(
        to product: Product,
        in store: Store,
        among active: [ActiveEntitlement]
    ) -> ActiveEntitlement? {
        guard product.kind != .consumable, product.whileActive == .refuse else { return nil }
        return active.first { held in
            if held.lookupKey == product.id { return true }
            guard let group = product.subscriptionGroup,
                self.product(id: held.lookupKey)?.subscriptionGroup == group
            else { return false }
            return held.purchase.store != store || !store.changesPlans
        }
    }
}
