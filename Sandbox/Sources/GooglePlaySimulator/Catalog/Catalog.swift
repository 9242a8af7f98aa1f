/// The products that the app sells.
struct Catalog: Hashable, Sendable, Codable {
    var subscriptions: [SubscriptionProduct]?
    var oneTimeProducts: [OneTimeProduct]?

    func subscription(_ id: String) throws(Refusal) -> SubscriptionProduct {
        guard let product = subscriptions?.first(where: { $0.productID == id }) else {
            throw .notFound("subscription \(id)")
        }
        return product
    }

    func oneTimeProduct(_ id: String) throws(Refusal) -> OneTimeProduct {
        guard let product = oneTimeProducts?.first(where: { $0.productID == id }) else {
            throw .notFound("one-time product \(id)")
        }
        return product
    }

    /// The highest price that is reckoned with: a billion of a currency's units.
    static let highestPrice: Int64 = 1_000_000_000_000_000

    /// - Throws: where a price or a period makes no sense.
    func check() throws(Refusal) {
        let plans = (subscriptions ?? []).flatMap(\.basePlans)
        let phases = plans.flatMap { $0.offers ?? [] }.flatMap(\.phases)
        guard (plans.map(\.period) + phases.map(\.duration)).allSatisfy({ !$0.isNothing }),
            phases.allSatisfy({ (0...100).contains($0.count ?? 1) }),
            plans.allSatisfy({ (1...100).contains($0.committedPayments ?? 1) })
        else { throw .invalid("A period is at least P1D, and a count 1 to 100.") }
        let options = (oneTimeProducts ?? []).flatMap(\.options)
        let prices =
            plans.map(\.priceMicros) + phases.compactMap(\.priceMicros)
            + plans.flatMap { ($0.regions ?? [:]).values.map(\.priceMicros) }
            + options.map(\.priceMicros)
            + options.flatMap { $0.offers ?? [] }.compactMap(\.priceMicros)
        guard prices.allSatisfy((0...Self.highestPrice).contains) else {
            throw .invalid("A price is 0 to \(Self.highestPrice) millionths.")
        }
    }

    func title(of id: String) -> String {
        (subscriptions?.first { $0.productID == id }?.title
            ?? oneTimeProducts?.first { $0.productID == id }?.title) ?? id
    }

    /// Adds products, or replaces those of the same id.
    mutating func merge(_ other: Catalog) {
        var subscriptions = subscriptions ?? []
        for product in other.subscriptions ?? [] {
            subscriptions.removeAll { $0.productID == product.productID }
            subscriptions.append(product)
        }
        var products = oneTimeProducts ?? []
        for product in other.oneTimeProducts ?? [] {
            products.removeAll { $0.productID == product.productID }
            products.append(product)
        }
        self = Catalog(subscriptions: subscriptions, oneTimeProducts: products)
    }

    /// Moves the release of a pre-order offer.
    mutating func moveRelease(
        of product: String,
        option: String,
        offer: String,
        to time: Int64
    ) throws(Refusal) {
        guard let index = oneTimeProducts?.firstIndex(where: { $0.productID == product }),
            let place = oneTimeProducts?[index].purchaseOptions?.firstIndex(where: {
                $0.purchaseOptionID == option
            }),
            let found = oneTimeProducts?[index].purchaseOptions?[place].offers?.firstIndex(where: {
                $0.offerID == offer
            })
        else { throw .notFound("offer \(offer) of \(product)") }
        oneTimeProducts?[index].purchaseOptions?[place].offers?[found].releaseTime = time
    }

    /// Changes what new subscribers pay for a base plan.
    ///
    /// - Parameter region: Only there; `nil` means wherever no price of its own is set.
    mutating func setPrice(
        _ micros: Int64,
        product: String,
        plan: String,
        region: String?
    ) throws(Refusal) {
        guard let index = subscriptions?.firstIndex(where: { $0.productID == product }),
            let place = subscriptions?[index].basePlans.firstIndex(where: {
                $0.basePlanID == plan
            })
        else { throw .notFound("base plan \(plan) of \(product)") }
        guard let region else {
            subscriptions?[index].basePlans[place].priceMicros = micros
            return
        }
        let currency = subscriptions?[index].basePlans[place].price(in: region).currency ?? "USD"
        let price = RegionalPrice(priceMicros: micros, currency: currency)
        var regions = subscriptions?[index].basePlans[place].regions ?? [:]
        regions[region] = price
        subscriptions?[index].basePlans[place].regions = regions
    }
}
