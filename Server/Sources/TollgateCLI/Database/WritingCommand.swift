import AppStoreConnector
import CommandOutput
import AppStoreAPI
import ArgumentParser
import AsyncHTTPClient
import Foundation
import Logging
import Storage
import Stores
import TollgateAssembly
import TollgateCore
import TollgateService

/// The application for a command that writes, beside no server on SQLite, beside any on PostgreSQL.
enum WritingCommand {
    /// The refusal of a command that needs the keys that sign answers.
    static let unsealed = ValidationError(
        "Set TOLLGATE_SECRET_KEY as the server has it: the keys are sealed with it."
    )

    /// Opens everything, does `work`, closes everything.
    ///
    /// - Parameter signing: whether it needs the keys that sign answers.
    static func run<Result: Sendable>(
        database: String?,
        signing: Bool = false,
        _ work: (Tollgate) async throws -> Result
    ) async throws -> Result {
        let location = try DatabaseLocation(option: database)
        _ = try StoreSettings(nil)
        do {
            return try await HTTPClient.forCommand { client in
                let driver = try location.open()
                return try await driver.closing {
                    try await work(try await application(on: driver, client, signing))
                }
            }
        } catch let error as StorageError where error.kind == .inUse {
            throw CheckFailed(
                message:
                    "A server is using this database: stop it first, or let it do this itself. (\(error.message))"
            )
        }
    }

    private static func application(
        on driver: any StorageDriver,
        _ client: HTTPClient,
        _ signing: Bool
    ) async throws -> Tollgate {
        var logger = Logger(label: "tollgate") { StreamLogHandler.standardError(label: $0) }
        logger.logLevel = .error
        if signing, Settings.list("SECRET_KEY").isEmpty { throw unsealed }
        let store = try await RecordStore(driver)
        // Before the first start the database knows no catalog, and after a change not the newest.
        let stores = try StoreSettings(AppStoreConnection.catalog() ?? store.history.current)
        let configuration = Configuration(bySettings: stores)
        var signer = AnswerSigner()
        if signing {
            signer = try await AnswerSigner(keptIn: driver, sealing: SealingKeys(configuration))
        }
        return Tollgate(
            configuration: configuration,
            store: store,
            stores: try await stores.connections(over: client),
            clocks: .init(
                now: try await ClockSetting(Settings.text(nil, "CLOCK")).reached(over: client),
                wall: SystemClock.now
            ),
            signer: signer,
            logger: logger
        )
    }
}

extension Configuration {
    /// The server's, as far as the settings of a command say it.
    init(bySettings stores: StoreSettings) {
        let keys = Settings.list("SECRET_KEY")
        self.init(
            secretKey: keys.first ?? "",
            publishableKey: Settings.list("PUBLISHABLE_KEY").first ?? "",
            publicURL: Settings.text(nil, "PUBLIC_URL") ?? "",
            defaultEnvironment: stores.defaultEnvironment(for: keys.first ?? ""),
            formerSecretKeys: Array(keys.dropFirst())
        )
    }
}
