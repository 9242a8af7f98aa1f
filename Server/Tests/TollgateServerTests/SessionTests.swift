import TollgateService
import Storage
import HTTPTypes
import Foundation
import Testing
import TollgateTesting

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
}
