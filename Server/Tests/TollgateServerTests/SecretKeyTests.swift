import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import NIOCore
import Storage
import Testing
import TollgateAPI
import TollgateServer
import TollgateService
import TollgateSimulation

@Suite("Secret keys with scopes")
struct SecretKeyTests {
    private static func create(
        _ scopes: [API.KeyScope],
        _ server: TestServer,
        as key: String = TestServer.secretKey
    ) async throws -> (id: String, secret: String) {
        let words = scopes.map { "\"\($0.rawValue)\"" }.joined(separator: ",")
        let answer = try await server.post(
            "/v1/secret_keys",
            as: key,
            "{\"name\":\"a job\",\"scopes\":[\(words)]}"
        )
        #expect(answer.status == 201)
        return (
            try #require(answer.json["id"].string), try #require(answer.json["secret"].string)
        )
    }

    @Test("Z1: Every route says which scope it needs, and only routes do")
    func everyRouteHasAScope() async throws {
        try await TestServer.run { server in
            let routes = try buildRouter(server.tollgate).routes
                .map { "\($0.method.rawValue) \($0.path)" }
                .filter { !$0.contains(" /dashboard") }
            let declared = RouteScope.table.map { "\($0.method.rawValue) \($0.path.template)" }
            #expect(Set(declared).count == declared.count)
            #expect(Set(declared).subtracting(routes) == [])
            #expect(Set(routes).subtracting(declared) == [])
        }
    }

