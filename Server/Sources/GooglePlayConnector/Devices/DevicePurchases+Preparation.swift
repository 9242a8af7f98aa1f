internal import Storage
internal import Stores
public import TollgateAPI
public import TollgateCore

extension DevicePurchases {
    /// Prepares a purchase that the app is about to begin: the account token that goes with it.
    ///
    /// - Parameter app: the app that begins it, where there are several; `nil`: the first.
    /// - Throws: refusals 404 `resource_missing`, 409 `already_active`.
    public func prepare(
        _ request: API.GooglePlayPreparationRequest,
        for customer: Customer.ID,
        in environment: StoreEnvironment,
        of app: Catalog.App? = nil
    ) async throws -> API.GooglePlayPreparation {
        let context = reads.context
        let catalog = context.records.history.current
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
        let token = try await context.profile(of: customer).customer.appAccountToken
        try await context.requireNotActive(
            product,
            in: .googlePlay,
            for: customer,
            environment: environment
        )
        return API.GooglePlayPreparation(
            product: product.id,
            googlePlayProductID: name,
            obfuscatedAccountID: token
        )
    }
}
