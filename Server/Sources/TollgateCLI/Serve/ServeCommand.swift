import AppStoreAPI
import ArgumentParser
import AsyncHTTPClient
import Foundation
import Hummingbird
import Logging
import Storage
import TollgateCore
import TollgateServer
import TollgateService

/// `tollgate serve`: the server.
struct ServeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve",
        abstract: "Serve the API, the webhooks and the pages.",
        discussion: """
            Keys come from TOLLGATE_SECRET_KEY and TOLLGATE_PUBLISHABLE_KEY; the stores are set up \
            with TOLLGATE_APP_STORE_… and TOLLGATE_STRIPE_…, see docs/operations.md.
            """
    )

    @Option(help: "The address to listen on; port 0 takes any free one.")
    var listen: String?

    @Option(help: "sqlite:PATH or postgres://USER@HOST:PORT/NAME.")
    var database: String?

    @Option(help: "The catalog: what is sold and what it grants.")
    var catalog: String?

    @Option(name: .customLong("public-url"), help: "Where browsers reach this server.")
    var publicURL: String?

    @Option(
        help: """
            The header in which the proxy in front of the server tells from where a request comes, \
            such as X-Forwarded-For. Without a proxy leave it out: anybody could write it. A proxy \
            on this machine is believed in X-Forwarded-For without it.
            """
    )
    var clientAddressHeader: String?

    func run() async throws {
        let address = try ListenAddress(
            Settings.text(listen, "LISTEN") ?? "127.0.0.1:8080",
            option: "--listen"
        )
        try ListenAddress.requireFree([(address, "--listen")])
        let location = try DatabaseLocation(
            Settings.text(database, "DATABASE") ?? "sqlite:.tollgate/tollgate.sqlite"
        )
        let catalog = try CatalogFile.read(Settings.text(catalog, "CATALOG") ?? "catalog.yaml")
        // The first counts; those after it are still taken while a key is changed.
        let secretKeys = Settings.list("SECRET_KEY")
        let publishableKeys = Settings.list("PUBLISHABLE_KEY")
        guard let secretKey = secretKeys.first, let publishableKey = publishableKeys.first else {
            throw ValidationError(
                "Set TOLLGATE_SECRET_KEY (sk_test_… or sk_live_…) and TOLLGATE_PUBLISHABLE_KEY (pk_test_… or pk_live_…)."
            )
        }
        let stores = try StoreSettings()
        var configuration = Configuration(
            secretKey: secretKey,
            publishableKey: publishableKey,
            publicURL: Settings.text(publicURL, "PUBLIC_URL")
                ?? "http://\(address.host):\(address.port)",
            appURL: Settings.text(nil, "APP_URL"),
            portalReturnURL: Settings.text(nil, "PORTAL_RETURN_URL"),
            stripeWebhookSecrets: Settings.list("STRIPE_WEBHOOK_SECRETS"),
            appleAppIDs: Settings.list("APPLE_APP_IDS"),
            defaultEnvironment: stores.defaultEnvironment(for: secretKey),
            financeTerms: stores.financeTerms,
            formerSecretKeys: Array(secretKeys.dropFirst()),
            formerPublishableKeys: Array(publishableKeys.dropFirst()),
            allowsPrivateWebhooks: try Settings.flag("WEBHOOKS_ALLOW_PRIVATE")
        )
        configuration.clientAddressHeader = Settings.text(
            clientAddressHeader,
            "CLIENT_ADDRESS_HEADER"
        )
        let openID = try OpenIDSettings.configured()
        let clock = try ClockSetting(Settings.text(nil, "CLOCK"))
        let client = HTTPClient(eventLoopGroupProvider: .singleton)
        do {
            let server = try await RunningServer(
                configuration: configuration,
                database: location,
                catalog: catalog,
                appStore: try stores.verifier(),
                appStoreClients: try stores.appStoreClients(over: client),
                appStoreOptions: try stores.appStoreOptions(over: client, catalog: catalog),
                stripe: stores.stripe(over: client),
                openID: openID.map {
                    OpenIDClient($0, transport: openIDTransport(over: client))
                },
                clocks: .init(
                    now: clock.now(over: client),
                    wall: SystemClock.now,
                    isVirtual: clock.isVirtual,
                    nowAtOnce: clock.isVirtual ? nil : SystemClock.now
                )
            )
            do {
                _ = try await clock.reached(over: client)
            } catch let silent as CheckFailed {
                server.tollgate.logger.warning(
                    "\(silent.message) Real time is taken until it does."
                )
            }
            try await server.run(at: address) { port in
                Terminal.say("tollgate listening on http://\(address.host):\(port)")
                Terminal.say("database: \(location.description)")
            }
        } catch {
            try? await client.shutdown()
            throw error
        }
        try await client.shutdown()
    }
}

/// Real time.
enum SystemClock {
    static let now: @Sendable () -> Instant = {
        Instant(milliseconds: Int64(Date().timeIntervalSince1970 * 1000))
    }
}

/// The catalog's file.
enum CatalogFile {
    /// - Throws: `CheckFailed` with every mistake and its line.
    static func read(_ path: String) throws -> Catalog {
        let bytes: Data
        do {
            bytes = try Data(contentsOf: URL(fileURLWithPath: path))
        } catch {
            throw CheckFailed(message: "\(path): cannot be read: \(PlainWords.of(error))")
        }
        let check = CatalogCheck(bytes: bytes, file: path)
        guard let catalog = check.catalog, check.isOK else {
            throw CheckFailed(message: check.text)
        }
        return catalog
    }
}
