import ArgumentParser
import AsyncHTTPClient
import CommandOutput
import Foundation
import GooglePlayConnector
import Stores
import TollgateCore
import TollgateService

/// `tollgate reconcile google-play`: asks Google Play for what the record lacks.
struct ReconcileGooglePlayCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "google-play",
        abstract: "Ask Google Play for what its notifications missed.",
        discussion: """
            Reads purchases that look overdue, the list of voided purchases of the last 30 days, \
            and the orders of the last 90. Interrupt it as you like. A running server does this by \
            itself: overdue purchases every minute, voided purchases every hour, orders once a day.
            """
    )

    @Option(help: "sqlite:PATH or postgres://USER@HOST:PORT/NAME.")
    var database: String?

    @Option(help: "The catalog: what is sold and what it grants.")
    var catalog: String?

    @Flag(help: "Answer in JSON.")
    var json = false

    func run() async throws {
        let found = try await reconcile()
        guard let found else {
            throw CheckFailed(message: "Another server is reconciling with Google Play right now.")
        }
        if json { return try Terminal.sayJSON(found) }
        Terminal.say("overdue   \(found.overdue) read, \(found.overdueNews) had news")
        Terminal.say("voided    \(found.voids) listed, \(found.voidNews) had been missed")
        Terminal.say("orders    \(found.orders) read, \(found.orderNews) said something new")
        if found.unreadable > 0 {
            Terminal.say("\(found.unreadable) can no longer be read; what is known of them stays")
        }
    }

    private func reconcile() async throws -> GooglePlayReconciled? {
        let location = try DatabaseLocation(
            Settings.text(database, "DATABASE") ?? "sqlite:.tollgate/tollgate.sqlite"
        )
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
            let found = try await server.tollgate.googlePlay.reconcile()
            await server.close()
            try await client.shutdown()
            return found
        } catch {
            try? await client.shutdown()
            throw error
        }
    }
}
