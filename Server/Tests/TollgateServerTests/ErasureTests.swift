import TollgateService
import SandboxClock
import AppStoreSimulator
import Foundation
import HTTPTypes
import Storage
import Testing
import TollgateCore
import TollgateSimulation

@Suite("Erasure")
struct ErasureTests {
    @Test(
        "Nothing of a person is left, and the books still balance",
        arguments: Backend.allCases
    )
    func erased(_ backend: Backend) async throws {
        try await TestServer.run(on: backend) { server in
            let made = try await server.post(
                "/v1/customers",
                "{\"app_user_id\":\"ann@example.com\",\"email\":\"ann@example.com\",\"metadata\":{\"name\":\"Ann\"}}"
            )
            let id = try #require(made.json["id"].string)
            let token = try #require(made.json["app_account_token"].string)
            let session = try await server.session(of: id)
            let account = try await server.appStore.createCustomer(appAccountToken: token)
            let coins = try await server.appStore.buy(
                "com.example.app.coins100",
                customer: account.id
            )
            _ = try await server.appStore.buy("com.example.app.lifetime", customer: account.id)
            try await server.deliverNotifications()
            _ = try await server.post(
                "/v1/customers/\(id)/coins/spend",
                "{\"amount\":30,\"reason\":\"a letter to Ann\"}",
                idempotencyKey: "one"
            )
            let answer = try await server.send(.delete, "/v1/customers/\(id)")
            #expect(answer.status == 200)
            #expect(answer.json["id"].string == id)
            #expect(answer.json["deleted"].bool == true)

            for path in ["", "/entitlements", "/coins", "/explain?lookup_key=pro"] {
                let gone = try await server.get("/v1/customers/\(id)\(path)")
                #expect(gone.status == 410 && gone.code == "customer_erased", "\(path)")
            }
            let signedIn = try await server.get("/v1/customers/\(id)/entitlements", as: session)
            #expect(signedIn.status == 401)
            let twice = try await server.send(.delete, "/v1/customers/\(id)")
            #expect(twice.status == 410)
            let sameUser = try await server.post(
                "/v1/customers",
                "{\"app_user_id\":\"ann@example.com\"}"
            )
            #expect(sameUser.status == 410)
            #expect(try await Self.contains("Ann", server) == false)
            #expect(try await Self.contains("ann@example.com", server) == false)

            // A refund that comes later is still counted, and leaves no body.
            let before = try await Self.bodies(server)
            try await server.appStore.refund(coins.transactionID)
            #expect(try await server.deliverNewestNotification().status == 200)
            #expect(try await Self.bodies(server) == before)
            #expect(try await Self.balance(server) == -30)
            try await Self.expectRebuilds(server)
        }
    }

    @Test("Others are not touched")
    func others() async throws {
        try await TestServer.run { server in
            let kept = try await server.customerWithCoins("kept")
            let gone = try await server.customerWithCoins("gone")
            let before = try await server.get("/v1/customers/\(kept)")
            #expect(try await server.send(.delete, "/v1/customers/\(gone)").status == 200)
            #expect(try await server.get("/v1/customers/\(kept)").json == before.json)
            let coins = try await server.get("/v1/customers/\(kept)/coins")
            #expect(coins.json["balance"].integer == 100)
            let unknown = try await server.send(.delete, "/v1/customers/nobody")
            #expect(unknown.status == 404)
            let session = try await server.session(of: kept)
            let self_ = try await server.send(.delete, "/v1/customers/\(kept)", as: session)
            #expect(self_.status == 403)
        }
    }

    private static func contains(_ text: String, _ server: TestServer) async throws -> Bool {
        try await server.tollgate.store.driver.read { connection in
            for sql in [
                "SELECT body FROM profile", "SELECT body FROM session",
                "SELECT body FROM journal WHERE body IS NOT NULL", "SELECT facts FROM journal",
                "SELECT record FROM purchase", "SELECT answer FROM customer",
            ] {
                for row in try connection.query(sql) {
                    let bytes = try PackedBytes.unpacked(row.bytes(0))
                    if String(decoding: bytes, as: UTF8.self).contains(text) { return true }
                }
            }
            return false
        }
    }

    @Test(
        "A receipt that was dropped while the store was asked stays dropped",
        arguments: Backend.allCases
    )
    func renewedTooLate(_ backend: Backend) async throws {
        try await TestServer.run(on: backend) { server in
            let store = server.tollgate.store
            let customer = Customer.ID(try await server.customer())
            let start = Instant(milliseconds: 0)
            var receipt = StoredReceipt(
                key: RowKey("receipt", customer.rawValue),
                customer: customer,
                body: [1],
                due: start
            )
            try await store.receipts.keep(receipt)
            receipt.body = [2]
            try await store.receipts.renew(receipt)
            #expect(try await store.receipts.page(due: start, limit: 9).map(\.body) == [[2]])
            try await store.receipts.drop(receipt)
            try await store.receipts.renew(receipt)
            #expect(try await store.receipts.page(due: start, limit: 9).isEmpty)
        }
    }

    @Test(
        "Receipts go in the very write that erases, and none is kept afterwards",
        arguments: Backend.allCases
    )
    func receiptsOfTheErased(_ backend: Backend) async throws {
        try await TestServer.run(on: backend) { server in
            let store = server.tollgate.store
            let gone = Customer.ID(try await server.customer("gone"))
            let kept = Customer.ID(try await server.customer("kept"))
            let start = Instant(milliseconds: 0)
            func receipt(_ customer: Customer.ID) -> StoredReceipt {
                StoredReceipt(
                    key: RowKey("receipt", customer.rawValue),
                    customer: customer,
                    body: [1],
                    due: start
                )
            }
            try await store.receipts.keep(receipt(gone))
            try await store.receipts.keep(receipt(kept))
            // The one write, and then the process dies: nothing else is needed.
            let outcome = try await store.submit(
                JournalItem(
                    dedupeKey: RowKey("erase", gone.rawValue),
                    subject: RecordStore.subject(of: gone),
                    kind: .command,
                    stated: start,
                    content: .erase(gone)
                )
            )
            guard case .recorded = outcome else {
                Issue.record("\(outcome)")
                return
            }
            #expect(try await store.receipts.page(due: start, limit: 9).map(\.customer) == [kept])
            // One that was under way, and comes too late.
            try await store.receipts.keep(receipt(gone))
            #expect(try await store.receipts.page(due: start, limit: 9).map(\.customer) == [kept])
            let twice = try await server.send(.delete, "/v1/customers/\(gone.rawValue)")
            #expect(twice.status == 410)
        }
    }

    private static func bodies(_ server: TestServer) async throws -> Int64? {
        try await server.tollgate.store.driver.read { connection in
            try connection.query("SELECT count(*) FROM journal WHERE body IS NOT NULL").first?
                .int64(0)
        }
    }

    private static func balance(_ server: TestServer) async throws -> Int64? {
        try await server.tollgate.store.driver.read { connection in
            try connection.query("SELECT min(balance) FROM customer").first?.int64(0)
        }
    }

    private static func expectRebuilds(_ server: TestServer) async throws {
        let scratch = try await Backend.sqlite.open()
        let report = try await Rebuild(of: server.tollgate.store.driver, into: scratch).verify()
        #expect(report.isIdentical, "\(report.differences)")
        await scratch.close()
    }
}
