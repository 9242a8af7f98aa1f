import Foundation
import Hummingbird
import NIOCore

/// The App Store Server API.
struct ServerAPIRoutes: Sendable {
    var store: SimulatedAppStore

    func add(to router: some RouterMethods<BasicRequestContext>) {
        let api = router.group("inApps").add(middleware: TokenMiddleware(store: store))
        addTransactions(to: api)
        addHistory(to: api)
        addNotifications(to: api)
        addSubscriptions(to: api)
        RetentionRoutes(store: store).add(to: api)
        GroupRoutes(store: store).add(to: router)
        router.post("verifyReceipt") { [store] request, _ in
            try Response.json(await store.verifyReceipt(try await request.bytes()))
        }
        router.post("ocsp") { [store] request, _ in
            let wall = Int64(Date().timeIntervalSince1970 * 1000)
            let bytes = try await request.bytes()
            guard let answer = await store.responder.respond(to: bytes, wall: wall) else {
                return Response.empty(.serviceUnavailable)
            }
            return Response(
                status: .ok,
                headers: [.contentType: "application/ocsp-response"],
                body: .init(byteBuffer: ByteBuffer(bytes: answer))
            )
        }
        router.get("verifyReceipt") { _, _ in try Response.json(["status": 21000]) }
    }

    private func addTransactions(to api: RouterGroup<BasicRequestContext>) {
        api.get("v1/transactions/:id") { [store] _, context in
            let id = try context.parameters.require("id")
            return try Response.json(await store.answer { try $0.transactionInfo(id) })
        }
        api.get("v1/transactions/appTransactions/:id") { [store] _, context in
            try Response.json(await store.appTransactionInfo(try context.parameters.require("id")))
        }
        api.put("v1/transactions/:id/appAccountToken") { [store] request, context in
            let body: AppAccountTokenRequest = try await request.body(orThrow: .badRequest)
            let id = try context.parameters.require("id")
            try await store.change { world, now in
                try TransactionRequests.setAppAccountToken(
                    &world,
                    body.appAccountToken,
                    of: id,
                    at: now
                )
            }
            return Response.empty()
        }
        api.post("v1/transactions/:id/finish") { [store] _, context in
            let id = try context.parameters.require("id")
            try await store.change { world, _ in
                _ = try world.transaction(requested: id)
                try Purchases.finish(&world, id)
            }
            return Response.empty()
        }
        for version in [1, 2] {
            api.put("v\(version)/transactions/consumption/:id") { [store] request, context in
                let bytes = try await request.bytes()
                let id = try context.parameters.require("id")
                try await store.keep { world, now in
                    try TransactionRequests.receiveConsumption(
                        &world,
                        bytes,
                        version: version,
                        of: id,
                        at: now
                    )
                }
                return Response.empty(.accepted)
            }
        }
        api.get("v1/lookup/:order") { [store] _, context in
            guard store.environment == .production else { throw APIError.badRequest }
            let order = try context.parameters.require("order")
            return try Response.json(await store.answer { try $0.lookUp(order: order) })
        }
    }

    private func addHistory(to api: RouterGroup<BasicRequestContext>) {
        for version in [1, 2] {
            api.get("v\(version)/history/:id") { [store] request, context in
                let query = try HistoryQuery(request.uri.queryParameters)
                let id = try context.parameters.require("id")
                return try Response.json(
                    await store.answer {
                        try $0.history(of: id, query, withFinishedConsumables: version == 2)
                    }
                )
            }
        }
        api.get("v2/refund/lookup/:id") { [store] request, context in
            let id = try context.parameters.require("id")
            let revision = request.uri.queryParameters.get("revision")
            return try Response.json(
                await store.answer { try $0.refundHistory(of: id, revision: revision) }
            )
        }
    }

    private func addNotifications(to api: RouterGroup<BasicRequestContext>) {
        api.post("v1/notifications/history") { [store] request, _ in
            let query = try NotificationHistoryQuery(try await request.bytes())
            let token = request.uri.queryParameters.get("paginationToken")
            return try Response.json(
                await store.answer { try $0.notificationHistory(query, token: token) }
            )
        }
        api.post("v1/notifications/test") { [store] _, _ in
            do {
                return try Response.json(
                    TestNotificationResponse(
                        testNotificationToken: await store.requestTestNotification()
                    )
                )
            } catch is Refusal {
                throw APIError(
                    4_040_007,
                    "No App Store Server Notification URL found for provided app. Check that a URL is configured in App Store Connect for this environment."
                )
            }
        }
        api.get("v1/notifications/test/:token") { [store] _, context in
            let token = try context.parameters.require("token")
            return try Response.json(await store.answer { try $0.testNotification(token) })
        }
    }

    private func addSubscriptions(to api: RouterGroup<BasicRequestContext>) {
        api.get("v1/subscriptions/:id") { [store] request, context in
            let statuses = try request.uri.queryParameters.getAll("status").map {
                text throws(APIError) in
                guard let number = Int(text), (1...5).contains(number) else {
                    throw APIError.parameter(4_000_031, "status")
                }
                return number
            }
            let id = try context.parameters.require("id")
            return try Response.json(
                await store.answer { try $0.statuses(of: id, only: Set(statuses)) }
            )
        }
        api.put("v1/subscriptions/extend/mass") { _, _ -> Response in throw APIError.badRequest }
        api.post("v1/subscriptions/extend/mass") { [store] request, _ in
            let body: MassExtensionRequest = try await request.body(orThrow: .badRequest)
            return try Response.json(await store.extendAll(body))
        }
        api.get("v1/subscriptions/extend/mass/:product/:request") { [store] _, context in
            let product = try context.parameters.require("product")
            let request = try context.parameters.require("request")
            return try Response.json(
                await store.answer {
                    try ExtensionRequests.status($0.world, product: product, request: request)
                }
            )
        }
        api.put("v1/subscriptions/extend/:id") { [store] request, context in
            let body: ExtensionRequest = try await request.body(orThrow: .badRequest)
            let id = try context.parameters.require("id")
            return try Response.json(
                await store.change { world, now in
                    try ExtensionRequests.extend(&world, body, of: id, at: now)
                }
            )
        }
    }
}

extension Request {
    /// The whole body, at most one mebibyte.
    func bytes() async throws -> Data {
        let buffer = try await body.collect(upTo: 1 << 20)
        return Data(buffer.readableBytesView)
    }

    func body<Body: Decodable>(
        _ type: Body.Type = Body.self,
        orThrow refusal: APIError
    ) async throws -> Body {
        let bytes = try await bytes()
        do {
            return try JSONDecoder().decode(Body.self, from: bytes)
        } catch {
            throw refusal
        }
    }
}
