import AppStoreAPI
import Foundation
import Hummingbird
import Logging
import ServiceLifecycle
import Storage
import StripeAPI
import TollgateCore
import TollgateServer
import TollgateService
import UnixSignals

/// The whole server, put together from its parts.
struct RunningServer: Sendable {
    let tollgate: Tollgate
    private let driver: any StorageDriver

    /// Opens the database, brings it up to date and adopts the catalog.
    init(
        configuration: Configuration,
        database: DatabaseLocation,
        catalog: Catalog,
        appStore: AppStore.SignedDataVerifier?,
        appStoreClients: AppStoreClients? = nil,
        appStoreOptions: AppStoreOptions = AppStoreOptions(),
        stripe: Stripe.Client?,
        clocks: Tollgate.Clocks
    ) async throws {
        let logger = Logger(label: "tollgate") { JSONLogHandler(label: $0) }
        driver = try database.open()
        let store = try await RecordStore(driver)
        try await store.adopt(catalog, at: await clocks.now())
        tollgate = Tollgate(
            configuration: configuration,
            store: store,
            appStore: appStore,
            appStoreClients: appStoreClients,
            appStoreOptions: appStoreOptions,
            stripe: stripe,
            clocks: clocks,
            randomBytes: Self.randomBytes,
            signer: try await AnswerSigner(keptIn: driver),
            logger: logger
        )
    }

    static let randomBytes: @Sendable (Int) -> [UInt8] = { count in
        var generator = SystemRandomNumberGenerator()
        return (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
    }

    /// Serves until the process is told to stop, then finishes what it has begun.
    ///
    /// - Parameters:
    ///   - beside: runs as long as the server does; if it returns, all is shut down in order.
    ///   - routes: adds routes of the caller's own, such as the demo's page.
    ///   - ready: told the port once it is open.
    func run(
        at address: ListenAddress,
        beside: [ServiceGroupConfiguration.ServiceConfiguration] = [],
        routes: @Sendable (Router<ServerRequestContext>) -> Void = { _ in },
        ready: @escaping @Sendable (Int) async -> Void
    ) async throws {
        let router = try buildRouter(tollgate)
        routes(router)
        let application = Application(
            router: router,
            server: .http1OnEventLoops,
            configuration: .init(
                address: .hostname(address.host, port: address.port),
                serverName: "tollgate"
            ),
            onServerRunning: { channel in await ready(channel.localAddress?.port ?? address.port) },
            logger: tollgate.logger
        )
        let services: [ServiceGroupConfiguration.ServiceConfiguration] =
            [
                .init(service: application), .init(service: StoreReads(tollgate: tollgate)),
                .init(service: StripeSweeps(tollgate: tollgate)),
                .init(service: AppStoreReconciling(tollgate: tollgate)),
            ] + beside
        let group = ServiceGroup(
            configuration: .init(
                services: services,
                gracefulShutdownSignals: [.sigterm, .sigint],
                logger: tollgate.logger
            )
        )
        try await group.run()
        await driver.close()
    }

    /// Closes the database of a server that was never run.
    func close() async {
        await driver.close()
    }
}

/// Asks Stripe every ten minutes for what it could not deliver.
private struct StripeSweeps: Service {
    let tollgate: Tollgate

    func run() async throws {
        await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                try? await Task.sleep(for: .seconds(600))
                guard !Task.isCancelled, tollgate.stripe != nil else { continue }
                do {
                    _ = try await tollgate.reconcileStripe()
                } catch {
                    tollgate.logger.warning(
                        "reconciling with Stripe will be tried again",
                        metadata: ["error": "\(error)"]
                    )
                }
            }
        }
    }
}

/// Asks the stores, again and again, for what their messages did not carry.
private struct StoreReads: Service {
    let tollgate: Tollgate

    func run() async throws {
        await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                await tollgate.fetchWanted()
                await tollgate.publishEvents()
                try? await Task.sleep(for: .milliseconds(500))
            }
        }
    }
}
