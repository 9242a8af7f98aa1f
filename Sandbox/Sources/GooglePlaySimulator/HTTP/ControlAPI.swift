import Foundation
import SandboxClock

/// The sandbox's own interface, under `/sandbox`: to act as buyer, bank, Google, developer and time.
struct ControlAPI: Sendable {
    let play: SimulatedGooglePlay

    func answer(_ exchange: Exchange) async -> Answer {
        do {
            let path = exchange.path.dropFirst().joined(separator: "/")
            if exchange.method == "POST" || exchange.method == "PUT",
                let (type, subject) = Acts.act(at: path)
            {
                let act = try Self.act(type, from: exchange.body)
                let isNew = path == "accounts" || path == "purchases"
                return .json(
                    try await play.perform(act, subject: subject),
                    status: isNew ? 201 : 200
                )
            }
            if let answer = try await look(exchange, path) { return .json(answer) }
            if let answer = try await setUp(exchange, path) { return .json(answer) }
            throw Refusal.notFound("address /sandbox/\(path) for \(exchange.method)")
        } catch let refusal as Refusal {
            let status =
                switch refusal {
                case .notFound: 404
                case .notPossible: 409
                case .invalid: 400
                }
            return .json(["error": ["message": .string(refusal.description)]], status: status)
        } catch let error as APIError {
            return .error(error)
        } catch {
            Trouble.tell(error, during: exchange)
            return .json(["error": ["message": "The sandbox cannot do this."]], status: 500)
        }
    }

    private static func act(_ type: any Act.Type, from body: Data) throws -> any Act {
        func decode<Body: Act>(_ type: Body.Type) throws -> any Act {
            try ActBody.decode(type, from: body)
        }
        return try decode(type)
    }

    // MARK: - Looking

    private func look(_ exchange: Exchange, _ path: String) async throws -> JSON? {
        guard exchange.method == "GET" else { return nil }
        let store = await play.store
        let parts = exchange.path.dropFirst()
        switch (parts.first, parts.count) {
        case ("clock", 1): return ["now": .integer(await play.clock.now)]
        case ("app", 1): return await app()
        case ("accounts", 1):
            return list(store.accountIDs.compactMap { store.accounts[$0] }.map(Summary.of))
        case ("accounts", 2): return try await accountPurchases(exchange.path[2], store)
        case ("purchases", 1):
            return list(
                store.subscriptions.values.sorted { $0.token < $1.token }
                    .map { Summary.of($0, store) }
                    + store.products.values.sorted { $0.token < $1.token }.map(Summary.of)
            )
        case ("purchases", 3) where exchange.path[3] == "signed":
            return try DevicePurchase.signed(exchange.path[2], store, by: play.licence)
        case ("purchases", 2): return try Summary.purchase(exchange.path[2], store)
        case ("orders", 1): return list(store.orders.all.map { $0.wire(store.catalog) })
        case ("voided", 1): return list(store.voided.map { $0.wire(store.behaviour) })
        case ("notifications", 1): return list(await notifications())
        case ("subscriptions", 1): return list(await subscriptions())
        case (nil, 0): return help()
        case ("acts", 1): return list(Acts.all.map { .string($0.name) })
        case ("methods", 1): return list(Endpoint.all.map { .string($0.id) })
        case ("reviews", 1): return list(reviews(store))
        case ("behaviour", 1): return try Self.wire(store.behaviour)
        case ("faults", 1): return try Self.wire(await play.faults)
        case ("catalog", 1): return try Self.wire(store.catalog)
        case ("service_account", 1):
            return await play.account.file(tokenURL: "\(exchange.origin)/token")
        default: return nil
        }
    }

    /// The list of control routes at `GET /sandbox`.
    private func help() -> JSON {
        let acts = Acts.all.map { ($0.name, JSON.string("POST /sandbox/\($0.act.path)")) }
        return [
            "guide": "docs/sandbox.md, section Google Play",
            "acts": .object(Dictionary(uniqueKeysWithValues: acts)),
            "methods": .array(Endpoint.all.map { .string($0.id) }),
        ]
    }

    private func list(_ items: [JSON]) -> JSON { ["data": .array(items)] }

    private func app() async -> JSON {
        let pubSub = await play.pubSub
        return [
            "package_name": .string(await play.store.packageName),
            "project": .string(pubSub.project), "topic": .string(pubSub.topic),
            "subscription": .string(SimulatedGooglePlay.subscription),
            "service_account_email": .string(await play.account.email),
            "permissions": .array(await play.account.permissions.map { .string($0.rawValue) }),
            "bucket": .string(await play.bucket.name),
            "license_key": .text(try? play.licence.licenceKey),
        ]
    }

    private func accountPurchases(_ id: String, _ store: PlayStore) async throws -> JSON {
        let account = try store.account(id)
        let subscriptions = store.subscriptions.values.filter { $0.account == id }
            .sorted { ($0.boughtAt, $0.token) < ($1.boughtAt, $1.token) }
        let products = store.products.values.filter { $0.account == id }
            .sorted { ($0.boughtAt, $0.token) < ($1.boughtAt, $1.token) }
        return [
            "account": Summary.of(account),
            "purchases": .array(
                subscriptions.map { Summary.of($0, store) } + products.map(Summary.of)
            ),
        ]
    }

    private func notifications() async -> [JSON] {
        await play.pubSub.log.map { message in
            [
                "message_id": .string(message.id), "at": .integer(message.publishedAt),
                "notification": JSON(bytes: Data(message.data.utf8)) ?? .string(message.data),
            ]
        }
    }

    private func subscriptions() async -> [JSON] {
        let queues = await play.pubSub.queues
        return queues.sorted { $0.key < $1.key }.map { name, queue in
            [
                "name": .string(name), "waiting": .whole(queue.entries.count),
                "dead_letters": .array(queue.deadLetters.map { .string($0.id) }),
                "push_endpoint": .text(queue.settings.pushEndpoint),
                "failing": .items(
                    queue.entries.filter { $0.lastError != nil }.map { entry in
                        [
                            "message_id": .string(entry.message.id),
                            "attempts": .whole(entry.attempts),
                            "last_error": .text(entry.lastError),
                        ]
                    }
                ),
            ]
        }
    }

    private func reviews(_ store: PlayStore) -> [JSON] {
        store.reviews.values.sorted { $0.askedAt < $1.askedAt }.map { review in
            [
                "pending_refund_token": .string(review.token),
                "order_id": .string(review.orderID), "asked_at": .integer(review.askedAt),
                "decided": .bool(review.isDecided), "answer": review.answer,
            ]
        }
    }

    /// A value in the control API's own spelling.
    static func wire<Value: Encodable>(_ value: Value) throws -> JSON {
        let encoder = JSONEncoder()
        encoder.keyEncodingStrategy = .custom { path in
            SnakeKey(stringValue: ActBody.wireName(path.last?.stringValue ?? ""))
        }
        return JSON(bytes: try encoder.encode(value)) ?? .null
    }

    private struct SnakeKey: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }
        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }
}
