import HTTPTypes
import Foundation
import Testing
import TollgateSimulation

@Suite("Customers")
struct CustomerTests {
    @Test("A customer is made once; again is the same one", arguments: Backend.allCases)
    func createdOnce(_ backend: Backend) async throws {
        try await TestServer.run(on: backend) { server in
            let body = """
                {"app_user_id":"user-1","app_account_token":"7E3FD4F8-8B8C-4B4A-9B62-6D5DFA2F1E10",\
                "email":"reader@example.com","metadata":{"plan":"a"}}
                """
            let first = try await server.post("/v1/customers", body)
            #expect(first.status == 201)
            #expect(
                first.json["app_account_token"].string == "7e3fd4f8-8b8c-4b4a-9b62-6d5dfa2f1e10"
            )
            #expect(first.json["created"].integer == TestServer.start)
            let again = try await server.post("/v1/customers", body)
            #expect(again.status == 200)
            #expect(again.json == first.json)
            let id = try #require(first.json["id"].string)
            #expect(try await server.get("/v1/customers/\(id)").json == first.json)
            #expect(try await server.get("/v1/customers/user-1").json == first.json)
        }
    }

    @Test("What is new about a known customer is added")
    func updates() async throws {
        try await TestServer.run { server in
            _ = try await server.post(
                "/v1/customers",
                "{\"app_user_id\":\"u\",\"metadata\":{\"a\":\"1\"}}"
            )
            let updated = try await server.post(
                "/v1/customers",
                "{\"app_user_id\":\"u\",\"email\":\"new@example.com\",\"metadata\":{\"b\":\"2\"}}"
            )
            #expect(updated.status == 200)
            #expect(updated.json["email"].string == "new@example.com")
            #expect(updated.json["metadata"] == .object(["a": .string("1"), "b": .string("2")]))
            #expect(try await server.get("/v1/customers/u").json == updated.json)
        }
    }

    @Test(
        "Words are data, whatever they look like",
        arguments: [
            "' OR 1=1; DROP TABLE journal; --", "a/b?c=d&e#f", "%41", "ünï/çødé 🚲", "..", "$1",
            "{id}",
            "<script>alert(1)</script>", "line\\nbreak",
        ],
        Backend.allCases
    )
    func anyWordIsAnID(_ user: String, _ backend: Backend) async throws {
        try await TestServer.run(on: backend) { server in
            let made = try await server.post("/v1/customers", "{\"app_user_id\":\"\(user)\"}")
            #expect(made.status == 201)
            let name = try #require(made.json["app_user_id"].string)
            let unreserved = CharacterSet(
                charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_~"
            )
            let escaped = try #require(
                name.addingPercentEncoding(withAllowedCharacters: unreserved)
            )
            let found = try await server.get("/v1/customers/\(escaped)")
            #expect(found.status == 200)
            #expect(found.json == made.json)
        }
    }

    @Test(
        "A wrong body is refused with the parameter's name",
        arguments: [
            ("{}", "parameter_missing", "app_user_id"),
            ("{\"app_user_id\":7}", "parameter_invalid", "app_user_id"),
            ("{\"app_user_id\":\"\"}", "parameter_invalid", "app_user_id"),
            ("{\"app_user_id\":\"a\\u0000b\"}", "malformed_body", nil),
            (
                "{\"app_user_id\":\"u\",\"app_account_token\":\"x\"}", "parameter_invalid",
                "app_account_token"
            ),
            ("{\"app_user_id\":\"u\",\"metadata\":{\"a\":1}}", "parameter_invalid", "metadata.a"),
            ("[]", "parameter_invalid", nil), ("", "malformed_body", nil),
            ("{\"app_user_id\":\"u\",\"app_user_id\":\"v\"}", "malformed_body", nil),
            ("{\"app_user_id\":\"u\"", "malformed_body", nil),
            ("\u{feff}{\"app_user_id\":\"u\"}", "malformed_body", nil),
        ] as [(String, String, String?)]
    )
    func wrongBodies(_ body: String, _ code: String, _ param: String?) async throws {
        try await TestServer.run { server in
            let before = try await server.rowCounts()
            let answer = try await server.post("/v1/customers", body)
            #expect(answer.status == 400)
            #expect(answer.code == code)
            #expect(answer.json["error"]["param"].string == param)
            #expect(try await server.rowCounts() == before)
        }
    }

    @Test("Nobody is called by NUL", arguments: Backend.allCases)
    func noNULInAName(_ backend: Backend) async throws {
        try await TestServer.run(on: backend) { server in
            for path in ["", "/entitlements", "/coins", "/explain?lookup_key=pro"] {
                let answer = try await server.get("/v1/customers/a%00b\(path)")
                #expect(answer.status == 404 && answer.code == "resource_missing")
            }
        }
    }

    @Test("An unknown customer is missing everywhere")
    func unknownCustomer() async throws {
        try await TestServer.run { server in
            for path in ["", "/entitlements", "/coins", "/explain?lookup_key=pro"] {
                let answer = try await server.get("/v1/customers/nobody\(path)")
                #expect(answer.status == 404 && answer.code == "resource_missing")
            }
            let spend = try await server.post(
                "/v1/customers/nobody/coins/spend",
                "{\"amount\":1}",
                idempotencyKey: "k"
            )
            #expect(spend.status == 404)
            let grant = try await server.post(
                "/v1/customers/nobody/grants",
                "{\"lookup_key\":\"pro\"}"
            )
            #expect(grant.status == 404)
            let session = try await server.post(
                "/v1/customer_sessions",
                "{\"customer\":\"nobody\",\"components\":{\"buy_button\":{\"enabled\":true}}}"
            )
            #expect(session.status == 404)
            #expect(session.json["error"]["param"].string == "customer")
        }
    }

    @Test("Nobody takes over a customer by calling themselves by that customer's id")
    func idAsUserID() async throws {
        try await TestServer.run { server in
            let id = try await server.customer("first")
            let answer = try await server.post("/v1/customers", "{\"app_user_id\":\"\(id)\"}")
            #expect(answer.status == 400 && answer.code == "parameter_invalid")
            #expect(answer.json["error"]["param"].string == "app_user_id")
        }
    }

    @Test("A token of one customer is refused for another, and changes nothing")
    func takenToken() async throws {
        try await TestServer.run { server in
            let token = "7e3fb20b-4cdb-47cc-936d-99d65f608138"
            let first = try await server.post(
                "/v1/customers",
                "{\"app_user_id\":\"first\",\"app_account_token\":\"\(token)\"}"
            )
            #expect(first.status == 201)
            let second = try await server.post(
                "/v1/customers",
                "{\"app_user_id\":\"second\",\"app_account_token\":\"\(token)\"}"
            )
            #expect(second.status == 409 && second.code == "token_taken")
            let again = try await server.post(
                "/v1/customers",
                "{\"app_user_id\":\"first\",\"app_account_token\":\"\(token)\"}"
            )
            #expect(again.status == 200)
        }
    }

    @Test("What is changed back and forth ends as it was said last")
    func backAndForth() async throws {
        try await TestServer.run { server in
            for mail in ["a@example.com", "b@example.com", "a@example.com", "b@example.com"] {
                _ = try await server.post(
                    "/v1/customers",
                    "{\"app_user_id\":\"u\",\"email\":\"\(mail)\"}"
                )
            }
            let id = try await server.customer("u")
            let found = try await server.get("/v1/customers/\(id)")
            #expect(found.json["email"].string == "b@example.com")
        }
    }

    @Test(
        "D8: an address with a line break is no email",
        arguments: [
            "a@example.com\\r\\nBcc: b@example.com", "a@example.com\\n", "\\ra@example.com",
            "a\\u2028@example.com", "a\\u0085@example.com", "a\\u0007@example.com",
        ]
    )
    func lineBreaks(_ email: String) async throws {
        try await TestServer.run { server in
            let body = "{\"app_user_id\":\"u\",\"email\":\"\(email)\"}"
            let answer = try await server.post("/v1/customers", body)
            #expect(answer.status == 400 && answer.code == "parameter_invalid")
            #expect(answer.json["error"]["param"].string == "email")
            // Nor is it one for somebody who is known.
            _ = try await server.customer("u")
            #expect(try await server.post("/v1/customers", body).status == 400)
        }
    }
}
