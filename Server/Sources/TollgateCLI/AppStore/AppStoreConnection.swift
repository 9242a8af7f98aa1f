import CommandOutput
import AppStoreAPI
import ArgumentParser
import AsyncHTTPClient
import Foundation
import Stores
import TollgateAPI
import TollgateCore
import TollgateService

/// What the commands of `tollgate app-store` have in common.
struct AppStoreOptionGroup: ParsableArguments {
    @Option(help: "production or sandbox; the only configured one, or production, if left out.")
    var environment: String?

    @Flag(help: "Answer in JSON.")
    var json = false
}

/// The App Store as the server's settings reach it, for one command.
struct AppStoreConnection: Sendable {
    let clients: AppStoreClients
    let environment: StoreEnvironment
    private let verifier: AppStore.SignedDataVerifier?
    private let now: @Sendable () async -> Instant

    var server: AppStore.ServerAPIClient { clients[environment] }

    /// - Throws: `CheckFailed` where no roots are configured to verify answers by.
    func support() throws -> AppStoreSupport {
        guard let verifier else {
            throw CheckFailed(
                message:
                    "What the App Store answers cannot be verified: set TOLLGATE_APP_STORE_ROOTS and TOLLGATE_APP_STORE_BUNDLE_ID."
            )
        }
        return AppStoreSupport(clients: clients, verifier: verifier, now: now)
    }

    /// Connects, does `work`, and closes the connections.
    ///
    /// - Throws: `CheckFailed` with the sentence of a refusal.
    static func run<Result: Sendable>(
        environment: String?,
        _ work: (AppStoreConnection) async throws -> Result
    ) async throws -> Result {
        let asked = try StoreEnvironment(option: environment)
        let client = HTTPClient(eventLoopGroupProvider: .singleton)
        do {
            let result = try await work(try await open(asked, over: client))
            try await client.shutdown()
            return result
        } catch {
            try? await client.shutdown()
            switch error {
            case let error as AppStore.ServerAPIError: throw CheckFailed(message: "\(error)")
            case let error as AppStore.VerificationError:
                throw CheckFailed(message: "An answer of the App Store's: \(error)")
            case let refusal as Refusal: throw CheckFailed(message: refusal.error.message)
            default: throw error
            }
        }
    }

    private static func open(
        _ asked: StoreEnvironment?,
        over client: HTTPClient
    ) async throws -> AppStoreConnection {
        let settings = try StoreSettings()
        let served = settings.servedEnvironments
        guard let clients = settings.appStoreClients(over: client) else {
            throw CheckFailed(
                message:
                    "The App Store Server API is not configured: set TOLLGATE_APP_STORE_ISSUER_ID, TOLLGATE_APP_STORE_KEY_ID and TOLLGATE_APP_STORE_KEY_FILE."
            )
        }
        return AppStoreConnection(
            clients: clients,
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
