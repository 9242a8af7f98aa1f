import TollgateService
import Storage
import HTTPTypes
import Foundation
import Testing
import TollgateSimulation

@Suite("Customer sessions")
struct SessionTests {
    private static let form = [
        "Content-Type": "application/x-www-form-urlencoded", "Stripe-Version": "2026-09-30.endive",
    ]

    @Test(
        "A session is made by a form, as Stripe's clients send it, or by JSON",
        arguments: Backend.allCases
    )
    func byFormOrJSON(_ backend: Backend) async throws {
        try await TestServer.run(on: backend) { server in
            let id = try await server.customer()
            let body =
                "customer=\(id)&components[buy_button][enabled]=true"
                + "&components%5Bactive_entitlements%5D%5Benabled%5D=True"
            let form = try await server.send(
                .post,
                "/v1/customer_sessions",
                body: Array(body.utf8),
                headers: Self.form
            )
            let json = try await server.post(
                "/v1/customer_sessions",
                """
                {"customer":"\(id)","components":{"buy_button":{"enabled":true},\
                "active_entitlements":{"enabled":true}}}
                """
            )
            for answer in [form, json] {
                #expect(answer.status == 200)
                #expect(answer.json["object"].string == "customer_session")
                #expect(answer.json["client_secret"].string?.hasPrefix("cuss_secret_") == true)
                #expect(answer.json["customer"].string == id)
                #expect(answer.json["livemode"].bool == false)
                #expect(answer.json["created"].integer == TestServer.start / 1000)
                #expect(answer.json["expires_at"].integer == TestServer.start / 1000 + 1800)
                #expect(answer.json["components"]["buy_button"]["enabled"].bool == true)
                #expect(answer.json["components"]["customer_portal"]["enabled"].bool == false)
            }
            #expect(form.json["client_secret"] != json.json["client_secret"])
        }
    }

    @Test(
        "A form that is wrong is refused with the parameter's name",
        arguments: [
            ("components[buy_button][enabled]=true", "parameter_missing", "customer"),
            ("customer=ID", "parameter_invalid", "components"),
            (
                "customer=ID&components[buy_button][enabled]=false", "parameter_invalid",
                "components"
            ),
            (
                "customer=ID&components[buy_button][enabled]=yes", "parameter_invalid",
                "components[buy_button][enabled]"
            ),
            (
                "customer=ID&components[pricing_table][enabled]=true", "parameter_unknown",
                "components[pricing_table][enabled]"
            ),
            (
                "customer=ID&customer=ID&components[buy_button][enabled]=true", "parameter_invalid",
                "customer"
            ),
            ("customer=%zz&components[buy_button][enabled]=true", "malformed_body", nil),
        ] as [(String, String, String?)]
    )
    func wrongForms(_ body: String, _ code: String, _ param: String?) async throws {
        try await TestServer.run { server in
            let id = try await server.customer()
            let body = body.replacing("ID", with: id)
            let answer = try await server.send(
                .post,
                "/v1/customer_sessions",
                body: Array(body.utf8),
                headers: Self.form
            )
            #expect(answer.status == 400)
            #expect(answer.code == code)
            #expect(answer.json["error"]["param"].string == param)
        }
    }

    @Test("No secret of a session lies in the database", arguments: Backend.allCases)
    func secretsAreHashed(_ backend: Backend) async throws {
        try await TestServer.run(on: backend) { server in
            let id = try await server.customer()
            let secret = try await server.session(of: id)
            let kept = try await server.tollgate.store.driver.read { connection in
                try connection.query("SELECT token_hash, body FROM session").flatMap {
                    try $0.bytes(0) + $0.bytes(1)
                }
            }
            #expect(!kept.isEmpty)
            #expect(!String(decoding: kept, as: UTF8.self).contains(secret.dropFirst(12)))
        }
    }

    @Test(
        "A component that we do not have is refused in JSON as in a form",
        arguments: [
            ("\"pricing_table\":{\"enabled\":true}", "components[pricing_table]"),
            (
                "\"buy_button\":{\"enabled\":true,\"color\":1}",
                "components[buy_button][color]"
            ),
        ]
    )
    func unknownComponents(_ component: String, _ param: String) async throws {
        try await TestServer.run { server in
            let id = try await server.customer()
            let answer = try await server.post(
                "/v1/customer_sessions",
                """
                {"customer":"\(id)","components":{"customer_portal":{"enabled":true},\(component)}}
                """
            )
            #expect(answer.status == 400 && answer.code == "parameter_unknown")
            #expect(answer.json["error"]["param"].string == param)
        }
    }

    @Test("Sessions end before their time where they are revoked", arguments: Backend.allCases)
    func revocation(_ backend: Backend) async throws {
        try await TestServer.run(on: backend) { server in
            let id = try await server.customer()
            let other = try await server.customer("user-2")
            let kept = try await server.session(of: other)
            func works(_ secret: String, _ customer: String) async throws -> Bool {
                try await server.get("/v1/customers/\(customer)/coins", as: secret).status == 200
            }
            let path = "/v1/customer_sessions/revoke"
            let one = try await server.session(of: id)
            let two = try await server.session(of: id)
            let answer = try await server.post(path, "{\"client_secret\":\"\(one)\"}")
            #expect(answer.status == 200 && answer.json["revoked"].integer == 1)
            #expect(try await !works(one, id))
            #expect(try await works(two, id))
            // Signing out.
            #expect(try await server.send(.post, path, as: two).json["revoked"].integer == 1)
            #expect(try await server.send(.post, path, as: two).status == 401)
            // All of a customer's, visits to the portal among them.
            _ = try await server.session(of: id)
            var browser = try await server.portal(of: id)
            let all = try await server.post(path, "{\"customer\":\"\(id)\"}")
            #expect(all.status == 200 && (all.json["revoked"].integer ?? 0) >= 2)
            #expect(try await browser.open("/portal").status == 401)
            #expect(try await works(kept, other))
            let nobody = try await server.post(path, "{}")
            #expect(nobody.status == 400 && nobody.code == "parameter_missing")
            let app = try await server.post(path, as: TestServer.publishableKey, "{}")
            #expect(app.status == 403 && app.code == "key_scope")
        }
    }

    @Test(
        "T3: the portal's link and cookie are no session, wherever one is taken",
        arguments: Backend.allCases
    )
    func portalSecrets(_ backend: Backend) async throws {
        try await TestServer.run(on: backend) { server in
            let id = try await server.customer()
            let session = try await server.session(of: id)
            let link = try await server.post("/v1/portal_sessions", as: session, "{}")
            let token = try #require(link.json["url"].string?.split(separator: "=").last)
            let browser = try await server.portal(of: id)
            let cookie = try #require(browser.cookie?.split(separator: "=").last)
            for secret in [String(token), String(cookie)] {
                for path in ["/v1/buy_buttons/buy_coins_100", "/v1/customers/\(id)/entitlements"] {
                    let beside = try await server.get(
                        path,
                        as: TestServer.publishableKey,
                        session: secret
                    )
                    #expect(beside.status == 401 && beside.code == "invalid_key", "\(path)")
                    let alone = try await server.get(path, as: secret)
                    #expect(alone.status == 401 && alone.code == "invalid_key", "\(path)")
                }
            }
        }
    }
}
