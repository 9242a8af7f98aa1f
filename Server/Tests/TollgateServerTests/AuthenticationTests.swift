import Foundation
import HTTPTypes
import Testing
import TollgateService

@Suite("Keys")
struct AuthenticationTests {
    private static let described = OpenAPIDocument.ofServer.operations
    private static let guarded = described.filter {
        !Set($0.security).isDisjoint(with: ["secretKey", "publishableKey", "customerSession"])
    }

    @Test("Every address below /v1 asks for a key")
    func everyCallIsGuarded() {
        let open = Self.described.filter { $0.template.hasPrefix("/v1/") && $0.security.isEmpty }
        #expect(open.isEmpty)
        #expect(Self.guarded.count >= 13)
    }

    @Test("K1: without a key, and with a key of no server's, every guarded address answers 401")
    func noKeyAndUnknownKeys() async throws {
        try await TestServer.run { server in
            let customer = try await server.customer()
            for operation in Self.guarded {
                let missing = try await Self.call(operation, customer, as: nil, server)
                #expect(
                    missing.status == 401 && missing.code == "missing_key",
                    "\(operation.template)"
                )
                #expect(missing.headers[.wwwAuthenticate] == "Bearer")
                for key in [
                    "sk_test_other", "pk_test_other", "cuss_secret_other", "sk_live_backend",
                    "sk_test_backen", "sk_test_backend2", "whatever", "",
                ] {
                    let unknown = try await Self.call(operation, customer, as: key, server)
                    #expect(unknown.status == 401, "\(operation.template) \(key)")
                    #expect(["invalid_key", "missing_key"].contains(unknown.code))
                }
            }
        }
    }

    @Test("K1: a publishable key opens no address of the secret key")
    func publishableKeyIsOutOfScope() async throws {
        try await TestServer.run { server in
            let customer = try await server.customer()
            for operation in Self.guarded
            where operation.security.contains("secretKey")
                && !operation.security.contains("publishableKey")
            {
                let answer = try await Self.call(
                    operation,
                    customer,
                    as: TestServer.publishableKey,
                    server
                )
                #expect(answer.status == 403 && answer.code == "key_scope", "\(operation.template)")
            }
        }
    }

    @Test("K1: a customer session opens no address of the secret key alone")
    func sessionIsOutOfScope() async throws {
        try await TestServer.run { server in
            let customer = try await server.customer()
            let session = try await server.session(of: customer)
            for operation in Self.guarded where operation.security == ["secretKey"] {
                let bearer = try await Self.call(operation, customer, as: session, server)
                #expect(bearer.status == 403 && bearer.code == "key_scope", "\(operation.template)")
                let beside = try await Self.call(
                    operation,
                    customer,
                    as: TestServer.publishableKey,
                    session: session,
                    server
                )
                #expect(beside.status == 403 && beside.code == "key_scope", "\(operation.template)")
            }
        }
    }

    @Test("The secret key does not speak for a device")
    func secretKeyIsOutOfScopeWhereADeviceSpeaks() async throws {
        try await TestServer.run { server in
            let presented = try await server.post(
                "/v1/app_store/transactions",
                "{\"signed_transaction\":\"x\",\"mode\":\"purchased\"}"
            )
            #expect(presented.status == 403 && presented.code == "key_scope")
            let portal = try await server.post("/v1/portal_sessions")
            #expect(portal.status == 401 && portal.code == "no_session_present")
        }
    }

    @Test("T1: another customer's id is, for a session, as if it were not there")
    func anotherCustomersIDIsMissing() async throws {
        try await TestServer.run { server in
            let mine = try await server.customer("mine")
            let other = try await server.customer("other")
            let session = try await server.session(of: mine)
            for path in ["entitlements", "coins"] {
                let own = try await server.get("/v1/customers/\(mine)/\(path)", as: session)
                #expect(own.status == 200)
                let others = try await server.get("/v1/customers/\(other)/\(path)", as: session)
                let nobodys = try await server.get("/v1/customers/cus_nobody/\(path)", as: session)
                #expect(others.status == 404 && others.code == "resource_missing")
                #expect(nobodys.status == 404)
                #expect(
                    others.text.replacingOccurrences(of: other, with: "ID")
                        == nobodys.text.replacingOccurrences(of: "cus_nobody", with: "ID")
                )
            }
            let checkout = try await server.post(
                "/v1/checkout_sessions",
                as: session,
                "{\"customer\":\"\(other)\",\"product\":\"coins_100\"}"
            )
            #expect(checkout.status == 404 && checkout.code == "resource_missing")
            #expect(server.stripe.seen.isEmpty)
        }
    }

    @Test("T1: a session ends at its second, not before and not after")
    func sessionsEndOnTime() async throws {
        try await TestServer.run { server in
            let customer = try await server.customer()
            let session = try await server.session(of: customer)
            let path = "/v1/customers/\(customer)/entitlements"
            server.wall.advance(seconds: 1799)
            #expect(try await server.get(path, as: session).status == 200)
            server.wall.advance(seconds: 1)
            for answer in [
                try await server.get(path, as: session),
                try await server.get(path, as: TestServer.publishableKey, session: session),
                try await server.post("/v1/portal_sessions", as: session),
            ] {
                #expect(answer.status == 401 && answer.code == "session_expired")
            }
            server.wall.advance(seconds: 1)
            #expect(try await server.get(path, as: session).status == 401)
        }
    }

    @Test("T1: a changed secret is nobody's session")
    func tamperedSecretsAreRefused() async throws {
        try await TestServer.run { server in
            let customer = try await server.customer()
            let session = try await server.session(of: customer)
            let path = "/v1/customers/\(customer)/entitlements"
            for tampered in [
                String(session.dropLast()), session + "0", session.uppercased(),
                "cuss_secret_", "cuss_secret_' OR 1=1 --",
            ] {
                let answer = try await server.get(path, as: tampered)
                #expect(answer.status == 401 && answer.code == "invalid_key")
            }
        }
    }

    @Test(
        "A component that the session was made without is refused",
        arguments: ["buy_button", "active_entitlements", "customer_portal"]
    )
    func disabledComponents(_ component: String) async throws {
        try await TestServer.run { server in
            let customer = try await server.customer()
            let others = ["buy_button", "active_entitlements", "customer_portal"].filter {
                $0 != component
            }
            let without = try await server.session(of: customer, components: others)
            let with = try await server.session(of: customer, components: [component])
            func ask(_ session: String) async throws -> [Answer] {
                switch component {
                case "buy_button":
                    [
                        try await server.post(
                            "/v1/checkout_sessions",
                            as: session,
                            "{\"product\":\"coins_100\"}"
                        ),
                        try await server.post(
                            "/v1/buy_buttons/buy_coins_100/checkout",
                            as: TestServer.publishableKey,
                            session: session
                        ),
                    ]
                case "active_entitlements":
                    [try await server.get("/v1/customers/\(customer)/entitlements", as: session)]
                default:
                    [try await server.post("/v1/portal_sessions", as: session)]
                }
            }
            for answer in try await ask(without) {
                #expect(answer.status == 403 && answer.code == "component_disabled")
            }
            for answer in try await ask(with) { #expect(answer.status == 200) }
        }
    }

    @Test("A session sees its own environment only")
    func sessionsNameTheirEnvironment() async throws {
        try await TestServer.run { server in
            let customer = try await server.customer()
            let session = try await server.session(of: customer)
            for path in ["entitlements", "coins"] {
                let path = "/v1/customers/\(customer)/\(path)?environment="
                #expect(try await server.get(path + "sandbox", as: session).status == 200)
                let other = try await server.get(path + "production", as: session)
                #expect(other.status == 403 && other.code == "key_scope")
                #expect(try await server.get(path + "production").status == 200)
            }
        }
    }

    @Test("Keys come as Bearer or as the user name of Basic, in any case; nothing else is a key")
    func schemesOfAuthorization() async throws {
        try await TestServer.run { server in
            let id = try await server.customer()
            let basic = Data("\(TestServer.secretKey):".utf8).base64EncodedString()
            for (header, status) in [
                ("Bearer \(TestServer.secretKey)", 200), ("bearer \(TestServer.secretKey)", 200),
                ("Basic \(basic)", 200), (TestServer.secretKey, 401), ("Bearer", 401),
                ("Basic !", 401), ("Digest \(TestServer.secretKey)", 401),
            ] {
                let answer = try await server.send(
                    .get,
                    "/v1/customers/\(id)",
                    as: nil,
                    headers: ["Authorization": header]
                )
                #expect(answer.status == status, "\(header)")
            }
            let inURL = try await server.get(
                "/v1/customers/\(id)?key=\(TestServer.secretKey)",
                as: nil
            )
            #expect(inURL.status == 401)
        }
    }

    private static func call(
        _ operation: OpenAPIDocument.Operation,
        _ customer: String,
        as key: String?,
        session: String? = nil,
        _ server: TestServer
    ) async throws -> Answer {
        let id = operation.template.contains("buy_buttons") ? "buy_coins_100" : customer
        let method = try #require(HTTPRequest.Method(operation.method))
        return try await server.send(
            method,
            operation.path(id: id),
            as: key,
            session: session,
            json: method == .post ? "{}" : nil
        )
    }
}
