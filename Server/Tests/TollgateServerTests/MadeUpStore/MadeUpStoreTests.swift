import AcceptedConnections
import Foundation
import Hummingbird
import HummingbirdTesting
import Reports
import SandboxClock
import Storage
import Stores
import Testing
import TollgateCore
import TollgateService
import TollgateSimulation

/// Whether a further store needs no more than a room: one that exists only here is added with a
/// connector, and nothing that was built knows of it.
@Suite("A made-up store")
struct MadeUpStoreTests {
    private static let plan = "com.example.app.pro.monthly"

    /// A server whose one further store is the shop at the corner, and the shop, each over HTTP.
    private static func run(
        on backend: Backend,
        _ test: @escaping @Sendable (TestServer, CornerShop) async throws -> Void
    ) async throws {
        let shop = CornerShop()
        let application = Application(
            router: shop.router,
            server: .http1UntilEnded,
            logger: TestServer.silent
        )
        try await application.test(.ahc(.http)) { client in
            let port = client.port ?? 0
            try await TestServer.run(
                on: backend,
                connectors: { [CornerShopConnector($0, port: port)] }
            ) { server in
                try await test(server, shop)
            }
        }
    }

    @Test("sells, lapses and refunds by messages that it signs", arguments: Backend.allCases)
    func sells(_ backend: Backend) async throws {
        try await Self.run(on: backend) { server, shop in
            let port = server.client.port ?? 0
            let (id, token) = try await server.customerAndToken()
            let sold = shop.sell(Self.plan, as: "order-1", to: token, at: TestServer.start)
            // Nobody else can tell it.
            #expect(try await CornerShop.deliver(sold, to: port, signed: "forged") == 400)
            #expect(try await server.entitlements(of: id).isEmpty)
            for _ in 0..<2 { #expect(try await CornerShop.deliver(sold, to: port) == 200) }
            #expect(try await server.entitlements(of: id) == ["pro"])
            // It lapses by itself.
            await server.wait(days: 31)
            #expect(try await server.entitlements(of: id).isEmpty)
            // What is bought again ends at once when it is given back.
            let again = shop.sell(Self.plan, as: "order-2", to: token, at: await server.clock.now)
            try await CornerShop.deliver(again, to: port)
            #expect(try await server.entitlements(of: id) == ["pro"])
            await server.wait(days: 1)
            let back = try #require(shop.refund("order-2", at: await server.clock.now))
            try await CornerShop.deliver(back, to: port)
            #expect(try await server.entitlements(of: id).isEmpty)
            // What cannot be used is kept, and counted under the store.
            let bread = shop.sell("bread", as: "order-3", to: token, at: await server.clock.now)
            #expect(try await CornerShop.deliver(bread, to: port) == 200)
            let metrics = await server.tollgate.metrics.text()
            #expect(
                metrics.contains(
                    "tollgate_messages_total{store=\"app_store\",outcome=\"recorded\"} 3"
                )
            )
            #expect(metrics.contains("tollgate_parked_messages{store=\"app_store\"} 1"))
        }
    }

