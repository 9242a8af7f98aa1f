import Foundation
import Storage
import HTTPTypes
import Testing
import TollgateService
import TollgateTesting

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
}
