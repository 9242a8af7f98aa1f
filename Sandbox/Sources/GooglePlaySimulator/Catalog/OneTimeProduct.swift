/// A product that is bought once, or again once it is consumed.
struct OneTimeProduct: Hashable, Sendable, Codable {
    var productID: String
    var title: String?
    /// The price of the only way to buy it, where no purchase options are named.
    var priceMicros: Int64?
    var currency: String?
    var purchaseOptions: [PurchaseOption]?

    var options: [PurchaseOption] {
        purchaseOptions ?? [
            PurchaseOption(
                purchaseOptionID: "buy",
                priceMicros: priceMicros ?? 990_000,
                currency: currency,
                isMultiQuantity: true
            )
        ]
    }

    func option(_ id: String?) throws(Refusal) -> PurchaseOption {
        guard
            let found = id.map({ id in options.first { $0.purchaseOptionID == id } })
                ?? options.first
        else { throw .notFound("purchase option \(id ?? "") of \(productID)") }
        return found
    }
}

/// A way to buy or rent a one-time product.
struct PurchaseOption: Hashable, Sendable, Codable {
    var purchaseOptionID: String
    var priceMicros: Int64
    var currency: String?
    var isMultiQuantity: Bool?
    /// Makes it a rental; reads of a purchase do not tell it.
    var rentalPeriod: BillingPeriod?
    var offers: [OneTimeOffer]?

    var price: Money { Money(currency: currency ?? "USD", micros: priceMicros) }

    func offer(_ id: String?) throws(Refusal) -> OneTimeOffer? {
        guard let id else { return nil }
        guard let offer = offers?.first(where: { $0.offerID == id }) else {
            throw .notFound("offer \(id) of \(purchaseOptionID)")
        }
        return offer
    }
}

/// A discount, or a pre-order where a release is named.
struct OneTimeOffer: Hashable, Sendable, Codable {
    var offerID: String
    var priceMicros: Int64?
    /// The release of a pre-order, in UNIX milliseconds.
    var releaseTime: Int64?
    var tags: [String]?
}
