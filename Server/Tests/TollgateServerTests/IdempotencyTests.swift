import Foundation
import Storage
import HTTPTypes
import Testing
import TollgateService
import TollgateSimulation

/// I15, and P1: a key that is none.
@Suite("Idempotency keys")
struct IdempotencyTests {
    @Test(
        "A write that is retried under its key gets the first answer again",
        arguments: Backend.allCases
    )
    func replay(_ backend: Backend) async throws {
        try await TestServer.run(on: backend) { server in
            let id = try await server.customer()
            let session = try await server.session(of: id)
            let components = "{\"buy_button\":{\"enabled\":true}}"
            let endpoint = try await WebhookDeliveryTests.endpoint(server).id
            for (path, key, body) in [
                ("/v1/customers", TestServer.secretKey, "{\"app_user_id\":\"user-9\"}"),
                (
                    "/v1/customer_sessions", TestServer.secretKey,
                    "{\"customer\":\"\(id)\",\"components\":\(components)}"
                ),
                (
                    "/v1/checkout_sessions", TestServer.secretKey,
                    "{\"customer\":\"\(id)\",\"product\":\"coins_100\"}"
                ),
                ("/v1/buy_buttons/buy_coins_100/checkout", session, "{}"),
                ("/v1/portal_sessions", session, "{}"),
                ("/v1/consents", session, "{\"age\":{\"at_least\":18}}"),
                (
                    "/v1/webhook_endpoints/\(endpoint)/replay", TestServer.secretKey,
                    "{\"starting_after\":\"beginning\"}"
                ),
            ] {
                let retry = "key of \(path)"
                let first = try await server.post(path, as: key, body, idempotencyKey: retry)
                #expect(first.status < 300)
                let again = try await server.post(path, as: key, body, idempotencyKey: retry)
                #expect(again.status == first.status)
                #expect(again.bytes == first.bytes)
                let replayed = HTTPField.Name("Idempotent-Replayed").flatMap { again.headers[$0] }
                #expect(replayed == "true")
                let fresh = try await server.post(path, as: key, body, idempotencyKey: retry + "2")
                #expect(fresh.status < 300)
                #expect(HTTPField.Name("Idempotent-Replayed").flatMap { fresh.headers[$0] } == nil)
                let other = try await server.post(
                    path,
                    as: key,
                    body.replacing("}", with: ",\"x\":1}"),
                    idempotencyKey: retry
                )
                #expect(other.status == 409 && other.code == "idempotency_mismatch")
                server.wall.advance(seconds: 1)
            }
        }
    }

    @Test("A refused write may be tried again under the same key")
    func refusals() async throws {
        try await TestServer.run { server in
            let body = "{\"customer\":\"user-1\",\"product\":\"coins_100\"}"
            func check() async throws -> Int {
                try await server.post("/v1/checkout_sessions", body, idempotencyKey: "one").status
            }
            #expect(try await check() == 404)
            _ = try await server.customer()
            server.stripe.setReachable(false)
            #expect(try await check() == 503)
            server.stripe.setReachable(true)
            #expect(try await check() == 200)
        }
    }

    @Test("The same word from two callers is two keys")
    func callers() async throws {
        try await TestServer.run { server in
            var urls: Set<String?> = []
            for user in ["user-1", "user-2"] {
                let id = try await server.customer(user)
                let answer = try await server.post(
                    "/v1/portal_sessions",
                    as: server.session(of: id),
                    "{}",
                    idempotencyKey: "one"
                )
                urls.insert(answer.json["url"].string)
            }
            #expect(urls.count == 2)
        }
    }

    @Test("The backend's replies about a customer leave room for the customer's own")
    func rooms() async throws {
        try await TestServer.run { server in
            let id = try await server.customer()
            let session = try await server.session(of: id)
            for number in 0..<500 {
                let answer = try await server.post(
                    "/v1/customer_sessions",
                    "{\"customer\":\"\(id)\",\"components\":{\"buy_button\":{\"enabled\":true}}}",
                    idempotencyKey: "page \(number)"
                )
                #expect(answer.status < 300)
            }
            let own = try await server.post(
                "/v1/portal_sessions",
                as: session,
                "{}",
                idempotencyKey: "mine"
            )
            #expect(own.status < 300)
        }
    }

