import AsyncHTTPClient
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
    ///   itself.
    func run<Result: Sendable>(
        over connect: (HTTPClient) async throws -> Connections,
        _ work: (Tollgate) async throws -> Result
    ) async throws -> Result {
        let clock = try ClockSetting(Settings.text(nil, "CLOCK"))
        let secretKey = Settings.list("SECRET_KEY").first ?? ""
        let client = HTTPClient.forCommand()
        do {
            let connections = try await connect(client)
            let server = try await RunningServer(
                configuration: Configuration(
                    secretKey: secretKey,
                    publishableKey: "",
                    publicURL: "",
                    defaultEnvironment: stores.defaultEnvironment(for: secretKey)
                ),
                database: location,
                catalog: catalog,
                appStore: nil,
                stripe: connections.stripe,
                googlePlay: connections.googlePlay,
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
