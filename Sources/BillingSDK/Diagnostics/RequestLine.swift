import Foundation
internal import TollgateAPI

/// A request as the log may show it: without ids.
enum RequestLine {
    /// The words of the API's paths; everything else in a path is an id.
    private static let words: Set<Substring> = Set(
        [
            APIPath.customerEntitlements, .customerCoins, .checkoutClaims, .checkoutSession,
            .catalog,
            .buyButton, .buyButtonCheckout, .portalSessions, .appStoreTransactions,
            .appStoreObservations, .appStorePurchases, .appStoreOfferSignatures, .consents,
            .jsonWebKeySet, .offerings, .placement, .placementShown, .customerPurchases,
        ].flatMap { $0.template.split(separator: "/") }
    )

    static func of(_ request: HTTPRequest) -> String {
        let path = request.url.path.split(separator: "/").map { words.contains($0) ? $0 : "{id}" }
        return request.method + " /" + path.joined(separator: "/")
    }

    /// What a transport threw, without the addresses that its description holds.
    static func of(_ error: any Error) -> String {
        let code = (error as? URLError).map { " \($0.code)" } ?? ""
        return "\(type(of: error))\(code)"
    }
}
