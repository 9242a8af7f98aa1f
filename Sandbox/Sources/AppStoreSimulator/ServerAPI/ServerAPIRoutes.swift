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
            guard let answer = await store.respondToOCSP(try await request.bytes(), wall: wall)
            else { return Response.empty(.serviceUnavailable) }
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
            try Response.json(await store.transactionInfo(try context.parameters.require("id")))
        }
        api.get("v1/transactions/appTransactions/:id") { [store] _, context in
            try Response.json(await store.appTransactionInfo(try context.parameters.require("id")))
        }
        api.put("v1/transactions/:id/appAccountToken") { [store] request, context in
            let body: AppAccountTokenRequest = try await request.body(orThrow: .badRequest)
            try await store.setAppAccountToken(
                body.appAccountToken,
                of: try context.parameters.require("id")
            )
            return Response.empty()
        }
        api.post("v1/transactions/:id/finish") { [store] _, context in
            try await store.finishByServer(try context.parameters.require("id"))
            return Response.empty()
        }
        for version in [1, 2] {
            api.put("v\(version)/transactions/consumption/:id") { [store] request, context in
                let bytes = try await request.bytes()
                try await store.receiveConsumption(
                    bytes,
                    version: version,
                    of: try context.parameters.require("id")
                )
                return Response.empty(.accepted)
            }
        }
        api.get("v1/lookup/:order") { [store] _, context in
            guard store.environment == .production else { throw APIError.badRequest }
            return try Response.json(
                await store.lookUp(order: try context.parameters.require("order"))
            )
        }
    }

    private func addHistory(to api: RouterGroup<BasicRequestContext>) {
        for version in [1, 2] {
            api.get("v\(version)/history/:id") { [store] request, context in
                let query = try HistoryQuery(request.uri.queryParameters)
                return try Response.json(
                    await store.history(
                        of: try context.parameters.require("id"),
                        query,
                        withFinishedConsumables: version == 2
                    )
                )
            }
        }
        api.get("v2/refund/lookup/:id") { [store] request, context in
            try Response.json(
                await store.refundHistory(
                    of: try context.parameters.require("id"),
                    revision: request.uri.queryParameters.get("revision")
                )
            )
        }
    }

    private func addNotifications(to api: RouterGroup<BasicRequestContext>) {
        api.post("v1/notifications/history") { [store] request, _ in
            let query = try NotificationHistoryQuery(try await request.bytes())
            return try Response.json(
                await store.notificationHistory(
                    query,
                    token: request.uri.queryParameters.get("paginationToken")
                )
            )
        }
        api.post("v1/notifications/test") { [store] _, _ in
            try Response.json(await store.testNotification())
        }
        api.get("v1/notifications/test/:token") { [store] _, context in
            try Response.json(await store.testNotification(try context.parameters.require("token")))
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
            return try Response.json(
                await store.statuses(
                    of: try context.parameters.require("id"),
                    only: Set(statuses)
                )
            )
        }
        api.put("v1/subscriptions/extend/mass") { _, _ -> Response in throw APIError.badRequest }
        api.post("v1/subscriptions/extend/mass") { [store] request, _ in
            let body: MassExtensionRequest = try await request.body(orThrow: .badRequest)
            return try Response.json(await store.extendAll(body))
        }
        api.get("v1/subscriptions/extend/mass/:product/:request") { [store] _, context in
            try Response.json(
                await store.massExtensionStatus(
                    product: try context.parameters.require("product"),
                    request: try context.parameters.require("request")
                )
            )
        }
        api.put("v1/subscriptions/extend/:id") { [store] request, context in
            let body: ExtensionRequest = try await request.body(orThrow: .badRequest)
            return try Response.json(
                await store.extend(body, of: try context.parameters.require("id"))
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
