import AppStoreConnector
import CommandOutput
import GooglePlayConnector
import AppStoreAPI
import Foundation
import Hummingbird
import Logging
import ServiceLifecycle
import Storage
import Stores
import StripeAPI
import StripeConnector
import TollgateAssembly
import TollgateCore
import TollgateServer
import TollgateService
import UnixSignals

/// The whole server, put together from its parts.
struct RunningServer: Sendable {
    let tollgate: Tollgate
    let logThreshold: LogThreshold
    private let driver: any StorageDriver
    private let webhooks: OutgoingWebhooks

    /// Opens the database, brings it up to date and adopts the catalog.
    ///
    /// - Parameter upgrades: `false` for a command beside which a server may be serving: it refuses a
    ///   database of another version and another catalog than the server's.
    init(
        configuration: Configuration,
        database: DatabaseLocation,
        catalog: Catalog,
        stores: StoreConnections,
        openID: OpenIDClient? = nil,
        upgrades: Bool = true,
        clocks: Clocks
    ) async throws {
        let threshold = LogThreshold(try Settings.logLevel())
        logThreshold = threshold
        let logger = Logger(label: "tollgate") { JSONLogHandler(label: $0, threshold: threshold) }
        OpenFiles.raiseLimit()
        driver = try database.open()
        webhooks = OutgoingWebhooks()
        let store = try await RecordStore(
            driver,
            upgrade: upgrades
                ? .onDisk(beside: database, now: { await clocks.now() }, logger: logger)
                : nil
        )
        // Before anything is written: a server with the wrong key must not begin.
        let signer = try await AnswerSigner(keptIn: driver, sealing: SealingKeys(configuration))
        if !upgrades { try Self.requireServed(catalog, by: store.history) }
        try await store.adopt(catalog, at: await clocks.now())
        tollgate = Tollgate(
            configuration: configuration,
            store: store,
            stores: stores,
            webhooks: { [webhooks] in try await webhooks.send($0) },
            mails: OutgoingMail.transport,
            openID: openID,
            clocks: clocks,
            signer: signer,
            logger: logger
        )
        try await tollgate.webhookEndpoints.reseal()
        try await tollgate.secondFactors.reseal()
        for connector in tollgate.connectors { try await connector.begin() }
    }

    /// - Throws: `CheckFailed` where a server has adopted another catalog.
    private static func requireServed(_ catalog: Catalog, by history: CatalogHistory) throws {
        guard !history.versions.isEmpty,
            try history.current.canonicalJSON() != catalog.canonicalJSON()
        else { return }
        throw CheckFailed(
            message:
                "The server has another catalog than this command. Let the server read the file first (tollgate reload, or start tollgate serve), or name the server's file with --catalog."
        )
    }

