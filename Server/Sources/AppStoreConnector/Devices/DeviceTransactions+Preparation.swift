internal import Storage
internal import Stores
public import TollgateAPI
public import TollgateCore

extension DeviceTransactions {
    /// Prepares a purchase that the app is about to begin: the account token that goes with it.
    ///
    /// - Parameter app: the app that begins it, where there are several; `nil`: the first.
    /// - Throws: refusals 404 `resource_missing`, 409 `already_active` with `until` where the
    ///   customer has it and the catalog does not sell it twice.
    public func prepare(
        _ request: API.AppStorePurchaseRequest,
        for customer: Customer.ID,
        in environment: StoreEnvironment,
        of app: Catalog.App? = nil
    ) async throws -> API.AppStorePurchase {
        let (product, productID) = try context.records.history.current.appStoreProduct(
            request.product,
            of: app
        )
        let token = try await context.profile(of: customer).customer.appAccountToken
        try await context.requireNotActive(
            product,
            in: .appStore,
            for: customer,
            environment: environment
        )
        return API.AppStorePurchase(
            product: product.id,
            appStoreProductID: productID,
            appAccountToken: token
        )
    }
}
