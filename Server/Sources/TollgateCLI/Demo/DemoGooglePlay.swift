import AsyncHTTPClient
import Foundation
import GooglePlayAPI
import GooglePlayConnector
import GooglePlaySimulator
import NIOCore
import Reports
import TollgateCore

extension GooglePlaySetUp {
    /// Asks the simulated Google Play as its own service account, and takes what it pushes.
    ///
    /// - Parameter endpoint: the address to which it pushes, and the audience of its tokens.
    init(
        _ play: SimulatedGooglePlay,
        packageName: String,
        at address: ListenAddress,
        pushingTo endpoint: String,
        over client: HTTPClient
    ) async throws {
        let base = "http://\(address.host):\(address.port)"
        let file = await play.serviceAccountFile(tokenURL: base + "/token")
        let account = try await GooglePlay.ServiceAccount(json: Array(file))
        let transport = googlePlayTransport(over: client, within: .seconds(30))
        // Tokens live in real time.
        let now: @Sendable () -> Int64 = { SystemClock.now().milliseconds / 1000 }
        self.init(
            apps: [
                App(
                    client: GooglePlay.Client(
                        packageName: packageName,
                        apiBase: base,
                        tokens: GooglePlay.AccessTokens(
                            account: account,
                            scopes: [GooglePlay.publisherScope],
                            transport: transport,
                            now: now
                        ),
                        transport: transport
                    )
                )
            ],
            pushTokens: GooglePlay.PushTokens(
                GooglePlay.PushTokenVerifier(
                    audience: endpoint,
                    serviceAccountEmail: account.email
                ),
                keysURL: base + "/oauth2/v3/certs",
                transport: transport,
                now: now
            )
        )
    }
}

/// The products of a catalog that Google Play sells, in the form of its control API.
struct SoldInGooglePlay: Encodable {
    private struct Subscription: Encodable {
        var productID: String
        var basePlans: [BasePlan]
    }

    private struct BasePlan: Encodable {
        var basePlanID: String
        var period: String
        var priceMicros: Int64
        var currency: String
    }

    private struct OneTimeProduct: Encodable {
        var productID: String
        var title: String
        var priceMicros: Int64
        var currency: String
    }

    private var subscriptions: [Subscription] = []
    private var oneTimeProducts: [OneTimeProduct] = []

    init(_ catalog: TollgateCore.Catalog) {
        for product in catalog.products where product.kind != .freeSubscription {
            guard let id = product.googlePlayProductID, let price = product.price else { continue }
            let currency = price.currency.uppercased()
            var micros = price.amount * 1_000_000
            for _ in 0..<Reports.Currency.decimals(of: currency) { micros /= 10 }
            guard product.kind == .autoRenewable else {
                oneTimeProducts.append(
                    OneTimeProduct(
                        productID: id,
                        title: product.name,
                        priceMicros: micros,
                        currency: currency
                    )
                )
                continue
            }
            let plan = BasePlan(
                basePlanID: product.googlePlayBasePlans?.first ?? "base",
                period: product.duration?.iso8601 ?? "P1M",
                priceMicros: micros,
                currency: currency
            )
            if let known = subscriptions.firstIndex(where: { $0.productID == id }) {
                subscriptions[known].basePlans.append(plan)
            } else {
                subscriptions.append(Subscription(productID: id, basePlans: [plan]))
            }
        }
    }

    /// As JSON, with names in `snake_case`.
    var json: Data {
        get throws {
            let encoder = JSONEncoder()
            encoder.keyEncodingStrategy = .convertToSnakeCase
            return try encoder.encode(self)
        }
    }
}
