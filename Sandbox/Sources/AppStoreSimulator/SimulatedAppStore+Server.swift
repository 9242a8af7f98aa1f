internal import AcceptedConnections
public import Hummingbird
internal import Logging
import NIOCore

extension SimulatedAppStore {
    /// Which of the store's interfaces an address offers.
    public enum Surface: Sendable {
        /// The App Store Server API, as Apple serves it.
        case serverAPI
        /// The sandbox's own interface under `/sandbox`.
        case control
        /// Both at one address.
        case everything
    }

    /// The routes of `surface`.
    public nonisolated func router(
        surface: Surface = .everything
    ) -> Router<BasicRequestContext> {
        let router = Router(context: BasicRequestContext.self)
        if surface != .control {
            ServerAPIRoutes(store: self).add(to: router)
            ConnectReportRoutes(store: self).add(to: router)
        }
        if surface != .serverAPI { ControlRoutes(store: self).add(to: router) }
        return router
    }

    /// A service that listens at `host` and `port` (0 for any free one).
    /// - Parameter onBound: told the port once it listens.
    public nonisolated func application(
        host: String,
        port: Int,
        surface: Surface = .everything,
        onBound: @escaping @Sendable (Int) async -> Void = { _ in }
    ) -> some ApplicationProtocol {
        Application(
            router: router(surface: surface),
            server: .http1UntilEnded,
            configuration: .init(address: .hostname(host, port: port)),
            onServerRunning: { channel in await onBound(channel.localAddress?.port ?? port) },
            logger: Logger(label: "app-store-simulator") { _ in SwiftLogNoOpLogHandler() }
        )
    }

    /// Listens until the task is cancelled.
    /// - Parameter onBound: told the port once it listens.
    public nonisolated func run(
        host: String,
        port: Int,
        surface: Surface = .everything,
        onBound: @escaping @Sendable (Int) async -> Void = { _ in }
    ) async throws {
        try await application(host: host, port: port, surface: surface, onBound: onBound)
            .runService(gracefulShutdownSignals: [])
    }
}
