import Crypto
import Foundation
import StripeAPI
import Synchronization

/// Stripe as far as a server that sells through Checkout talks to it; answers in process.
final class FakeStripe: Sendable {
    /// A request that came in.
    struct Seen: Sendable {
        var method: String
        var path: String
        var form: [String: String]
        var idempotencyKey: String?
    }

    struct Session: Sendable {
        var id: String
        var mode: String
        var customer: String?
        var reference: String?
        var price: String
        var quantity: Int
        var metadata: [String: String]
        var isPaid = false
    }

    struct Unreachable: Error {}

    private struct State {
        var seen: [Seen] = []
        var sessions: [Session] = []
        var customers = 0
        /// Those of other keys, which these do not know.
        var lostCustomers = 0
        var isReachable = true
        var unreadable: String?
        var failing: String?

        func isLost(_ customer: String) -> Bool {
            (Int(customer.dropFirst(4)) ?? .max) <= lostCustomers
        }
    }

    private let state = Mutex(State())

    var seen: [Seen] { state.withLock { $0.seen } }
    var sessions: [Session] { state.withLock { $0.sessions } }

    func setReachable(_ isReachable: Bool) {
        state.withLock { $0.isReachable = isReachable }
    }

    /// Answers with half a line when objects are read whose id begins so.
    func setUnreadable(_ prefix: String?) {
        state.withLock { $0.unreadable = prefix }
    }

    /// Answers with a fault of Stripe's own when objects are read whose id begins so.
    func setFailing(_ prefix: String?) {
        state.withLock { $0.failing = prefix }
    }

    /// Other keys: the customers so far are unknown from now on.
    func loseCustomers() {
        state.withLock { $0.lostCustomers = $0.customers }
    }

    /// The buyer pays on the page.
    func pay(_ id: String) {
        state.withLock { state in
            for index in state.sessions.indices where state.sessions[index].id == id {
                state.sessions[index].isPaid = true
            }
        }
    }

    // MARK: - Over the wire

    func answer(_ request: Stripe.Request) async throws -> Stripe.Response {
        try state.withLock { state in
            guard state.isReachable else { throw Unreachable() }
            let path = URLComponents(string: request.url)?.path ?? ""
            let form = Self.form(request.body)
            state.seen.append(
                Seen(
                    method: request.method.rawValue,
                    path: path,
                    form: form,
                    idempotencyKey: request.headers["idempotency-key"]
                )
            )
            switch (request.method, path) {
            case (.post, "/v1/customers"):
                state.customers += 1
                return Self.json([
                    "id": "cus_\(state.customers)", "object": "customer", "created": 1,
                    "livemode": false, "metadata": [String: String](),
                ])
            case (.post, _) where form["customer"].map(state.isLost) ?? false:
                return Self.json(
                    [
                        "error": [
                            "type": "invalid_request_error", "code": "resource_missing",
                            "param": "customer",
                            "message": "No such customer: '\(form["customer"] ?? "")'; a similar "
                                + "object exists in test mode, but a live mode key was used.",
                        ]
                    ],
                    status: 400
                )
            case (.post, "/v1/checkout/sessions"):
                let session = Session(
                    id: "cs_test_\(state.sessions.count + 1)",
                    mode: form["mode"] ?? "",
                    customer: form["customer"],
                    reference: form["client_reference_id"],
                    price: form["line_items[0][price]"] ?? "",
                    quantity: Int(form["line_items[0][quantity]"] ?? "") ?? 1,
                    metadata: Self.metadata(form)
                )
                state.sessions.append(session)
                return Self.json(Self.object(session))
            case (.post, "/v1/billing_portal/sessions"):
                return Self.json([
                    "id": "bps_1", "object": "billing_portal.session", "created": 1,
                    "customer": form["customer"] ?? "", "livemode": false,
                    "return_url": form["return_url"] ?? "",
                    "url": "https://billing.stripe.test/p?a=1&b=2",
                ])
            default:
                let id = path.split(separator: "/").last.map(String.init)
                if let id, let unreadable = state.unreadable, id.hasPrefix(unreadable) {
                    return Stripe.Response(status: 200, headers: [:], body: Array("{".utf8))
                }
                if let id, let failing = state.failing, id.hasPrefix(failing) {
                    return Self.json(
                        ["error": ["type": "api_error", "message": "Something went wrong"]],
                        status: 500
                    )
                }
                guard path.hasPrefix("/v1/checkout/sessions/"),
                    let session = state.sessions.first(where: { $0.id == id })
                else {
                    return Self.json(
                        [
                            "error": [
                                "type": "invalid_request_error", "code": "resource_missing",
                                "message": "No such object",
                            ]
                        ],
                        status: 404
                    )
                }
                return Self.json(Self.object(session))
            }
        }
    }

