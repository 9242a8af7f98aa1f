import AsyncHTTPClient
import Crypto
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import NIOHTTP1
import Synchronization

/// A made-up store, played by the test: it sells over HTTP, signs what it tells, answers what it is
/// asked, lists all that it has told, and keeps a ledger.
final class CornerShop: Sendable {
    /// What it sells, at which price in cents: the catalog's plan and the shop's own loaf of bread.
    static let prices: [String: Int64] = ["com.example.app.pro.monthly": 999, "bread": 250]

    /// An order as it stands, its times in UNIX milliseconds.
    struct Order: Codable, Sendable {
        var id: String
        var item: String
        /// The token of whoever bought it.
        var buyer: String
        var from: Int64
        var until: Int64
        var cents: Int64
        var refunded: Int64?
    }

    /// What it tells, numbered without gaps.
    struct Message: Codable, Sendable {
        var number: Int
        var at: Int64
        var id: String
        /// Left out where the shop says no more than that something changed.
        var order: Order?
    }

    /// A line of its ledger: what it booked and what it keeps.
    struct Line: Codable, Sendable {
        var id: String
        var order: String
        /// `YYYY-MM-DD`.
        var day: String
        /// Below zero where it gave money back.
        var cents: Int64
        var fee: Int64
    }

    private struct State {
        var orders: [String: Order] = [:]
        var messages: [Message] = []
        var ledger: [Line] = []
    }
    private let state = Mutex(State())

    // MARK: - What happens in the shop

    /// Sells an item for thirty days.
    func sell(_ item: String, as id: String, to buyer: String, at now: Int64) -> Message {
        let order = Order(
            id: id,
            item: item,
            buyer: buyer,
            from: now,
            until: now + 30 * 86_400_000,
            cents: Self.prices[item] ?? 0
        )
        book(order.cents, of: id, at: now)
        return tell(order, at: now)
    }

    func refund(_ id: String, at now: Int64) -> Message? {
        guard var order = state.withLock({ $0.orders[id] }) else { return nil }
        order.refunded = now
        book(-order.cents, of: id, at: now)
        return tell(order, at: now)
    }

    /// Says no more than that an order changed.
    func hint(at id: String, at now: Int64) -> Message {
        state.withLock { state in
            state.messages.append(Message(number: state.messages.count, at: now, id: id))
            return state.messages[state.messages.count - 1]
        }
    }

    /// Books money; the shop keeps a tenth of what it takes.
    func book(_ cents: Int64, of order: String, at now: Int64) {
        let day = Date(timeIntervalSince1970: Double(now) / 1000).formatted(.iso8601).prefix(10)
        state.withLock { state in
            state.ledger.append(
                Line(
                    id: "line_\(state.ledger.count)",
                    order: order,
                    day: String(day),
                    cents: cents,
                    fee: cents / 10
                )
            )
        }
    }

    private func tell(_ order: Order, at now: Int64) -> Message {
        state.withLock { state in
            state.orders[order.id] = order
            let message = Message(
                number: state.messages.count,
                at: now,
                id: order.id,
                order: order
            )
            state.messages.append(message)
            return message
        }
    }

    // MARK: - Over HTTP

    /// Where it is asked: its messages, its orders, its ledger.
    var router: Router<BasicRequestContext> {
        let router = Router()
        router.get("/messages/:after") { _, context in
            let after = context.parameters.get("after", as: Int.self) ?? 0
            return try Self.json(self.state.withLock { Array($0.messages.dropFirst(after)) })
        }
        router.get("/orders/:id") { _, context in
            let id = context.parameters.get("id") ?? ""
            guard let order = self.state.withLock({ $0.orders[id] }) else {
                throw HTTPError(.notFound)
            }
            return try Self.json(order)
        }
        router.get("/ledger/:day") { _, context in
            let day = context.parameters.get("day") ?? ""
            return try Self.json(self.state.withLock { $0.ledger.filter { $0.day == day } })
        }
        return router
    }

    private static func json(_ value: some Encodable) throws -> Response {
        Response(status: .ok, body: .init(byteBuffer: ByteBuffer(bytes: try encode(value))))
    }

    /// Tells a server of ours; returns the status of its answer.
    @discardableResult
    static func deliver(
        _ message: Message,
        to port: Int,
        signed signature: String? = nil
    ) async throws -> Int {
        let body = try encode(message)
        var request = HTTPClientRequest(url: "http://127.0.0.1:\(port)/webhooks/corner_shop")
        request.method = .POST
        request.headers.add(name: "Corner-Signature", value: signature ?? Self.signature(of: body))
        request.body = .bytes(ByteBuffer(bytes: body))
        let response = try await HTTPClient.shared.execute(request, timeout: .seconds(60))
        _ = try await response.body.collect(upTo: 1 << 16)
        return Int(response.status.code)
    }

    static func encode(_ value: some Encodable) throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        return Array(try encoder.encode(value))
    }

    /// Only the shop and those whom it told the secret can make it.
    static func signature(of body: [UInt8]) -> String {
        HMAC<SHA256>.authenticationCode(
            for: body,
            using: SymmetricKey(data: Data("corner secret".utf8))
        ).map { String(format: "%02x", $0) }.joined()
    }
}
