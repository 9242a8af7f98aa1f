internal import Stores
internal import Storage
public import TollgateAPI
public import TollgateCore

/// The buy buttons of the catalog.
public struct BuyButtons: Sendable {
    let records: RecordStore
    let publicURL: String

    /// What an app needs to show a buy button of its own.
    ///
    /// - Parameters:
    ///   - storefront: the App Store storefront of the device; where the button may not be offered
    ///     there it is not active.
    ///   - app: the app that asks, where there are several; `nil`: the first.
    public func button(
        _ id: String,
        storefront: String? = nil,
        for app: Catalog.App? = nil
    ) throws -> API.BuyButton {
        let catalog = records.history.current
        guard let button = catalog.buyButton(id: id),
            let product = catalog.product(id: button.product)
        else { throw Refusal.missing("buy button", id) }
        let price = product.price
        let (amount, overflow) = (price?.amount ?? 0).multipliedReportingOverflow(
            by: Int64(button.quantity)
        )
        return API.BuyButton(
            id: button.id,
            active: !product.isRetired && !product.stripePriceIDs.isEmpty
                && storefront.map { catalog.checkout.storefronts.contains($0.uppercased()) }
                    ?? true,
            callToAction: button.callToAction,
            checkoutURL: "\(publicURL)/buy/\(button.id)",
            lineItemGroup: .init(
                amountTotal: overflow ? "0" : "\(amount)",
                currency: price?.currency ?? "usd"
            ),
            product: .init(
                id: product.id,
                name: product.name,
                appStoreProductID: product.appStoreProductID(in: (app ?? catalog.apps.first)?.id),
                interval: product.interval,
                intervalCount: product.intervalCount
            ),
            storefronts: catalog.checkout.storefronts
        )
    }
}