    static let randomBytes: @Sendable (Int) -> [UInt8] = { count in
        var generator = SystemRandomNumberGenerator()
        return (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
    }

    /// Serves until the process is told to stop, then finishes what it has begun.
    ///
    /// - Parameters:
    ///   - metricsAddress: where `/metrics` and `/readyz` are; `nil`: with everything else.
    ///   - connectionsPerAddress: how many one address may hold; `nil`: as many as usual.
    ///   - levers: what the dashboard may do to a sandbox.
    ///   - alarming: what the dashboard's page **Doctor** asks, and alarms; `nil`: there are neither.
    ///   - emails: emails to customers, by the settings of the moment; `nil`: none are sent.
    ///   - isTraced: whether each request is measured as a span; every request then goes through the router.
    ///   - beside: runs as long as the server does; if it returns, all is shut down in order.
    ///   - routes: adds routes of the caller's own, such as the demo's page.
    ///   - ready: told the port once it is open.
    func run(
        at address: ListenAddress,
        metricsAt metricsAddress: ListenAddress? = nil,
        connectionsPerAddress: Int? = nil,
        levers: DashboardLevers? = nil,
        alarming: Alarming? = nil,
        emails: @escaping @Sendable () -> LetterSetUp? = { nil },
        isTraced: Bool = false,
        beside: [ServiceGroupConfiguration.ServiceConfiguration] = [],
        routes: @Sendable (Router<ServerRequestContext>) -> Void = { _ in },
        ready: @escaping @Sendable (Int) async -> Void
    ) async throws {
        let router = try buildRouter(
            tollgate,
            levers: levers,
            checkUp: alarming?.checkUp,
            alertTrial: alertTrial(alarming),
            emails: emails,
            answersMetrics: metricsAddress == nil,
            isTraced: isTraced
        )
        routes(router)
        var limits = Self.limits(besideMetrics: metricsAddress != nil)
        if let connectionsPerAddress { limits.connectionsPerAddress = connectionsPerAddress }
        let application = Application(
            router: router,
            server: .http1OnEventLoops(tollgate, limits: limits, answersAtOnce: !isTraced),
            configuration: .init(
                address: .hostname(address.host, port: address.port),
                serverName: "tollgate"
            ),
            onServerRunning: { channel in await ready(channel.localAddress?.port ?? address.port) },
            logger: tollgate.logger
        )
        let services: [ServiceGroupConfiguration.ServiceConfiguration] =
            [.init(service: application)]
            + RecurringWork(tollgate: tollgate, alarming: alarming, emails: emails).all.map {
                .init(service: $0)
            }
            + metrics(at: metricsAddress) + beside
        let group = ServiceGroup(
            configuration: .init(
                services: services,
                gracefulShutdownSignals: [.sigterm, .sigint],
                logger: tollgate.logger
            )
        )
        do {
            try await group.run()
        } catch {
            await close()
            throw error
        }
        await close()
    }

    private func alertTrial(_ alarming: Alarming?) -> (@Sendable () -> AlertTrial)? {
        guard let alarming else { return nil }
        return { [tollgate] in alarming.trial(of: tollgate) }
    }

    /// Answers `/metrics` and `/readyz` at an address of their own.
    private func metrics(
        at address: ListenAddress?
    ) -> [ServiceGroupConfiguration.ServiceConfiguration] {
        guard let address else { return [] }
        let application = Application(
            router: buildMetricsRouter(tollgate),
            server: .http1OnEventLoops(
                tollgate,
                limits: Self.limitsOfMetrics,
                answersAtOnce: false
            ),
            configuration: .init(
                address: .hostname(address.host, port: address.port),
                serverName: "tollgate"
            ),
            onServerRunning: { channel in
                let port = channel.localAddress?.port ?? address.port
                Terminal.announce("metrics at http://\(address.host):\(port)/metrics")
            },
            logger: tollgate.logger
        )
        return [.init(service: application)]
    }

    /// Connections take half of the files that may be open at most; databases and stores need some.
    private static func limits(besideMetrics: Bool) -> ConnectionLimits {
        var limits = ConnectionLimits()
        limits.connections = min(limits.connections, OpenFiles.limit / 2)
        limits.connectionsRefused = min(limits.connectionsRefused, limits.connections / 8)
        if besideMetrics {
            limits.connections = max(1, limits.connections - limitsOfMetrics.connections)
            limits.connectionsRefused = max(
                0,
                limits.connectionsRefused - limitsOfMetrics.connectionsRefused
            )
        }
        limits.connectionsForStores = min(limits.connectionsForStores, limits.connections / 8)
        return limits
    }

    private static var limitsOfMetrics: ConnectionLimits {
        var limits = ConnectionLimits()
        limits.connections = 64
        limits.connectionsForStores = 0
        limits.connectionsRefused = 16
        return limits
    }

    /// Closes the database of a server that was never run.
    func close() async {
        await webhooks.shutdown()
        await driver.close()
    }
}

extension Tollgate {
    /// The application over the stores that are set up.
    convenience init(
        configuration: Configuration,
        store: RecordStore,
        stores: StoreConnections,
        webhooks: WebhookTransport? = nil,
        mails: MailTransport? = nil,
        openID: OpenIDClient? = nil,
        clocks: Clocks,
        signer: AnswerSigner,
        logger: Logger
    ) {
        self.init(
            configuration: configuration,
            store: store,
            appStore: stores.appStore,
            appStoreClients: stores.appStoreClients,
            appStoreOptions: stores.appStoreOptions,
            stripe: stores.stripe,
            googlePlay: stores.googlePlay,
            webhooks: webhooks,
            mails: mails,
            openID: openID,
            clocks: clocks,
            randomBytes: RunningServer.randomBytes,
            signer: signer,
            logger: logger
        )
    }
}
