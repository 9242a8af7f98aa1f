internal import Storage
internal import Stores
public import TollgateAPI
public import TollgateCore

/// What apps show together, and to whom.
public struct Offerings: Sendable {
    let records: RecordStore
    let clocks: Clocks

    /// Every offering of the catalog.
    ///
    /// - Parameter app: the app that asks, where there are several; `nil`: the first.
    public func all(for app: Catalog.App? = nil) -> API.OfferingList {
        let catalog = records.history.current
        return API.OfferingList(
            data: catalog.offerings.map { catalog.published($0, for: app ?? catalog.apps.first) }
        )
    }

    /// What `customer` sees at a placement: the first variant where nobody is signed in.
    ///
    /// - Throws: a refusal 404 `resource_missing`.
    public func placement(
        _ id: String,
        for customer: Customer.ID?,
        in app: Catalog.App? = nil
    ) throws -> API.Placement {
        let catalog = records.history.current
        guard let placement = catalog.placement(id: id),
            let shown = placement.offering(
                ofTicket: customer.map { Self.ticket(of: $0, at: id) } ?? 0
            ),
            let offering = catalog.offering(id: shown)
        else { throw Refusal.missing("placement", id) }
        return API.Placement(
            id: id,
            offering: catalog.published(offering, for: app ?? catalog.apps.first)
        )
    }

    /// A number from 0 to 99 that a customer keeps at a placement, and that says nothing about the one
    /// at another placement.
    static func ticket(of customer: Customer.ID, at placement: String) -> Int {
        Int(RowKey("placement ticket", placement, customer.rawValue).high % 100)
    }

    /// Journals that `customer` has seen an offering at a placement.
    ///
    /// Durable when this returns. Repeating it changes nothing: the first time in each environment
    /// stands.
    ///
    /// - Parameter environment: that of the customer's session.
    /// - Throws: refusals 404 `resource_missing` for a placement that no catalog of this server ever
    ///   had, 400 `parameter_invalid` for an offering that it never had among its variants.
    public func show(
        _ request: API.PlacementShownRequest,
        at id: String,
        to customer: Customer.ID,
        in environment: StoreEnvironment
    ) async throws -> API.PlacementShown {
        let placements = records.history.versions.compactMap { $0.catalog.placement(id: id) }
        guard !placements.isEmpty else { throw Refusal.missing("placement", id) }
        let offering = request.offering
        guard placements.contains(where: { $0.variants.contains { $0.offering == offering } })
        else {
            throw Refusal.invalid(
                "offering",
                "The placement '\(id.prefix(80))' has no variant '\(offering.prefix(80))'; name the offering that GET /v1/placements/\(id.prefix(80)) answered."
            )
        }
        let shown = ShownOffering(placement: id, offering: offering, environment: environment)
        let outcome = try await records.submit(
            .message(
                dedupeKey: RowKey("shown", customer.rawValue, id, offering)
                    .inEnvironment(environment),
                subject: RecordStore.subject(of: customer),
                kind: .command,
                stated: await clocks.now(),
                facts: [],
                received: Array(try APIJSON.encode(shown))
            )
        )
        let isNew = if case .recorded = outcome { true } else { false }
        return API.PlacementShown(placement: id, offering: offering, new: isNew)
    }
}

extension Catalog {
    /// An offering with what the app needs to sell its products.
    fileprivate func published(_ offering: Offering, for app: App?) -> API.Offering {
        API.Offering(
            id: offering.id,
            products: offering.products.compactMap { product(id: $0) }.map { product in
                API.Offering.Product(
                    id: product.id,
                    name: product.name,
                    kind: product.kind.rawValue,
                    appStoreProductID: product.appStoreProductID(in: app?.id),
                    googlePlayProductID: product.googlePlayProductID(in: app?.id),
                    buyButton: buyButtons.first {
                        $0.product == product.id && $0.quantity == 1
                    }?.id,
                    promotionalOffers: product.promotionalOffers,
                    price: product.price.map { .init(amount: $0.amount, currency: $0.currency) },
                    interval: product.interval,
                    intervalCount: product.intervalCount
                )
            },
            texts: offering.texts.mapValues { .init(title: $0.title, body: $0.body) }
        )
    }
}
