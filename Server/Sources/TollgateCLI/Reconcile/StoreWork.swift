import AppStoreAPI
import AppStoreConnector
import AsyncHTTPClient
import CommandOutput
import Foundation
import GooglePlayConnector
import Stores
import StripeAPI
import TollgateCore
import TollgateService

/// Long work with a store by a command: the application without its HTTP server.
struct StoreWork {
    /// The stores that are set up, and how each is spoken to.
    struct Connections {
        var appStore: AppStore.SignedDataVerifier?
        var appStoreClients: AppStoreClients?
        var appStoreOptions = AppStoreOptions()
        var stripe: Stripe.Client?
        var googlePlay = GooglePlaySetUp()
    }

    private let location: DatabaseLocation
    private let catalog: TollgateCore.Catalog
    let stores: StoreSettings

    init(database: String?, catalog: String?) throws {
        location = try DatabaseLocation(option: database)
        self.catalog = try CatalogFile.read(Settings.text(catalog, "CATALOG") ?? "catalog.yaml")
        stores = try StoreSettings(self.catalog)
    }

    /// - Throws: `StorageError.inUse` where a server holds the SQLite file, which then does this work by
    ///   itself; `CheckFailed` without the server's secret key, with which customers are named and the
    ///   database's secrets are sealed, and where the server has another catalog.
    func run<Result: Sendable>(
        over connect: (HTTPClient) async throws -> Connections,
        _ work: (Tollgate) async throws -> Result
    ) async throws -> Result {
        let clock = try ClockSetting(Settings.text(nil, "CLOCK"))
        let keys = Settings.list("SECRET_KEY")
        guard let secretKey = keys.first else {
            throw CheckFailed(
                message:
                    "TOLLGATE_SECRET_KEY is not set. Run this with the server's settings: customers are named by it."
            )
        }
        let client = HTTPClient.forCommand()
        do {
            let connections = try await connect(client)
            let server = try await RunningServer(
                configuration: Configuration(
                    secretKey: secretKey,
                    publishableKey: "",
                    publicURL: "",
                    defaultEnvironment: stores.defaultEnvironment(for: secretKey),
                    formerSecretKeys: Array(keys.dropFirst())
                ),
                database: location,
                catalog: catalog,
                appStore: connections.appStore,
                appStoreClients: connections.appStoreClients,
                appStoreOptions: connections.appStoreOptions,
                stripe: connections.stripe,
                googlePlay: connections.googlePlay,
                upgrades: false,
                clocks: .init(
                    now: try await clock.reached(over: client),
                    wall: SystemClock.now,
                    isVirtual: clock.isVirtual
                )
            )
            let result: Result
            do {
                result = try await work(server.tollgate)
            } catch {
                await server.close()
                throw error
            }
            await server.close()
            try await client.shutdown()
            return result
        } catch {
            try? await client.shutdown()
            throw error
        }
    }
}
