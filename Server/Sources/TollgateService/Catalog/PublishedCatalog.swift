internal import Storage
internal import Stores
public import TollgateAPI
internal import TollgateCore

/// The catalog as apps may know it.
public struct PublishedCatalog: Sendable {
    let records: RecordStore
    let clocks: Clocks
    let signer: AnswerSigner

    /// Thirty days in seconds: it names products, no customer, so it may outlive an answer.
    static let lifetime: Int64 = 30 * 86_400

    /// What an app may know of the catalog, with the part that a device must trust offline signed.
    ///
    /// - Parameter asking: the app that asks, where there are several.
    public func slice(for asking: AskingApp? = nil) throws -> API.CatalogSlice {
        let catalog = records.history.current
        let now = clocks.wall()
        let wall = now.milliseconds / 1000
        return API.CatalogSlice(
            required: API.RequiredConsents(catalog.gates),
            checkout: .init(
                successPath: catalog.checkout.successPath,
                cancelPath: catalog.checkout.cancelPath
            ),
            signedCatalog: try signer.sign(
                API.SignedCatalog(
                    catalog,
                    of: asking?.app,
                    azp: asking?.key,
                    iat: wall,
                    exp: wall + Self.lifetime
                ),
                at: now
            )
        )
    }
}
