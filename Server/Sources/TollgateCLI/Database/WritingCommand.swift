import AppStoreAPI
import AsyncHTTPClient
import Foundation
import Logging
import Storage
import TollgateAPI
import TollgateCore
import TollgateService

/// The application for a command that writes, beside no server on SQLite, beside any on PostgreSQL.
struct WritingCommand: Sendable {
    let tollgate: Tollgate

    /// Opens everything, does `work`, closes everything.
    static func run<Result: Sendable>(
        database: String?,
        _ work: (Tollgate) async throws -> Result
    ) async throws -> Result {
        let location = try DatabaseLocation(
            Settings.text(database, "DATABASE") ?? "sqlite:.tollgate/tollgate.sqlite"
        )
        let stores = try StoreSettings()
        let client = HTTPClient(eventLoopGroupProvider: .singleton)
        do {
            let result = try await run(at: location, stores, client, work)
            try await client.shutdown()
            return result
        } catch {
            try? await client.shutdown()
            switch error {
            case let error as StorageError where error.kind == .inUse:
                throw CheckFailed(
                    message:
                        "A server is using this database: stop it first, or let it do this itself. (\(error.message))"
                )
            case let refusal as Refusal:
                throw CheckFailed(message: refusal.error.message)
            default: throw error
            }
        }
    }

    private static func run<Result: Sendable>(
        at location: DatabaseLocation,
        _ stores: StoreSettings,
        _ client: HTTPClient,
        _ work: (Tollgate) async throws -> Result
    ) async throws -> Result {
        let driver = try location.open()
        do {
            var logger = Logger(label: "tollgate") { StreamLogHandler.standardError(label: $0) }
            logger.logLevel = .error
            let secretKey = Settings.text(nil, "SECRET_KEY") ?? ""
            let tollgate = Tollgate(
                configuration: Configuration(
                    secretKey: secretKey,
                    publishableKey: Settings.text(nil, "PUBLISHABLE_KEY") ?? "",
                    publicURL: Settings.text(nil, "PUBLIC_URL") ?? "",
                    defaultEnvironment: stores.defaultEnvironment(for: secretKey)
                ),
                store: try await RecordStore(driver),
                appStore: try stores.verifier(),
                appStoreClients: try stores.appStoreClients(over: client),
                appStoreOptions: stores.appStoreOptions(over: client),
                stripe: stores.stripe(over: client),
                clocks: .init(
                    now: try ClockSetting(Settings.text(nil, "CLOCK")).now(over: client),
                    wall: SystemClock.now
                ),
                randomBytes: RunningServer.randomBytes,
                signer: AnswerSigner(),
                logger: logger
            )
            let result = try await work(tollgate)
            await driver.close()
            return result
        } catch {
            await driver.close()
            throw error
        }
    }
}
