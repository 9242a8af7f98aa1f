internal import AppStoreConnector
internal import Storage
internal import Stores
public import TollgateAPI
public import TollgateCore

/// What is decided about purchases: whether one may begin, and whose one is.
public struct Purchases: Sendable {
    let records: RecordStore
    let clocks: Clocks
    let directory: CustomerDirectory

    /// What goes with a purchase in the App Store that the app is about to begin.
    ///
    /// - Parameter app: the app that begins it, where there are several; `nil`: the first.
    /// - Throws: refusals 404 `resource_missing`, 409 `already_active` with `until` where the
    ///   customer has it and the catalog does not sell it twice. What a store delivers anyway is
    ///   taken in and lasts after what is there.
    public func prepareInAppStore(
        _ request: API.AppStorePurchaseRequest,
        for session: CustomerSession,
        in app: Catalog.App? = nil
    ) async throws -> API.AppStorePurchase {
        let (product, productID) = try records.history.current.appStoreProduct(
            request.product,
            of: app
        )
        let customer = try await directory.customer(session.customer.rawValue)
        try await requireNotActive(
            product,
            in: .appStore,
            for: session.customer,
            environment: session.environment
        )
        return API.AppStorePurchase(
            product: product.id,
            appStoreProductID: productID,
            appAccountToken: customer.appAccountToken
        )
    }

    /// What goes with a purchase in Google Play that the app is about to begin.
    ///
    /// - Parameter app: the app that begins it, where there are several; `nil`: the first.
    /// - Throws: refusals 404 `resource_missing`, 409 `already_active`.
    public func prepareInGooglePlay(
        _ request: API.GooglePlayPreparationRequest,
        for session: CustomerSession,
        in app: Catalog.App? = nil
    ) async throws -> API.GooglePlayPreparation {
        let catalog = records.history.current
        let app = app?.id ?? catalog.apps.first?.id
        let product =
            catalog.product(id: request.product)
            ?? catalog.products.first {
                $0.googlePlayProductID(in: app) == request.product && !$0.isRetired
            }
        guard let product, !product.isRetired, let name = product.googlePlayProductID(in: app)
        else {
            throw Refusal.missing("product in Google Play", request.product, param: "product")
        }
        let customer = try await directory.customer(session.customer.rawValue)
        try await requireNotActive(
            product,
            in: .googlePlay,
            for: session.customer,
            environment: session.environment
        )
        return API.GooglePlayPreparation(
            product: product.id,
            googlePlayProductID: name,
            obfuscatedAccountID: customer.appAccountToken
        )
    }

    /// - Throws: a refusal 409 `already_active` where the customer has `product` already and the
    ///   catalog says `while_active: refuse`.
    func requireNotActive(
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

    /// Staff decide whose a purchase is: this comes before every policy (RULES §8).
    ///
    /// - Throws: refusals 400 `parameter_invalid`, 404 `resource_missing`.
    public func assign(
        _ request: API.PurchaseAssignment,
        to customer: String
    ) async throws -> API.PurchaseAssignment {
        guard let key = Purchase.Key(canonical: request.purchase) else {
            throw Refusal.invalid(
                "purchase",
                "A purchase is named as entitlements name it: app_store/production/com.example.app/2000000001."
            )
        }
        let id = Customer.ID(try await directory.customer(customer).id)
        guard let record = try await records.record(of: key) else {
            throw Refusal.missing("purchase", request.purchase, param: "purchase")
        }
        let answer = API.PurchaseAssignment(purchase: key.canonical, customer: id.rawValue)
        guard record.assignment?.value.customer != id else { return answer }
        let stated = await clocks.later(than: record.assignment?.stated.instant)
        try await records.journal(
            Fact(
                purchase: key,
                source: "assignment:\(id)",
                stated: Stated(stated),
                statement: .assignment(Assignment(customer: id))
            ),
            dedupeKey: RowKey("assignment", key.canonical, "\(stated.milliseconds)")
        )
        return answer
    }
}
