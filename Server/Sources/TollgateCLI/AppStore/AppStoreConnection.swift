import AppStoreConnector
import CommandOutput
import AppStoreAPI
import ArgumentParser
import AsyncHTTPClient
import Foundation
import Stores
import TollgateCore
import TollgateService

/// What the commands of `tollgate app-store` have in common.
struct AppStoreOptionGroup: ParsableArguments {
    @Option(help: "production or sandbox; the only configured one, or production, if left out.")
    var environment: String?

    @Option(help: "The app, by its id in the catalog; the first one there if left out.")
    var app: String?

    @Flag(help: "Answer in JSON.")
    var json = false
}

/// The App Store as the server's settings reach it, for one command.
struct AppStoreConnection: Sendable {
    let app: AppStoreClients.App
    let environment: StoreEnvironment
    private let verifier: AppStore.SignedDataVerifier?
    private let now: @Sendable () async -> Instant

    var server: AppStore.ServerAPIClient { app[environment] }

    /// - Throws: `CheckFailed` where no roots are configured to verify answers by.
    func support() throws -> AppStoreSupport {
        guard let verifier else {
            throw CheckFailed(
                message:
                    "What the App Store answers cannot be verified: set TOLLGATE_APP_STORE_ROOTS, and TOLLGATE_APP_STORE_BUNDLE_ID or ‘apps’ in the catalog."
            )
        }
        return AppStoreSupport(app: app, verifier: verifier, now: now)
    }

    /// Connects, does `work`, and closes the connections.
    ///
    /// - Throws: `CheckFailed` with the sentence of a refusal.
    static func run<Result: Sendable>(
        environment: String?,
        app: String?,
        _ work: (AppStoreConnection) async throws -> Result
    ) async throws -> Result {
        let asked = try StoreEnvironment(option: environment)
        let catalog = try catalog()
        do {
            return try await HTTPClient.forCommand { client in
                try await work(try await open(asked, app, catalog, over: client))
            }
        } catch let error as AppStore.VerificationError {
            throw CheckFailed(message: "An answer of the App Store's: \(error)")
        }
    }

    /// The same for the options that most commands have.
    static func run<Result: Sendable>(
        _ options: AppStoreOptionGroup,
        _ work: (AppStoreConnection) async throws -> Result
    ) async throws -> Result {
        try await run(environment: options.environment, app: options.app, work)
    }

    /// The catalog, where no setting names the one app.
    static func catalog() throws -> TollgateCore.Catalog? {
        let path = Settings.text(nil, "CATALOG") ?? "catalog.yaml"
        guard Settings.namesNoApp, FileManager.default.fileExists(atPath: path) else { return nil }
        return try CatalogFile.read(path)
    }

    /// - Throws: a usage error for an app that is not there.
    private static func named(
        _ id: String?,
        _ catalog: TollgateCore.Catalog?,
        _ clients: AppStoreClients
    ) throws -> AppStoreClients.App {
        guard let id else { return clients.apps[0] }
        let apps = catalog?.apps ?? []
        guard let bundleID = apps.first(where: { $0.id == id })?.bundleID,
            let app = clients.app(bundleID)
        else {
            throw ValidationError(
                apps.isEmpty
                    ? "--app: the catalog lists no apps, so the settings name the only one."
                    : "--app: the catalog lists no app '\(id)' with a bundle_id, only "
                        + apps.filter { $0.bundleID != nil }.map(\.id).joined(separator: ", ") + "."
            )
        }
        return app
    }

    private static func open(
        _ asked: StoreEnvironment?,
        _ app: String?,
        _ catalog: TollgateCore.Catalog?,
        over client: HTTPClient
    ) async throws -> AppStoreConnection {
        let settings = try StoreSettings(catalog ?? TollgateCore.Catalog())
        let served = settings.servedEnvironments
        guard let clients = settings.appStoreClients(over: client) else {
            throw CheckFailed(
                message:
                    "The App Store Server API is not configured: set TOLLGATE_APP_STORE_ISSUER_ID, TOLLGATE_APP_STORE_KEY_ID and TOLLGATE_APP_STORE_KEY_FILE."
            )
        }
        return AppStoreConnection(
            app: try named(app, catalog, clients),
            environment: asked ?? (served.contains(.production) ? .production : .sandbox),
            verifier: settings.roots.isEmpty ? nil : try settings.verifier(),
            now: try await ClockSetting(Settings.text(nil, "CLOCK")).reached(over: client)
        )
    }
}

/// Where a change at the App Store is written down before it is made.
struct AuditOptionGroup: ParsableArguments {
    @Option(
        help: """
            The database whose audit log tells of it: sqlite:PATH or postgres://USER@HOST:PORT/NAME. \
            Without one, and without TOLLGATE_DATABASE, it is in no log.
            """
    )
    var database: String?

    @Flag(help: "Leave the audit log out, as beside a server on SQLite, whose file is its own.")
    var unaudited = false

    /// Changes something at the App Store, with an entry in the audit log.
    func change<Result: Sendable>(
        _ deed: Deed,
        _ options: AppStoreOptionGroup,
        _ work: (AppStoreSupport, StoreEnvironment) async throws -> Result
    ) async throws -> Result {
        try await AppStoreConnection.run(options) { connection in
            let support = try connection.support()
            return try await run(deed) { try await work(support, connection.environment) }
        }
    }

    /// Does something that cannot be undone, with an entry in the audit log.
    func run<Result: Sendable>(
        _ deed: Deed,
        _ work: () async throws -> Result
    ) async throws -> Result {
        guard !unaudited, let location = Settings.text(database, "DATABASE") else {
            return try await work()
        }
        return try await WritingCommand.run(database: location) { tollgate in
            try await tollgate.auditLog.audited(deed, by: StaffCommand.actor, work)
        }
    }
}