    /// The body and the header of a webhook, signed.
    func event(
        _ type: String,
        about session: Session,
        id: String = "evt_1",
        at seconds: Int64,
        secret: String = TestServer.webhookSecret
    ) -> (body: [UInt8], signature: String) {
        let event: [String: Any] = [
            "id": id, "object": "event", "type": type, "api_version": Stripe.apiVersion,
            "created": seconds, "livemode": false, "data": ["object": Self.object(session)],
            "pending_webhooks": 1,
        ]
        let body = Self.json(event).body
        return (body, Self.signature(of: body, at: seconds, secret: secret))
    }

    static func signature(of body: [UInt8], at seconds: Int64, secret: String) -> String {
        let signed = Array("\(seconds).".utf8) + body
        let code = HMAC<SHA256>.authenticationCode(
            for: signed,
            using: SymmetricKey(data: Array(secret.utf8))
        )
        let hex = code.map { byte in
            let text = String(byte, radix: 16)
            return byte < 16 ? "0\(text)" : text
        }.joined()
        return "t=\(seconds),v1=\(hex)"
    }

    // MARK: - Objects

    private static func object(_ session: Session) -> [String: Any] {
        let isComplete = session.isPaid
        return [
            "id": session.id, "object": "checkout.session", "created": TestServer.start / 1000,
            "mode": session.mode, "status": isComplete ? "complete" : "open",
            "payment_status": isComplete ? "paid" : "unpaid",
            "customer": session.customer ?? NSNull(),
            "client_reference_id": session.reference ?? NSNull(), "currency": "usd",
            "amount_subtotal": 1000 * session.quantity, "amount_total": 1000 * session.quantity,
            "payment_intent": isComplete ? "pi_\(session.id)" : NSNull(),
            "subscription": NSNull(), "invoice": NSNull(), "livemode": false,
            "metadata": session.metadata,
            "url": isComplete ? NSNull() : "https://checkout.stripe.test/\(session.id)" as Any,
            "expires_at": TestServer.start / 1000 + 86_400,
        ] as [String: Any]
    }

    private static func json(_ object: [String: Any], status: Int = 200) -> Stripe.Response {
        let body = try? JSONSerialization.data(withJSONObject: object, options: [.sortedKeys])
        return Stripe.Response(
            status: status,
            headers: ["Content-Type": "application/json", "Date": "Mon, 01 Jun 2026 00:00:10 GMT"],
            body: Array(body ?? Data())
        )
    }

    private static func form(_ body: [UInt8]) -> [String: String] {
        let pairs = String(decoding: body, as: UTF8.self).split(separator: "&").map { pair in
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                .map {
                    $0.replacingOccurrences(of: "+", with: " ").removingPercentEncoding ?? ""
                }
            return (parts[0], parts.count > 1 ? parts[1] : "")
        }
        return Dictionary(pairs, uniquingKeysWith: { first, _ in first })
    }

    private static func metadata(_ form: [String: String]) -> [String: String] {
        var metadata: [String: String] = [:]
        for (name, value) in form where name.hasPrefix("metadata[") {
            metadata[String(name.dropFirst(9).dropLast())] = value
        }
        return metadata
    }
}
