import AppStoreAPI
import AppStoreConnector
import AsyncHTTPClient
import CommandOutput
import Foundation
import GooglePlayAPI
import GooglePlayConnector
import Stores
import StripeAPI
import TollgateCore
import TollgateService

/// Long work with a store by a command: the application without its HTTP server.
struct StoreWork {
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
        over connect: (HTTPClient) async throws -> StoreConnections,
        _ work: (Tollgate) async throws -> Result
    ) async throws -> Result {
        let clock = try ClockSetting(Settings.text(nil, "CLOCK"))
        let configuration = Configuration(bySettings: stores)
        guard !configuration.secretKey.isEmpty else {
            throw CheckFailed(
                message:
                    "TOLLGATE_SECRET_KEY is not set. Run this with the server's settings: customers are named by it."
            )
        }
        return try await HTTPClient.forCommand { client in
            let connections = try await connect(client)
            let server = try await RunningServer(
                configuration: configuration,
                database: location,
                catalog: catalog,
                stores: connections,
                upgrades: false,
                clocks: .init(
                    now: try await clock.reached(over: client),
                    wall: SystemClock.now,
                    isVirtual: clock.isVirtual
                )
            )
            do {
                let result = try await resumable { try await work(server.tollgate) }
                await server.close()
                return result
            } catch {
                await server.close()
                throw error
            }
        }
    }
}

/// Does long work, and says that another run goes on where a store broke it off.
func resumable<Result>(_ work: () async throws -> Result) async throws -> Result {
    do {
        return try await work()
    } catch let fault as GooglePlay.APIFault where fault.meaning == .notAllowed {
        throw CheckFailed(
            message:
                "\(fault). Give the service account the permissions of docs/google-play.md, step 1; new ones take up to 48 hours. Then run it again to go on."
        )
    } catch let error where error is any StoreFault || error is QuotaUsedUp {
        throw CheckFailed(message: "\(error). Run it again to go on.")
    }
}
