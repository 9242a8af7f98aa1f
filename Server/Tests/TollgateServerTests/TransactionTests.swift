import HTTPTypes
import AppStoreSimulator
import Foundation
import SandboxClock
import Testing
import TollgateSimulation

@Suite("Transactions that devices present")
struct TransactionTests {
    @Test(
        "A purchase that the device presents belongs to who is signed in",
        arguments: Backend.allCases
    )
    func claimed(_ backend: Backend) async throws {
        try await TestServer.run(on: backend) { server in
            let id = try await server.customer()
            let session = try await server.session(of: id)
            let buyer = try await server.appStore.createCustomer()
            let bought = try await server.appStore.buy(
                "com.example.app.lifetime",
                customer: buyer.id
            )
            let body = "{\"signed_transaction\":\"\(bought.jws)\",\"mode\":\"purchased\"}"
            for isNew in [true, false] {
                let answer = try await server.post(
                    "/v1/app_store/transactions",
                    as: TestServer.publishableKey,
                    session: session,
                    body
                )
                #expect(answer.status == 200)
                #expect(answer.json["new"].bool == isNew)
                #expect(answer.json["customer"].string == id)
                #expect(answer.json["environment"].string == "sandbox")
            }
            let list = try await server.get("/v1/customers/\(id)/entitlements")
            #expect(
                list.json["data"].array?.map { $0["lookup_key"].string } == ["archive", "pro"]
            )
            #expect(list.json["data"][0]["until"] == .null)
        }
    }

    @Test("Another customer's purchase stays theirs")
    func ownedElsewhere() async throws {
        try await TestServer.run { server in
            let first = try await server.customer("first")
            let second = try await server.customer("second")
            let buyer = try await server.appStore.createCustomer()
            let bought = try await server.appStore.buy(
                "com.example.app.lifetime",
                customer: buyer.id
            )
            let body = "{\"signed_transaction\":\"\(bought.jws)\",\"mode\":\"restored\"}"
            let mine = try await server.post(
                "/v1/app_store/transactions",
                as: server.session(of: first),
                body
            )
            #expect(mine.status == 200)
            await server.clock.advance(to: server.clock.now + 1_000)
            let theirs = try await server.post(
                "/v1/app_store/transactions",
                as: server.session(of: second),
                body
            )
            #expect(theirs.status == 409 && theirs.code == "owned_elsewhere")
            let list = try await server.get("/v1/customers/\(second)/entitlements")
            #expect(list.json["data"] == .array([]))
        }
    }

    @Test("With nobody signed in the purchase waits for whoever claims it")
    func nobodySignedIn() async throws {
        try await TestServer.run { server in
            let buyer = try await server.appStore.createCustomer()
            let bought = try await server.appStore.buy(
                "com.example.app.lifetime",
                customer: buyer.id
            )
            let body = "{\"signed_transaction\":\"\(bought.jws)\",\"mode\":\"observed\"}"
            let answer = try await server.post(
                "/v1/app_store/transactions",
                as: TestServer.publishableKey,
                body
            )
            #expect(answer.status == 200)
            #expect(answer.json["customer"] == .null)
            let id = try await server.customer()
            let claimed = try await server.post(
                "/v1/app_store/transactions",
                as: server.session(of: id),
                body
            )
            #expect(claimed.status == 200)
            let list = try await server.get("/v1/customers/\(id)/entitlements")
            #expect(list.json["data"].array?.count == 2)
        }
    }

    @Test(
        "What is no transaction of this app is refused",
        arguments: [
            ("{\"signed_transaction\":\"a.b\",\"mode\":\"purchased\"}", "jws_encoding"),
            ("{\"signed_transaction\":\"a.b.c\",\"mode\":\"stolen\"}", "parameter_invalid"),
            ("{\"mode\":\"purchased\"}", "parameter_missing"),
        ]
    )
    func refused(_ body: String, _ code: String) async throws {
        try await TestServer.run { server in
            let before = try await server.rowCounts()
            let answer = try await server.post(
                "/v1/app_store/transactions",
                as: TestServer.publishableKey,
                body
            )
            #expect(answer.status == 400)
            #expect(answer.code == code)
            #expect(try await server.rowCounts() == before)
        }
    }
}
