import ArgumentParser
import AsyncHTTPClient
import Foundation
import Stores
import TollgateCore
import TollgateService

/// Long work with Stripe by a command: the application without its HTTP server.
enum StripeWork {
    /// - Throws: a usage error where Stripe is not set up; `StorageError.inUse` where a server holds
    ///   the SQLite file, which then does this work by itself.
    static func run<Result: Sendable>(
        database: String?,
        catalog: String?,
        _ work: (Tollgate) async throws -> Result
    ) async throws -> Result {
        let location = try DatabaseLocation(option: database)
        let catalog = try CatalogFile.read(Settings.text(catalog, "CATALOG") ?? "catalog.yaml")
        let stores = try StoreSettings(nil)
        guard stores.stripeSecretKey != nil else {
            throw ValidationError("Set TOLLGATE_STRIPE_SECRET_KEY (sk_… or rk_…).")
        }
        let clock = try ClockSetting(Settings.text(nil, "CLOCK"))
        let secretKey = Settings.list("SECRET_KEY").first ?? ""
        let client = HTTPClient(eventLoopGroupProvider: .singleton)
        do {
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
                stripe: stores.stripe(over: client),
                clocks: .init(
                    now: try await clock.reached(over: client),
                    wall: SystemClock.now,
                    isVirtual: clock.isVirtual
                )
            )
            let result = try await work(server.tollgate)
            await server.close()
            try await client.shutdown()
            return result
        } catch {
            try? await client.shutdown()
            throw error
        }
    }
}