    @Test("Twenty at once under one key are one", arguments: Backend.allCases)
    func concurrent(_ backend: Backend) async throws {
        try await TestServer.run(on: backend) { server in
            let id = try await server.customer()
            let body = "{\"customer\":\"\(id)\",\"product\":\"coins_100\"}"
            let answers = try await withThrowingTaskGroup(of: Answer.self) { group in
                for _ in 0..<20 {
                    group.addTask {
                        try await server.post("/v1/checkout_sessions", body, idempotencyKey: "one")
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            let done = answers.filter { $0.status == 200 }
            #expect(Set(done.map(\.bytes)).count == 1)
            let busy = answers.filter { $0.status != 200 }
            #expect(busy.allSatisfy { $0.code == "idempotency_key_in_use" })
            #expect(server.stripe.sessions.count == 1)
        }
    }

    @Test("No secret that was answered lies in the database", arguments: Backend.allCases)
    func sealed(_ backend: Backend) async throws {
        try await TestServer.run(on: backend) { server in
            let id = try await server.customer()
            let answer = try await server.post(
                "/v1/customer_sessions",
                "{\"customer\":\"\(id)\",\"components\":{\"buy_button\":{\"enabled\":true}}}",
                idempotencyKey: "one"
            )
            let secret = try #require(answer.json["client_secret"].string)
            let kept = try await server.tollgate.store.driver.read { connection in
                try connection.query("SELECT key, reply FROM idempotency").flatMap {
                    try $0.bytes(0) + $0.bytes(1)
                }
            }
            #expect(!kept.isEmpty)
            #expect(!String(decoding: kept, as: UTF8.self).contains(secret.dropFirst(12)))
        }
    }

    @Test("A key that is empty or too long is refused wherever a key is taken")
    func badKeys() async throws {
        try await TestServer.run { server in
            let id = try await server.customer()
            let session = try await server.session(of: id)
            let endpoint = try await WebhookDeliveryTests.endpoint(server).id
            let before = try await server.rowCounts()
            let routes = OpenAPIDocument.ofServer.operations.filter { operation in
                (operation.content["parameters"].array ?? []).contains {
                    $0["$ref"].string?.hasSuffix("IdempotencyKey") == true
                }
            }
            #expect(routes.count >= 13)
            for route in routes {
                let path = route.template
                    .replacing(
                        "/v1/webhook_endpoints/{id}",
                        with: "/v1/webhook_endpoints/\(endpoint)"
                    )
                    .replacing("/v1/buy_buttons/{id}", with: "/v1/buy_buttons/buy_coins_100")
                    .replacing("{id}", with: id)
                for key in ["", String(repeating: "k", count: 256)] {
                    for caller in [TestServer.secretKey, session, TestServer.publishableKey] {
                        let answer = try await server.post(
                            path,
                            as: caller,
                            "{\"lookup_key\":\"pro\",\"amount\":1}",
                            idempotencyKey: key
                        )
                        // Who may not be here at all is told that.
                        if [401, 403, 404].contains(answer.status) { continue }
                        #expect(answer.status == 400, "\(path) \(answer.text)")
                        #expect(answer.code == "parameter_invalid")
                        #expect(answer.json["error"]["param"].string == "Idempotency-Key")
                    }
                }
            }
            #expect(try await server.rowCounts() == before)
            #expect(server.stripe.seen.isEmpty)
        }
    }

    @Test("Kept replies go after two days, also while nobody writes", arguments: Backend.allCases)
    func expiry(_ backend: Backend) async throws {
        try await TestServer.run(on: backend) { server in
            let id = try await server.customer()
            _ = try await server.post(
                "/v1/customer_sessions",
                "{\"customer\":\"\(id)\",\"components\":{\"buy_button\":{\"enabled\":true}}}",
                idempotencyKey: "one"
            )
            func rows() async throws -> [Int64] {
                try await server.tollgate.store.driver.read { connection in
                    try ["idempotency", "session"].map { table in
                        try connection.query("SELECT count(*) FROM \(table)").first?.int64(0) ?? -1
                    }
                }
            }
            await server.tollgate.replies.dropExpired()
            #expect(try await rows() == [1, 1])
            server.wall.advance(seconds: 2 * 86_400 + 1)
            await server.tollgate.replies.dropExpired()
            #expect(try await rows() == [0, 1])
            // An app that shows an expired session is told so for a week.
            server.wall.advance(seconds: 8 * 86_400)
            await server.tollgate.replies.dropExpired()
            #expect(try await rows() == [0, 0])
        }
    }

    @Test("A reply that is too old is no reply, whether or not it was dropped")
    func late() async throws {
        try await TestServer.run { server in
            let body = "{\"app_user_id\":\"user-9\"}"
            let first = try await server.post("/v1/customers", body, idempotencyKey: "one")
            #expect(first.status == 201)
            server.wall.advance(seconds: 2 * 86_400 + 1)
            let late = try await server.post("/v1/customers", body, idempotencyKey: "one")
            #expect(late.status == 200)
        }
    }
}
