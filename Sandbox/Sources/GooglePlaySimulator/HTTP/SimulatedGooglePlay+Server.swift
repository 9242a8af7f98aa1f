internal import AcceptedConnections
import Foundation
import HTTPTypes
public import Hummingbird
internal import Logging
import NIOCore

extension SimulatedGooglePlay {
    /// The interfaces of the store that an address offers.
    public enum Surface: Sendable {
        /// The routes of Google's APIs.
        case google
        /// The sandbox's own interface under `/sandbox`.
        case control
        /// Both at one address.
        case everything
    }

    /// The answer to one request.
    nonisolated func answer(_ exchange: Exchange, surface: Surface) async -> Answer {
        if exchange.path.first == "sandbox" {
            guard surface != .google else { return .error(.notFound("Not Found")) }
            return await ControlAPI(play: self).answer(exchange)
        }
        guard surface != .control else { return .error(.notFound("Not Found")) }
        switch exchange.path.first {
        case "token", "oauth2", "o": return await IdentityAPI(play: self).answer(exchange)
        case "androidpublisher": return await DeveloperAPI(play: self).answer(exchange)
        case "storage", "download": return await StorageAPI(play: self).answer(exchange)
        case "v1": return await PubSubAPI(play: self).answer(exchange)
        default: return .error(.notFound("Not Found"))
        }
    }

    /// A service that listens at `host` and `port` (0 for any free one).
    /// - Parameter onBound: told the port once it listens.
    public nonisolated func application(
        host: String,
        port: Int,
        surface: Surface = .everything,
        onBound: @escaping @Sendable (Int) async -> Void = { _ in }
    ) -> some ApplicationProtocol {
        let responder = CallbackResponder<BasicRequestContext> { request, _ in
            let body = try await request.body.collect(upTo: 1 << 22)
            var exchange = Exchange(
                method: request.method.rawValue,
                target: request.uri.string,
                authorization: request.headers[.authorization],
                origin: "http://\(request.head.authority ?? "\(host):\(port)")",
                body: Data(body.readableBytesView)
            )
            if request.headers[Self.methodOverride] == "GET" { exchange.becomeGet() }
            return Self.response(await self.answer(exchange, surface: surface))
        }
        return Application(
            responder: responder,
            server: .http1UntilEnded,
            configuration: .init(address: .hostname(host, port: port)),
            onServerRunning: { channel in await onBound(channel.localAddress?.port ?? port) },
            logger: Logger(label: "google-play-simulator") { _ in SwiftLogNoOpLogHandler() }
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

    private static let methodOverride = HTTPField.Name("X-HTTP-Method-Override") ?? .allow

    private static func response(_ answer: Answer) -> Response {
        var headers = HTTPFields()
        if !answer.body.isEmpty { headers[.contentType] = answer.type }
        // The second before which a read was sent is its version: the date is real.
        headers[.date] = HTTPDate.text(Date())
        for (name, value) in answer.headers {
            if let name = HTTPField.Name(name) { headers[name] = value }
        }
        return Response(
            status: .init(code: answer.status),
            headers: headers,
            body: answer.body.isEmpty
                ? .init() : .init(byteBuffer: ByteBuffer(bytes: answer.body))
        )
    }
}

/// `Wed, 25 Nov 2026 09:13:46 GMT`.
enum HTTPDate {
    private static let days = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    static func text(_ date: Date) -> String {
        let instant = Int64(date.timeIntervalSince1970 * 1000)
        let day = CivilDate(containing: instant)
        let clock = Timestamp.text(instant).split(separator: "T")[1].prefix(8)
        let name = days[Int(day.start / Timestamp.day % 7)]
        return "\(name), \(Timestamp.padded(day.day)) \(months[Int(day.month) - 1]) \(day.year) "
            + "\(clock) GMT"
    }
}