    @Test("A route takes a secret key exactly where the document says so")
    func scopesAgreeWithTheDocument() {
        for operation in OpenAPIDocument.ofServer.operations {
            let row = RouteScope.table.first {
                $0.method.rawValue == operation.method && $0.path.template == operation.template
            }
            let takesSecretKey = operation.security.contains("secretKey")
            #expect(
                (row?.scope != .noSecretKey) == takesSecretKey,
                "\(operation.method) \(operation.template)"
            )
        }
    }

    @Test(
        "Z1: a key opens the routes of its scope, and every other answers 403 with the scope's name",
        arguments: API.KeyScope.allCases
    )
    func scopes(_ scope: API.KeyScope) async throws {
        try await TestServer.run { server in
            let customer = try await server.customer()
            let key = try await Self.create([scope], server)
            for (method, path, needed) in RouteScope.table {
                guard case .scope(let needed) = needed else { continue }
                // Nothing is called by these names, so that nothing is done.
                let address = path.template.replacing("{id}", with: "nothing")
                    .replacing("{name}", with: "nothing")
                let answer = try await server.send(
                    method,
                    address,
                    as: key.secret,
                    json: method == .post ? "[]" : nil
                )
                if scope == needed || scope == .all {
                    #expect(![401, 403].contains(answer.status), "\(method) \(address)")
                } else {
                    #expect(answer.status == 403, "\(method) \(address)")
                    #expect(answer.code == "\(needed.rawValue)_scope_required")
                    let head = try await server.send(
                        method == .get ? .head : method,
                        address,
                        as: key.secret
                    )
                    #expect(head.status == 403)
                }
            }
            let read = try await server.get(
                "/v1/customers/\(customer)/entitlements",
                as: key.secret
            )
            #expect(read.status == ([.read, .all].contains(scope) ? 200 : 403))
            // Only a device speaks here, whatever the scope.
            let device = try await server.post("/v1/app_store/transactions", as: key.secret)
            #expect(device.status == 403 && device.code == "key_scope")
        }
    }

    @Test(
        "Z1: a key for reading writes nothing, whatever the route of the document",
        arguments: Backend.allCases
    )
    func readingWritesNothing(_ backend: Backend) async throws {
        try await TestServer.run(on: backend) { server in
            let customer = try await server.customer()
            let endpoint = try await WebhookDeliveryTests.endpoint(server).id
            let key = try await Self.create([.read], server)
            func values() async throws -> [[[UInt8]]] {
                try await WholeDatabase(server.tollgate.store.driver).values.map(\.readings)
            }
            let before = try await values()
            for operation in OpenAPIDocument.ofServer.operations
            where operation.template.hasPrefix("/v1/") {
                let method = try #require(HTTPRequest.Method(operation.method))
                let path = operation.template
                    .replacing("{name}", with: "revenue")
                    .replacing("webhook_endpoints/{id}", with: "webhook_endpoints/\(endpoint)")
                    .replacing("secret_keys/{id}", with: "secret_keys/\(key.id)")
                    .replacing("buy_buttons/{id}", with: "buy_buttons/buy_coins_100")
                    .replacing("{id}", with: customer)
                let answer = try await server.send(
                    method,
                    path,
                    as: key.secret,
                    // Each takes of it what it knows.
                    json: method == .get
                        ? nil
                        : """
                        {"app_user_id":"ann","lookup_key":"pro","product":"coins_100","amount":1,\
                        "reason":"x","name":"x","scopes":["all"],"customer":"\(customer)",\
                        "at_once":true,"purchase":"x","url":"https://example.com/hooks"}
                        """
                )
                // 401 where only a session may ask.
                #expect(method == .get || [401, 403].contains(answer.status), "\(method) \(path)")
            }
            #expect(try await values() == before)
            #expect(server.stripe.seen.isEmpty)
        }
    }

    @Test("Z1: another spelling of a path finds no way around a scope")
    func spellings() async throws {
        try await TestServer.run { server in
            let customer = try await server.customer()
            let key = try await Self.create([.read], server)
            for path in [
                "/v1/customers/\(customer)/grants", "//v1//customers/\(customer)/grants/",
                "/v1/customers/\(customer)/gr%61nts", "/v1/%63ustomers/\(customer)/grants",
                "/v1/customers/\(customer)/grants?x=/entitlements",
                "/v1/customers/\(customer)/entitlements/../grants",
            ] {
                let answer = try await server.client.executeRequest(
                    uri: path,
                    method: .post,
                    headers: [.authorization: "Bearer \(key.secret)"],
                    body: .init(string: "{\"lookup_key\":\"pro\"}")
                )
                #expect([403, 404].contains(answer.status.code), "\(path)")
            }
            let list = try await server.get("/v1/customers/\(customer)/entitlements")
            #expect(list.json["data"].array?.isEmpty == true)
        }
    }

    @Test("Z1: a key is shown once; the database holds no trace of it", arguments: Backend.allCases)
    func kept(_ backend: Backend) async throws {
        try await TestServer.run(on: backend) { server in
            let key = try await Self.create([.read, .reports], server)
            #expect(key.secret.hasPrefix("sk_test_"))
            let list = try await server.get("/v1/secret_keys")
            #expect(!list.text.contains(key.secret))
            #expect(
                list.json["data"][0]["scopes"] == .array([.string("read"), .string("reports")])
            )
            #expect(list.json["data"][0]["created_by"].string == "secret key")
            let rows =
                try await server.tollgate.store.driver.readNow(
                    "SELECT * FROM secret_key",
                    []
                ) + server.tollgate.store.driver.readNow("SELECT * FROM audit", [])
            let random = key.secret.dropFirst("sk_test_".count)
            for value in rows.flatMap(\.values) {
                switch value {
                case .text(let text): #expect(!text.contains(random))
                case .blob(let bytes):
                    #expect(!String(decoding: bytes, as: UTF8.self).contains(random))
                default: break
                }
            }
        }
    }

    @Test("Z1: a revoked key is refused at once, and both deeds stand in the audit log")
    func revocation() async throws {
        try await TestServer.run { server in
            let customer = try await server.customer()
            let key = try await Self.create([.all], server)
            let path = "/v1/customers/\(customer)/entitlements"
            #expect(try await server.get(path, as: key.secret).status == 200)
            // A key with every scope makes others, in its own name.
            let other = try await Self.create([.coins], server, as: key.secret)
            let revoked = try await server.post(
                "/v1/secret_keys/\(key.id)/revoke",
                as: key.secret,
                ""
            )
            #expect(revoked.status == 200 && revoked.json["revoked"] != .null)
            for _ in 0..<2 {
                let refused = try await server.get(path, as: key.secret)
                #expect(refused.status == 401 && refused.code == "invalid_key")
            }
            let again = try await server.post("/v1/secret_keys/\(key.id)/revoke", "")
            #expect(again.json == revoked.json)
            let log = try await server.tollgate.store.audit.entries()
            #expect(
                log.map { "\($0.actor) \($0.action) \($0.subject)" } == [
                    "\(key.id) secret_key.revoke secret_key:\(key.id)",
                    "\(key.id) secret_key.create secret_key:\(other.id)",
                    "secret key secret_key.create secret_key:\(key.id)",
                ]
            )
            #expect(log.allSatisfy { $0.outcome == "done" })
        }
    }

    @Test("The last use is kept without a write for each read", arguments: Backend.allCases)
    func lastUse(_ backend: Backend) async throws {
        try await TestServer.run(on: backend) { server in
            let customer = try await server.customer()
            let key = try await Self.create([.read], server)
            func lastUsed() async throws -> JSONValue {
                try await server.get("/v1/secret_keys").json["data"][0]["last_used"]
            }
            for _ in 0..<3 {
                _ = try await server.get("/v1/customers/\(customer)/entitlements", as: key.secret)
            }
            #expect(try await lastUsed() == .null)
            await server.tollgate.secretKeys.keepUses()
            #expect(try await lastUsed() == .integer(TestServer.start))
            server.wall.advance(seconds: 90)
            _ = try await server.get("/v1/customers/\(customer)", as: key.secret)
            await server.tollgate.secretKeys.keepUses()
            #expect(try await lastUsed() == .integer(TestServer.start + 90_000))
        }
    }

    @Test("Two keys that use one Idempotency-Key do not see each other's answers")
    func idempotency() async throws {
        try await TestServer.run { server in
            let one = try await Self.create([.customers], server)
            let two = try await Self.create([.customers], server)
            func make(_ key: String, _ user: String) async throws -> Answer {
                try await server.post(
                    "/v1/customers",
                    as: key,
                    "{\"app_user_id\":\"\(user)\"}",
                    idempotencyKey: "1"
                )
            }
            let first = try await make(one.secret, "a")
            #expect(first.status == 201)
            #expect(try await make(two.secret, "b").status == 201)
            #expect(try await make(one.secret, "a").json["id"] == first.json["id"])
        }
    }

    @Test(
        "A key without scope or name is not made",
        arguments: [
            "{}", "{\"name\":\"a\",\"scopes\":[]}", "{\"name\":\"\",\"scopes\":[\"read\"]}",
            "{\"name\":\"a\\nb\",\"scopes\":[\"read\"]}",
            "{\"name\":\"a\",\"scopes\":[\"everything\"]}", "{\"name\":\"a\",\"scopes\":\"read\"}",
        ]
    )
    func refused(_ body: String) async throws {
        try await TestServer.run { server in
            let answer = try await server.post("/v1/secret_keys", body)
            #expect(answer.status == 400)
            #expect(try await server.tollgate.store.secretKeys.all().isEmpty)
        }
    }

    @Test("An admin makes a key on the dashboard, sees it once and revokes it")
    func dashboard() async throws {
        try await TestServer.run { server in
            var browser = try await server.staff(.admin, "ann")
            _ = try await browser.open("/dashboard/keys")
            let nothing = try await browser.press("/dashboard/keys/create", ["name": "reports job"])
            #expect(nothing.status == 400)
            _ = try await browser.open("/dashboard/keys")
            let made = try await browser.press(
                "/dashboard/keys/create",
                ["name": "reports job", "scope_reports": "on", "scope_read": "on"]
            )
            let secret = try #require(made.text.firstMatch(of: /sk_test_[a-z0-9]{48}/)).output
            #expect(try await server.get("/v1/events", as: String(secret)).status == 200)
            let page = try await browser.open("/dashboard/keys")
            #expect(!page.text.contains(secret))
            #expect(page.words.contains("read, reports"))
            let id = try #require(page.field("id"))
            let revoked = try await browser.press("/dashboard/keys/revoke", ["id": id])
            #expect(revoked.words.contains("refused from now on"))
            #expect(try await server.get("/v1/events", as: String(secret)).status == 401)
            let log = try await browser.open("/dashboard/audit")
            #expect(log.words.contains("Revoked a secret key"))
            #expect(!log.text.contains(secret))
        }
    }
}
