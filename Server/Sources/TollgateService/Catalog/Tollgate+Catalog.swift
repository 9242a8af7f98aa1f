internal import Storage
internal import Stores
public import TollgateAPI
internal import TollgateCore

extension Tollgate {
    /// What an app may know of the catalog, with the part that a device must trust offline signed.
    public func catalogSlice() throws -> API.CatalogSlice {
        let catalog = store.history.current
        let now = clocks.wall()
        let wall = now.milliseconds / 1000
        return API.CatalogSlice(
            required: API.RequiredConsents(catalog.gates),
            checkout: .init(
                successPath: catalog.checkout.successPath,
                cancelPath: catalog.checkout.cancelPath
            ),
            signedCatalog: try signer.sign(
                API.SignedCatalog(catalog, iat: wall, exp: wall + Self.catalogLifetime),
                at: now
            )
        )
    }
}