    @Test(
        "is asked for what its messages lack, and for those that were lost",
        arguments: Backend.allCases
    )
    func asked(_ backend: Backend) async throws {
        try await Self.run(on: backend) { server, shop in
            let port = server.client.port ?? 0
            let (id, token) = try await server.customerAndToken()
            // Two messages are lost; the third one says only that something changed.
            _ = shop.sell(Self.plan, as: "order-1", to: token, at: TestServer.start)
            _ = shop.refund("order-1", at: TestServer.start + 60_000)
            _ = shop.sell(Self.plan, as: "order-2", to: token, at: TestServer.start)
            try await CornerShop.deliver(shop.hint(at: "order-2", at: TestServer.start), to: port)
            #expect(try await server.entitlements(of: id).isEmpty)
            await server.tollgate.fetchWanted()
            #expect(try await server.entitlements(of: id) == ["pro"])
            #expect(
                try await server.tollgate.store.record(of: CornerShopConnector.key("order-1"))
                    == nil
            )
            for connector in server.tollgate.connectors where connector.name == "Corner Shop" {
                #expect(try await connector.reconcileIfDue())
            }
            let found = try await server.tollgate.store.record(
                of: CornerShopConnector.key("order-1")
            )
            #expect(found?.effectivePeriods.first?.revoked != nil)
        }
    }

    @Test("reports, and what it reports is matched with what it sold", arguments: Backend.allCases)
    func reports(_ backend: Backend) async throws {
        try await Self.run(on: backend) { server, shop in
            let (tollgate, port) = (server.tollgate, server.client.port ?? 0)
            let (id, token) = try await server.customerAndToken()
            let sold = shop.sell(Self.plan, as: "order-1", to: token, at: TestServer.start)
            try await CornerShop.deliver(sold, to: port)
            // Somebody paid for what we know nothing of.
            shop.book(5_00, of: "order-9", at: TestServer.start)
            await server.wait(days: 2)
            await tollgate.accounts.fetchReportsIfDue(every: 0)
            let first = Finance.Day(utc: Instant(milliseconds: TestServer.start))
            let found = try await tollgate.accounts.reconciliation(from: first, to: first)
            let coverage = try #require(
                found.coverage.first { $0.source == CornerShopBooks.ledger }
            )
            #expect(coverage.matched == 1 && coverage.pending == 0)
            #expect(found.differences.map(\.reason) == [.missingHere])
            // 9.99, of which the shop kept 0.99.
            let payments = try await tollgate.accounts.payments(from: first, to: first)
            #expect(payments.map(\.net.description) == ["9.00 USD"])
            #expect(payments.first?.customer == id)
            let statement = try await tollgate.accounts.statement(month: first)
            #expect(statement.totals.map(\.net.description) == ["9.00 USD"])
            // 9.00 for the order and 4.50 for the one that nobody knows.
            let month = statement.stores.first { $0.store == .appStore }
            #expect(month?.payouts.map(\.amount.description) == ["13.50 USD"])
            // Estimates are made with its own fee: a tenth.
            let reporting = tollgate.reporting
            let day = Reports.Day(Instant(milliseconds: TestServer.start))
            let report = try await reporting.report("revenue", from: day, to: day)
            #expect("\(report.rows)".contains("8991"))
            // Our sales stand in its columns, and in no other report of its own.
            let owner = "Corner Shop"
            let ledger = try await reporting.report(
                "ledger",
                inColumnsOf: owner,
                from: day,
                to: day
            )
            #expect(ledger == "[9990]")
            await #expect(throws: Refusal.self) {
                try await reporting.report("sales", inColumnsOf: owner, from: day, to: day)
            }
        }
    }

    @Test("has its names and links on the pages of customers and staff")
    func pages() async throws {
        try await Self.run(on: .sqlite) { server, shop in
            let (id, token) = try await server.customerAndToken()
            let sold = shop.sell(Self.plan, as: "order-1", to: token, at: TestServer.start)
            try await CornerShop.deliver(sold, to: server.client.port ?? 0)
            #expect(server.tollgate.name(of: .appStore) == "Corner Shop")
            var browser = try await server.portal(of: id)
            let page = try await browser.send("/portal")
            #expect(page.text.contains("the shop at the corner"))
            #expect(page.text.contains("https://corner.example/orders"))
            // The shop's room says that it was refunded.
            await server.wait(days: 1)
            let back = try #require(shop.refund("order-1", at: await server.clock.now))
            try await CornerShop.deliver(back, to: server.client.port ?? 0)
            #expect(try await browser.send("/portal").text.contains("Refunded on 2 June 2026"))
        }
    }
}

extension TestServer {
    /// A new customer's id, and the token that goes with what they buy.
    fileprivate func customerAndToken() async throws -> (id: String, token: String) {
        let id = try await customer()
        let customer = try await get("/v1/customers/\(id)")
        return (id, try #require(customer.json["app_account_token"].string))
    }

    /// The lookup keys that a customer may use now.
    fileprivate func entitlements(of customer: String) async throws -> [String] {
        let list = try await get("/v1/customers/\(customer)/entitlements")
        return (list.json["data"].array ?? []).compactMap { $0["lookup_key"].string }
    }

    fileprivate func wait(days: Int64) async {
        await clock.advance(to: await clock.now + days * 86_400_000)
    }
}
