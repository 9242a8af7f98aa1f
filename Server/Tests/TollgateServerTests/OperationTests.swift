import TollgateService
import Storage
import Foundation
import HTTPTypes
import Testing
import TollgateSimulation

@Suite("Operations")
struct OperationTests {
    @Test(
        "The server says that it is up and that its database answers",
        arguments: Backend.allCases
    )
    func health(_ backend: Backend) async throws {
        try await TestServer.run(on: backend) { server in
            for path in ["/healthz", "/readyz"] {
                let answer = try await server.get(path, as: nil)
                #expect(answer.status == 200)
                #expect(answer.json["status"].string == "ok")
                let head = try await server.send(.head, path, as: nil)
                #expect(head.status == 200 && head.bytes.isEmpty)
            }
        }
    }

    @Test("A server whose database is gone is up, and not ready")
    func databaseGone() async throws {
        try await TestServer.run { server in
            await server.tollgate.store.driver.close()
            #expect(try await server.get("/healthz", as: nil).status == 200)
            let ready = try await server.get("/readyz", as: nil)
            #expect(ready.status >= 500)
            #expect(ready.code != nil)
        }
    }

    @Test("Metrics without a database are the counters, and that it is gone")
    func metricsWithoutDatabase() async throws {
        try await TestServer.run { server in
            _ = try await server.get("/v1/customers/somebody", as: "sk_test_other")
            #expect(
                try await server.get("/metrics", as: nil).text.contains(
                    "\ntollgate_database_up 1\n"
                )
            )
            await server.tollgate.store.driver.close()
            let answer = try await server.get("/metrics", as: nil)
            #expect(answer.status == 200)
            #expect(answer.text.contains("status=\"401\",code=\"invalid_key\""))
            #expect(answer.text.hasSuffix("\ntollgate_database_up 0\n"))
        }
    }

    @Test("Metrics count messages and refusals, and no caller's words are in them")
    func metrics() async throws {
        try await TestServer.run { server in
            _ = try await server.customerWithCoins()
            _ = try await server.deliverNewestNotification()
            _ = try await server.get("/v1/customers/secret-word", as: "sk_test_secret_word")
            _ = try await server.get("/secret-word", as: nil)
            let answer = try await server.get("/metrics", as: nil)
            #expect(answer.headers[.contentType]?.hasPrefix("text/plain; version=0.0.4") == true)
            #expect(
                answer.text.contains(
                    "tollgate_messages_total{store=\"app_store\",outcome=\"recorded\"} 1\n"
                )
            )
            #expect(
                answer.text.contains(
                    "tollgate_messages_total{store=\"app_store\",outcome=\"duplicate\"} 1\n"
                )
            )
            #expect(answer.text.contains("status=\"401\",code=\"invalid_key\""))
            // Nobody derives figures here, so all of the journal waits.
            let lines = answer.text.split(separator: "\n")
            let newest = try #require(lines.first { $0.hasPrefix("tollgate_journal_newest ") })
            #expect(lines.contains(newest.replacing("journal_newest", with: "figures_waiting")))
            #expect(!answer.text.contains("secret"))
        }
    }

    @Test("B4: Apple finds the app association as JSON, without a redirect")
    func appSiteAssociation() async throws {
        try await TestServer.run { server in
            let answer = try await server.get("/.well-known/apple-app-site-association", as: nil)
            #expect(answer.status == 200)
            #expect(answer.headers[.contentType] == "application/json")
            let detail = answer.json["applinks"]["details"][0]
            #expect(detail["appIDs"] == .array([.string("ABCDE12345.com.example.app")]))
            #expect(detail["components"][0]["/"].string == "/checkout_redirect*")
        }
    }

    @Test("The key set shows public keys only")
    func keySet() async throws {
        try await TestServer.run { server in
            let answer = try await server.get("/.well-known/jwks.json", as: nil)
            #expect(answer.json["keys"].array?.isEmpty == false)
            #expect(answer.json["keys"][0]["d"] == .null)
        }
    }

    @Test(
        "An address that is none is refused in the error's shape",
        arguments: [
            "/", "/v1", "/v1/customers/a/b/c", "/v2/customers", "/healthz/x", "/etc/passwd",
            "/..%2f..%2fetc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "/assets/../openapi.json",
            "/assets/%2e%2e/x", "/%00", "/V1/customers", "/v1/nothing",
        ]
    )
    func unknownAddresses(_ path: String) async throws {
        try await TestServer.run { server in
            let answer = try await server.get(path)
            #expect(answer.status == 404)
            #expect(answer.code == "resource_missing")
            #expect(answer.json["error"]["type"].string == "invalid_request_error")
        }
    }

    @Test("A method that an address does not take is refused with those it does")
    func wrongMethods() async throws {
        try await TestServer.run { server in
            for (method, path, allow) in [
                (.get, "/v1/customers", "POST"), (.put, "/v1/customers/x", "DELETE, GET, HEAD"),
                (.delete, "/healthz", "GET, HEAD"), (.get, "/webhooks/stripe", "POST"),
                (.post, "/portal", "GET, HEAD"), (.patch, "/v1/customers/x/coins/spend", "POST"),
            ] as [(HTTPRequest.Method, String, String)] {
                let answer = try await server.send(method, path)
                #expect(answer.status == 405, "\(method) \(path)")
                #expect(answer.code == "method_not_allowed")
                #expect(answer.headers[.allow] == allow)
            }
        }
    }

    @Test("Bodies of our own API are bounded too")
    func bodyLimit() async throws {
        try await TestServer.run { server in
            let answer = try await server.post(
                "/v1/customers",
                "{\"app_user_id\":\"\(String(repeating: "a", count: 256 << 10))\"}"
            )
            #expect(answer.status == 413 && answer.code == "body_too_large")
        }
    }
}
