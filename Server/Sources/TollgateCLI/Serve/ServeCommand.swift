import AppStoreConnector
import CommandOutput
import AppStoreAPI
import ArgumentParser
import AsyncHTTPClient
import Foundation
import Hummingbird
import Logging
import ServiceLifecycle
import Storage
import Stores
import TollgateCore
import TollgateServer
import TollgateService
import UnixSignals

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

    @Option(
        help: """
            A separate address for /metrics and /readyz, such as 0.0.0.0:9090; `:9090` is this machine \
            only. The main address then answers neither.
            """
    )
    var metricsListen: String?

    @Flag(
        help: """
            Take the keys of the demo, or short test keys, to try the server out; on this machine only.
            """
    )
    var demo = false

    func run() async throws {
        let settings = try ServeSettings(self)
        // Before the clients, so that what they ask is measured.
        let traces = settings.traces.map(RunningTraces.init)
        let client = HTTPClient(eventLoopGroupProvider: .singleton)
        // An issuer's addresses are checked before they are asked; a redirection would lead past that.
        let direct = HTTPClient(
            eventLoopGroupProvider: .singleton,
            configuration: HTTPClient.Configuration(redirectConfiguration: .disallow)
        )
        do {
            let server = try await makeServer(settings, over: client, direct: direct)
            try await serve(server, settings, traces, over: client, direct: direct)
        } catch {
            await traces?.shutdown()
            try? await direct.shutdown()
            try? await client.shutdown()
            throw error
        }
        await traces?.shutdown()
        try await direct.shutdown()
        try await client.shutdown()
    }

    /// - Parameter direct: follows no redirection.
    private func makeServer(
        _ settings: ServeSettings,
        over client: HTTPClient,
        direct: HTTPClient
    ) async throws -> RunningServer {
        let (stores, clock) = (settings.stores, settings.clock)
        var connections = try await stores.connections(over: client)
        connections.appStoreOptions.retentionRules = settings.retentionRules
        let server = try await RunningServer(
            configuration: settings.configuration,
            database: settings.location,
            catalog: settings.catalog,
            stores: connections,
            openID: settings.openID.map {
                OpenIDClient($0, transport: openIDTransport(over: direct))
            },
            clocks: .init(
                now: clock.now(over: client),
                wall: SystemClock.now,
                isVirtual: clock.isVirtual,
                nowAtOnce: clock.isVirtual ? nil : SystemClock.now
            )
        )
        for warning in settings.warnings { server.tollgate.logger.warning("\(warning)") }
        do {
            _ = try await clock.reached(over: client)
        } catch let silent as CheckFailed {
            server.tollgate.logger.warning("\(silent.message) Real time is taken until it does.")
        }
        return server
    }

    private func serve(
        _ server: RunningServer,
        _ settings: ServeSettings,
        _ traces: RunningTraces?,
        over client: HTTPClient,
        direct: HTTPClient
    ) async throws {
        let address = settings.address
        let records = server.tollgate.store
        let current = Replaceable(settings)
        try await server.run(
            at: address,
            metricsAt: settings.metricsAddress,
            connectionsPerAddress: settings.connectionsPerAddress,
            alarming: Alarming(
                settings: current,
                checkUp: Doctor.checkUp({ current.value }, over: direct, .ofServer(records))
            ),
            emails: { current.value.emails },
            isTraced: traces != nil,
            beside: (traces.map { [.init(service: $0.service(of: server.tollgate))] } ?? []) + [
                .init(
                    service: Reloading(
                        server: server,
                        options: self,
                        settings: current,
                        now: settings.clock.now(over: client),
                        hangups: await UnixSignalsSequence(trapping: .sighup)
                    )
                )
            ]
        ) { port in
            Terminal.announce("tollgate listening on http://\(address.host):\(port)")
            Terminal.announce("database: \(settings.location.description)")
        }
    }
}

extension Clocks {
    /// This machine's clock, as the stores' too.
    static let real = Clocks(now: { SystemClock.now() }, wall: SystemClock.now)
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
        return try read(bytes, of: path)
    }

    /// The sample catalog, which is a part of the program.
    ///
    /// - Throws: as `read`.
    static func sample() throws -> Catalog {
        try read(Data(PackageResources.catalog_yaml), of: "the sample catalog")
    }

    private static func read(_ bytes: Data, of name: String) throws -> Catalog {
        let check = CatalogCheck(bytes: bytes, file: name)
        guard let catalog = check.catalog, check.isOK else {
            throw CheckFailed(message: check.text)
        }
        return catalog
    }
}
