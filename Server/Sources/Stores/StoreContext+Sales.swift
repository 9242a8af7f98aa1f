internal import Storage
internal import TollgateAPI
public import TollgateCore

extension StoreContext {
    /// Refuses a sale to a customer who has the product already.
    ///
    /// What a store delivers anyway is taken in and lasts after what is there.
    ///
    /// - Throws: a refusal 409 `already_active` with `until` where the customer has `product` and the
    ///   catalog says `while_active: refuse`.
    public func requireNotActive(
        _ product: Catalog.Product,
        in seller: Store,
        for customer: Customer.ID,
        environment: StoreEnvironment
    ) async throws {
        guard product.whileActive == .refuse, product.kind != .consumable else { return }
        let catalog = records.history.current
        let access = try await records.purchases(of: customer, in: environment)
            .map { ($0.record.key, $0.access) }
        let active = Timeline(ofProducts: access, in: catalog).active(at: await clocks.now())
        guard let held = catalog.obstacle(to: product, in: seller, among: active) else { return }
        let until = held.until.map { "until \($0)" } ?? "for ever"
        var refusal = Refusal.conflict(
            .alreadyActive,
            "The customer has '\(held.lookupKey)' \(until); '\(product.id)' is not sold beside it.",
            param: "product"
        )
        refusal.error.until = held.until?.milliseconds
        throw refusal
    }
}
