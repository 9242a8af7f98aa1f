import AppStoreSimulator
import Foundation
import Storage
import Stores
import Testing
import TollgateCore
import TollgateService

/// What staff look up and change at the App Store, which plays along.
@Suite("The App Store on the dashboard")
struct DashboardAppStoreTests {
    private static let monthly = ProductTypeTests.monthly

    /// A purchase that the record knows, and its page.
    private static func bought(
        _ server: TestServer,
        _ product: String = monthly
    ) async throws -> (id: String, page: String) {
        let account = try await server.appStore.createCustomer().id
        let bought = try await server.appStore.buy(product, customer: account)
        try await server.deliverNotifications()
        let id = bought.originalTransactionID
        return (id, "/dashboard/purchases/\(RecordStore.subject(of: key(id)).hex)")
    }

    private static func key(_ id: String) -> Purchase.Key {
        Purchase.Key(
            store: .appStore,
            environment: .sandbox,
            application: TestServer.bundleID,
            id: id
        )
    }

    @Test("A renewal date is extended once per form, with an entry in the log")
    func extend() async throws {
        try await TestServer.run { server in
            let (id, path) = try await Self.bought(server)
            let before = try await server.appStore.subscription(id).renewalDate
            var browser = try await server.staff(.admin)
            let page = try await browser.open(path)
            #expect(page.words.contains("At the App Store"))
            var fields = [
                "days": "14", "reason": "outage", "nonce": try #require(page.field("nonce")),
            ]
            for _ in 0..<2 {
                let done = try await browser.press("\(path)/extend", fields)
                #expect(done.words.contains("The renewal date is extended"), "\(done.words)")
            }
            #expect(
                try await server.appStore.subscription(id).renewalDate == before + 14 * 86_400_000
            )
            for days in ["0", "91", "-1", "many", ""] {
                let refused = try await browser.press(
                    "\(path)/extend",
                    fields.merging(["days": days]) { $1 }
                )
                #expect(refused.status == 400, "\(days)")
            }
            // One that was begun and whose result nobody knows is not sent again.
            _ = try await server.tollgate.store.audit.begin(
                AuditEntry(
                    at: server.tollgate.clocks.wall(),
                    actor: "admin@example.com",
                    role: "admin",
                    action: "app_store.extend",
                    subject: "purchase:\(Self.key(id).canonical)",
                    detail: "14 days, request lost",
                    request: "r"
                )
            )
            let renewal = try await server.appStore.subscription(id).renewalDate
            let unknown = try await browser.press(
                "\(path)/extend",
                fields.merging(["nonce": "lost"]) { $1 }
            )
            #expect(unknown.status == 409 && unknown.words.contains("Look at the renewal date"))
            #expect(try await server.appStore.subscription(id).renewalDate == renewal)
            // The App Store allows two a year, and says so in its own words.
            fields["nonce"] = "second"
            _ = try await browser.press("\(path)/extend", fields)
            fields["nonce"] = "third"
            let third = try await browser.press("\(path)/extend", fields)
            #expect(third.status == 422 && third.words.contains("4030005"), "\(third.words)")
            #expect(third.words.contains("maximum extension count"))
            let log = try await server.tollgate.store.audit.entries().filter {
                $0.action == "app_store.extend"
            }
            #expect(log.map(\.outcome) == ["refused: app_store_refused", "done", "begun", "done"])
            #expect(log.allSatisfy { $0.subject.hasSuffix("/\(id)") && $0.role == "admin" })
            #expect(log.last?.detail.contains("14 days") == true)
        }
    }

    @Test("A token is set, and a transaction finished")
    func tokenAndFinish() async throws {
        try await TestServer.run { server in
            let (id, path) = try await Self.bought(server)
            var browser = try await server.staff(.admin)
            _ = try await browser.open(path)
            let token = "7d2c1f8e-61f4-4a4e-9f0b-2f8f5f0f7a11"
            let set = try await browser.press("\(path)/token", ["token": " \(token) "])
            #expect(set.words.contains("The token is set"), "\(set.words)")
            #expect(try await server.appStore.subscription(id).appAccountToken == token)
            #expect(try await browser.press("\(path)/token", ["token": "me"]).status == 400)
            let done = try await browser.press("\(path)/finish")
            #expect(done.words.contains("The transaction is finished"), "\(done.words)")
            let customer = try await server.appStore.subscription(id).customer
            let transactions = try await server.appStore.transactions(customer: customer)
            #expect(transactions.map(\.isFinished) == [true])
            let log = try await server.tollgate.store.audit.entries()
            // A token leads to a person, and the log outlives an erasure.
            #expect(log.contains { $0.action == "app_store.set_token" && $0.outcome == "done" })
            #expect(log.allSatisfy { !"\($0)".contains(token) })
            #expect(log.contains { $0.action == "app_store.finish" && $0.detail == id })
        }
    }

    @Test("All refunds of a customer are shown, with a way to each purchase")
    func refunds() async throws {
        try await TestServer.run { server in
            let (id, path) = try await Self.bought(server)
            var browser = try await server.staff(.support)
            let none = try await browser.open("\(path)/refunds")
            #expect(none.words.contains("Nothing was refunded"))
            try await server.appStore.refund(id)
            let page = try await browser.open("\(path)/refunds")
            #expect(page.words.contains(Self.monthly) && page.words.contains("REFUND_FULL"))
            #expect(page.text.contains("href=\"\(path)\""))
        }
    }

    @Test("All subscribers of a product are extended, and how far that is can be asked")
    func extendAll() async throws {
        try await TestServer.run { server in
            let (id, _) = try await Self.bought(server)
            let before = try await server.appStore.subscription(id).renewalDate
            var browser = try await server.staff(.admin)
            let page = try await browser.open("/dashboard/app-store")
            let nonce = try #require(page.field("nonce"))
            var fields = [
                "product": Self.monthly, "environment": "sandbox", "days": "3",
                "reason": "satisfaction", "storefronts": "usa, jpn", "nonce": nonce,
            ]
            let done = try await browser.press("/dashboard/app-store/extend", fields)
            #expect(done.words.contains("The App Store has accepted the request"), "\(done.words)")
            #expect(done.words.contains("Complete: 1 extended, 0 not"))
            #expect(
                try await server.appStore.subscription(id).renewalDate == before + 3 * 86_400_000
            )
            // The same form is the same request.
            _ = try await browser.press("/dashboard/app-store/extend", fields)
            #expect(
                try await server.appStore.subscription(id).renewalDate == before + 3 * 86_400_000
            )
            fields["nonce"] = "another"
            fields["storefronts"] = "XXX"
            let refused = try await browser.press("/dashboard/app-store/extend", fields)
            #expect(refused.status == 422 && refused.words.contains("4000028"))
            let unknown = try await browser.open(
                "/dashboard/app-store?product=\(Self.monthly)&request=none&environment=sandbox"
            )
            #expect(unknown.status == 422 && unknown.words.contains("4040009"))
            let log = try await server.tollgate.store.audit.entries(
                subject: "product:\(Self.monthly)"
            )
            #expect(
                log.map(\.outcome) == ["refused: app_store_refused", "done", "done"]
            )
            #expect(log.last?.detail.contains("3 days USA JPN") == true)
        }
    }

    @Test("What changes something takes an admin, what shows something takes support")
    func roles() async throws {
        try await TestServer.run { server in
            let (id, path) = try await Self.bought(server)
            let before = try await server.appStore.subscription(id)
            for role in [StaffRole.viewer, .support] {
                var browser = try await server.staff(role)
                let page = try await browser.open(path)
                #expect(!page.text.contains("\(path)/extend"))
                #expect(page.text.contains("\(path)/refunds") == (role == .support))
                for action in ["extend", "token", "finish"] {
                    let refused = try await browser.press("\(path)/\(action)", ["days": "3"])
                    #expect(refused.status == 403, "\(role) \(action)")
                }
                let all = try await browser.press(
                    "/dashboard/app-store/extend",
                    ["product": Self.monthly, "days": "3"]
                )
                #expect(all.status == 403)
                let expected = role == .support ? 200 : 403
                #expect(try await browser.open("\(path)/refunds").status == expected)
                #expect(try await browser.open("/dashboard/app-store").status == expected)
            }
            #expect(try await server.appStore.subscription(id) == before)
            var admin = try await server.staff(.admin)
            _ = try await admin.open(path)
            #expect(try await admin.press("\(path)/dance").status == 404)
            #expect(try await admin.press("/dashboard/purchases/00/extend").status == 404)
        }
    }
}
