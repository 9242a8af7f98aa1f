import ArgumentParser
import AsyncHTTPClient
import CommandOutput
import Foundation
import GooglePlayAPI
import GooglePlayConnector
import Stores
import TollgateCore
import TollgateService

/// Long work with Google Play by a command: the application without its HTTP server.
enum GooglePlayWork {
    /// - Throws: a usage error where Google Play is not set up; `StorageError.inUse` where a server
    ///   holds the SQLite file, which then reconciles by itself.
    static func run<Result: Sendable>(
        database: String?,
        catalog: String?,
        _ work: (Tollgate) async throws -> Result
    ) async throws -> Result {
        let location = try DatabaseLocation(option: database)
        let catalog = try CatalogFile.read(Settings.text(catalog, "CATALOG") ?? "catalog.yaml")
        let stores = try StoreSettings(catalog)
        guard stores.googlePlay.isSetUp else {
            throw ValidationError(
                "Set TOLLGATE_GOOGLE_PLAY_SERVICE_ACCOUNT_FILE and TOLLGATE_GOOGLE_PLAY_PACKAGE_NAME."
            )
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
                stripe: nil,
                googlePlay: try await stores.googlePlay.setUp(over: client),
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
            switch error {
            case let fault as GooglePlay.APIFault: throw CheckFailed(message: Self.sentence(fault))
            case let used as QuotaUsedUp:
                throw CheckFailed(message: "\(used). Run it again to go on.")
            default: throw error
            }
        }
    }

    /// The fault with what to do about it.
    private static func sentence(_ fault: GooglePlay.APIFault) -> String {
        switch fault.meaning {
        case .notAllowed:
            "\(fault). Give the service account the permissions of docs/google-play.md, step 1; new ones take up to 48 hours. Then run it again to go on."
        default: "\(fault). Run it again to go on."
        }
    }
}
