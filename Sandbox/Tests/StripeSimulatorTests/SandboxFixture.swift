import AcceptedConnections
import AsyncHTTPClient
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import NIOHTTP1
import SandboxClock
import Synchronization

@testable import StripeSimulator

extension StripeSimulator.Configuration {
    /// Two plans of one product, and coins.
    static var sample: Self {
        var configuration = Self()
        configuration.secretKey = "sk_test_1"
        configuration.hasPortalConfiguration = true
        configuration.products = [
            .init(
                id: "prod_pro",
                name: "Pro <b>plan</b>",
                features: ["pro"],
                prices: [
                    .init(id: "price_pro_monthly", unitAmount: 999, interval: "month"),
                    .init(id: "price_pro_yearly", unitAmount: 9_900, interval: "year"),
                ]
            ),
            .init(
                id: "prod_coins",
                name: "100 coins",
                prices: [.init(id: "price_coins", unitAmount: 1_000)]
            ),
        ]
        return configuration
    }
}

/// A simulator that listens, beside an endpoint that takes its webhooks.
struct SandboxFixture: Sendable {
    let clock: VirtualClock
    let simulator: StripeSimulator
    let base: String
    let inbox: Inbox
    /// The address of the endpoint.
    let hooks: String

    /// What arrived at the endpoint, and what it answers.
    final class Inbox: Sendable {
        struct Message: Sendable {
            var event: JSON
            var body: String
            var signature: String
            /// The path and query of the address that it was sent to.
            var address: String
        }

        private let state = Mutex<(messages: [Message], status: Int)>(([], 200))

        var messages: [Message] { state.withLock { $0.messages } }
        var types: [String] { messages.map { $0.event["type"].text } }

        /// - Parameter status: 0 for none, ever.
        func answer(with status: Int) { state.withLock { $0.status = status } }

        func take(_ message: Message) -> Int {
            state.withLock { state in
                state.messages.append(message)
                return state.status
            }
        }
    }

    static let secret = "whsec_of_the_test"

    /// Runs `body` beside a running simulator and ends both.
    static func run(
        _ configuration: StripeSimulator.Configuration = .sample,
        endpoint: String? = nil,
        _ body: @escaping @Sendable (SandboxFixture) async throws -> Void
    ) async throws {
        let inbox = Inbox()
        let (ports, found) = AsyncStream.makeStream(of: Int.self)
        let receiver = Application(
            responder: CallbackResponder { (request: Request, _: BasicRequestContext) in
                let text = String(buffer: try await request.body.collect(upTo: 1 << 20))
                let event = try JSON(parsing: Data(text.utf8))
                let signature =
                    HTTPField.Name("Stripe-Signature").flatMap { request.headers[$0] } ?? ""
                let status = inbox.take(
                    .init(
                        event: event,
                        body: text,
                        signature: signature,
                        address: request.uri.description
                    )
                )
                if status == 0 {
                    let (nothing, never) = AsyncStream.makeStream(of: Void.self)
                    for await _ in nothing {}
                    never.finish()
                }
                return Response(status: .init(code: status))
            },
            server: .http1UntilEnded,
            configuration: .init(address: .hostname("127.0.0.1", port: 0)),
            onServerRunning: { found.yield($0.localAddress?.port ?? 0) }
        )
        try await withThrowingTaskGroup(of: Void.self) { group in
            defer { group.cancelAll() }
            group.addTask { try await receiver.runService(gracefulShutdownSignals: []) }
            var port = ports.makeAsyncIterator()
            let inboxPort = await port.next() ?? 0
            var configuration = configuration
            configuration.webhookEndpoints = [
                .init(url: endpoint ?? "http://127.0.0.1:\(inboxPort)/hooks", secret: secret)
            ]
            let clock = VirtualClock(now: 1_767_225_600_000)
            let simulator = try await StripeSimulator(configuration: configuration, clock: clock)
            group.addTask { try await simulator.run { found.yield($0) } }
            let listening = await port.next() ?? 0
            try await body(
                SandboxFixture(
                    clock: clock,
                    simulator: simulator,
                    base: "http://127.0.0.1:\(listening)",
                    inbox: inbox,
                    hooks: "http://127.0.0.1:\(inboxPort)/hooks"
                )
            )
        }
    }

    struct Answer: Sendable {
        var status: Int
        var headers: HTTPHeaders
        var text: String
        var json: JSON { (try? JSON(parsing: Data(text.utf8))) ?? .null }
    }

    private static let client = HTTPClient(
        eventLoopGroupProvider: .singleton,
        configuration: HTTPClient.Configuration(redirectConfiguration: .disallow)
    )

    func send(
        _ method: HTTPMethod,
        _ path: String,
        _ body: String = "",
        key: String? = "sk_test_1"
    ) async throws -> Answer {
        var request = HTTPClientRequest(url: path.hasPrefix("http") ? path : base + path)
        request.method = method
        if let key { request.headers.add(name: "Authorization", value: "Bearer \(key)") }
        request.headers.add(name: "Content-Type", value: "application/x-www-form-urlencoded")
        if !body.isEmpty { request.body = .bytes(ByteBuffer(string: body)) }
        let response = try await Self.client.execute(request, timeout: .seconds(300))
        let text = String(buffer: try await response.body.collect(upTo: 1 << 22))
        return Answer(status: Int(response.status.code), headers: response.headers, text: text)
    }

    /// A new Checkout session.
    func session(price: String, mode: String = "payment", more: String = "") async throws -> JSON {
        try await send(
            .POST,
            "/v1/checkout/sessions",
            "mode=\(mode)&line_items[0][price]=\(price)&line_items[0][quantity]=1"
                + "&success_url=https://example.com/done?id={CHECKOUT_SESSION_ID}"
                + "&cancel_url=https://example.com/back" + more
        ).json
    }

    /// What a payer types.
    static func entry(card: String, more: String = "") -> String {
        "email=jenny@example.com&card=\(card)&expiry=12/34&cvc=123&name=Jenny+Rosen"
            + "&country=US&postal_code=94103" + more
    }
}

/// Files of the tests, outside the repository.
enum FileSystem {
    static func temporary(_ name: String) -> String {
        FileManager.default.temporaryDirectory
            .appendingPathComponent("\(UUID().uuidString)-\(name)").path
    }

    static func remove(_ path: String) { try? FileManager.default.removeItem(atPath: path) }

    static func write(_ text: String, to path: String) throws {
        try Data(text.utf8).write(to: URL(fileURLWithPath: path))
    }
}
