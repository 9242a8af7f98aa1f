internal import Storage
internal import Stores
public import TollgateAPI
public import TollgateCore

/// Free subscriptions, which the app takes and removes for a customer.
public struct FreeSubscriptions: Sendable {
    let records: RecordStore
    let clocks: Clocks
    let directory: CustomerDirectory
    let defaultEnvironment: StoreEnvironment

    /// The app reports that `customer` took a free subscription, on whichever device.
    ///
    /// Who has it already, by an earlier report or by a receipt of the App Store, keeps what they
    /// have.
    ///
    /// - Returns: the subscription, and whether it is new.
    /// - Throws: refusals 400 `parameter_invalid` for another kind of product, 404, or 429
    ///   `too_many_statements` for who takes and removes it all day.
    public func take(
        _ request: API.FreeSubscriptionRequest,
        for customer: String,
        in environment: StoreEnvironment? = nil
    ) async throws -> (subscription: API.FreeSubscription, isNew: Bool) {
        let product = try freeProduct(request.product)
        guard !product.isRetired else { throw Refusal.missing("product", product.id) }
        let id = Customer.ID(try await directory.customer(customer).id)
        let environment = environment ?? defaultEnvironment
        let purchases = try await records.purchases(of: id, in: environment)
        let now = await clocks.now()
        if let held = held(product, among: purchases, at: now) {
            let answer = API.FreeSubscription(
                customer: id.rawValue,
                product: product.id,
                since: held.since.milliseconds
            )
            return (answer, false)
        }
        let key = key(of: product, for: id, in: environment)
        let reports = purchases.first { $0.record.key == key }?.record.freeSubscription ?? []
        try requireFew(reports, at: now)
        let stated = await clocks.later(than: reports.last?.stated.instant)
        try await report(product, of: id, isOn: true, about: key, at: stated)
        let answer = API.FreeSubscription(
            customer: id.rawValue,
            product: product.id,
            since: stated.milliseconds
        )
        return (answer, true)
    }

    /// The app reports that `customer` removed a free subscription.
    ///
    /// It ends on all devices, whatever it came from; taking it again brings it back.
    ///
    /// - Throws: refusals 404 `resource_missing` where the customer does not have it, 429
    ///   `too_many_statements` for who takes and removes it all day.
    public func remove(
        _ productID: String,
        of customer: String,
        in environment: StoreEnvironment? = nil
    ) async throws -> API.FreeSubscription {
        let product = try freeProduct(productID)
        let id = Customer.ID(try await directory.customer(customer).id)
        let environment = environment ?? defaultEnvironment
        let purchases = try await records.purchases(of: id, in: environment)
        let now = await clocks.now()
        guard let held = held(product, among: purchases, at: now) else {
            throw Refusal.missing("free subscription", productID, param: "product")
        }
        var until = now
        let holding = purchases.filter { self.held(product, among: [$0], at: now) != nil }
        for (record, _) in holding { try requireFew(record.freeSubscription ?? [], at: now) }
        for (record, _) in holding {
            let stated = await clocks.later(than: record.freeSubscription?.last?.stated.instant)
            until = max(until, stated)
            try await report(product, of: id, isOn: false, about: record.key, at: stated)
        }
        return API.FreeSubscription(
            customer: id.rawValue,
            product: product.id,
            since: held.since.milliseconds,
            until: until.milliseconds
        )
    }

    /// Every report is kept and makes the record longer, so there are ten within a day at most, and a
    /// hundred within a year.
    private func requireFew(_ reports: [Newest<FreeSubscription>], at now: Instant) throws {
        for (days, most) in [(1, 10), (365, 100)] as [(Int64, Int)] {
            let since = now.advanced(by: -days * 86_400_000)
            guard reports.filter({ $0.stated.instant > since }).count >= most else { continue }
            let span = days == 1 ? "a day" : "a year"
            throw Refusal(
                429,
                .invalidRequestError,
                "too_many_statements",
                "This free subscription was taken or removed \(most) times within \(span); try "
                    + "again later.",
                param: "product"
            )
        }
    }

    private func freeProduct(_ id: String) throws -> Catalog.Product {
        guard let product = records.history.current.product(id: id) else {
            throw Refusal.missing("product", id, param: "product")
        }
        guard product.kind == .freeSubscription else {
            throw Refusal.invalid("product", "'\(product.id)' is not a free subscription.")
        }
        return product
    }

    private func held(
        _ product: Catalog.Product,
        among purchases: [(record: Purchase, access: PurchaseAccess)],
        at instant: Instant
    ) -> ActiveEntitlement? {
        // A report may lie a moment ahead of a clock that stands still.
        let reports = purchases.compactMap { $0.record.freeSubscription?.last?.stated.instant }
        let at = max(instant, reports.max() ?? instant)
        return Timeline(
            ofProducts: purchases.map { ($0.record.key, $0.access) },
            in: records.history.current
        ).active(at: at).first { $0.lookupKey == product.id }
    }

    private func key(
        of product: Catalog.Product,
        for customer: Customer.ID,
        in environment: StoreEnvironment
    ) -> Purchase.Key {
        Purchase.Key(
            store: .tollgate,
            environment: environment,
            application: "-",
            id: "free_\(RowKey("free subscription", customer.rawValue, product.id).hex)"
        )
    }

    private func report(
        _ product: Catalog.Product,
        of customer: Customer.ID,
        isOn: Bool,
        about key: Purchase.Key,
        at stated: Instant
    ) async throws {
        let word = isOn ? "taken" : "removed"
        try await records.journal(
            Fact(
                purchase: key,
                source: "free_subscription:\(word)",
                stated: Stated(stated),
                statement: .freeSubscription(
                    FreeSubscription(customer: customer, product: product.id, isOn: isOn)
                )
            ),
            dedupeKey: RowKey("free subscription", key.canonical, word, "\(stated.milliseconds)")
        )
    }
}
