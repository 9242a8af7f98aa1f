import Foundation
import NIOHTTP1
import Storage
import SandboxClock
import Testing
import TollgateCore
import TollgateService
import TollgateSimulation

@Suite("Tables of the dashboard")
struct DashboardTableTests {
    private static let start = Instant(milliseconds: TestServer.start)

    /// A month of a plan in the App Store, begun some hours after the start.
    static func sell(
        _ server: TestServer,
        _ id: String,
        milliunits: Int64,
        _ currency: String = "USD",
        hour: Int64 = 0,
        isRefunded: Bool = false
    ) async throws {
        let begun = start.advanced(by: hour * 3_600_000)
        let fact = Fact(
            purchase: Purchase.Key(
                store: .appStore,
                environment: .sandbox,
                application: TestServer.bundleID,
                id: id
            ),
            source: "message",
            stated: Stated(begun),
            statement: .period(
                Period(
                    id: id,
                    transactionID: id,
                    product: ProductTypeTests.monthly,
                    kind: .autoRenewable,
                    start: begun,
                    end: begun.advanced(by: 30 * 86_400_000),
                    revoked: isRefunded ? begun.advanced(by: 1000) : nil,
                    price: milliunits,
                    currency: currency
                )
            )
        )
        _ = try await server.tollgate.store.submit(
            JournalItem(
                dedupeKey: RowKey("message", id),
                subject: RecordStore.subject(of: fact.purchase),
                kind: .signed,
                stated: begun,
                content: .facts([fact]),
                received: Array(id.utf8)
            )
        )
    }

    /// Where texts stand in a page, in this order.
    private static func isInOrder(_ texts: [String], _ page: String) -> Bool {
        var rest = page[...]
        for text in texts {
            guard let found = rest.range(of: text) else { return false }
            rest = rest[found.upperBound...]
        }
        return true
    }

    private static let rows = "/dashboard/reports/rows-sales?from=2026-06-01&to=2026-06-02"

    @Test("Rows behind a figure have days, amounts and names as people write them")
    func readable() async throws {
        try await TestServer.run { server in
            try await Self.sell(server, "1", milliunits: 4_990)
            let id = try await server.customerWithCoins("buyer")
            while try await !server.tollgate.figures.followOnce() {}
            var browser = try await server.staff(.viewer)
            let page = try await browser.open(Self.rows)
            for text in ["1 Jun 2026, 00:00", "$4.99", "Pro, monthly", "buyer", "100 coins"] {
                #expect(page.words.contains(text), "\(text)")
            }
            // Milliseconds, milliunits and keys of rows are for programs.
            #expect(!page.text.contains("780,272,000") && !page.text.contains("4,990"))
            #expect(page.text.contains("data-copied=\"Copied\">\(id)</code>"))
            let periods = try await browser.open(
                "/dashboard/reports/rows-periods?from=2026-06-01&to=2026-06-02"
            )
            #expect(periods.words.contains("1 Jul 2026, 00:00"))
        }
    }

    @Test("A table is sorted by any column, with its sums by currency, and the file has that order")
    func sorted() async throws {
        try await TestServer.run { server in
            try await Self.sell(server, "1", milliunits: 4_990)
            try await Self.sell(server, "2", milliunits: 12_000, hour: 1)
            try await Self.sell(server, "3", milliunits: 9_990, hour: 2)
            try await Self.sell(server, "4", milliunits: 500_000, "JPY", hour: 3)
            while try await !server.tollgate.figures.followOnce() {}
            var browser = try await server.staff(.viewer)
            let plain = try await browser.open(Self.rows)
            #expect(!plain.text.contains("aria-sort"))
            #expect(plain.words.contains("$26.98") && plain.words.contains("¥500"))
            let down = try await browser.open(Self.rows + "&sort=-5")
            #expect(down.text.contains("aria-sort=\"descending\""))
            #expect(Self.isInOrder(["<tbody", "¥500", "$12.00", "$9.99", "$4.99"], down.text))
            let csv = try await browser.open(Self.rows + "&sort=-5&format=csv")
            #expect(csv.headers.first(name: "Content-Type") == "text/csv; charset=utf-8")
            let lines = csv.text.split(separator: "\r\n")
            #expect(
                lines.count == 5 && lines[0].hasPrefix("When,When · ID,Kind,Product,Product · ID,")
            )
            #expect(Self.isInOrder([",500,JPY", ",12.00,USD", ",9.99,USD", ",4.99,USD"], csv.text))
            // An order that there is not changes nothing.
            for wrong in ["0", "99", "-99", "x", "9223372036854775808", "-9223372036854775808"] {
                let page = try await browser.open(Self.rows + "&sort=\(wrong)")
                #expect(page.status == 200 && !page.text.contains("aria-sort"), "\(wrong)")
            }
        }
    }

    @Test("Payments name products as the catalog does, and are filtered by them")
    func products() async throws {
        try await TestServer.run { server in
            try await Self.sell(server, "1", milliunits: 4_990)
            _ = try await server.customerWithCoins("buyer")
            while try await !server.tollgate.figures.followOnce() {}
            var browser = try await server.staff(.viewer)
            let days = "/dashboard/payments?from=2026-05-31&to=2026-06-02"
            let all = try await browser.open(days)
            #expect(all.text.contains("<span>100 coins</span>") && all.words.contains("$4.99"))
            #expect(all.text.contains("<span>Pro, monthly</span>"))
            let coins = try await browser.open(days + "&product=coins_100")
            #expect(coins.text.contains("<span>100 coins</span>"))
            #expect(!coins.text.contains("<span>Pro, monthly</span>"))
            let file = try await browser.open(days + "&product=coins_100&format=csv")
            #expect(file.text.contains("com.example.app.coins100"))
            #expect(!file.text.contains(ProductTypeTests.monthly))
        }
    }

    @Test("D7: a customer's name is no formula in the file of a table")
    func formulas() async throws {
        try await TestServer.run { server in
            _ = try await server.customerWithCoins("=HYPERLINK(1)")
            await server.tollgate.events.publish()
            var browser = try await server.staff(.viewer)
            for path in ["/dashboard/customers", "/dashboard/events"] {
                let csv = try await browser.open(path + "?format=csv")
                #expect(csv.headers.first(name: "Content-Type") == "text/csv; charset=utf-8")
                #expect(csv.text.contains("'=HYPERLINK(1)"), "\(path)")
                #expect(!csv.text.contains(",=") && !csv.text.contains("\r\n="), "\(path)")
            }
        }
    }

    @Test("Another spelling of a page's address leads to no other host")
    func addresses() async throws {
        try await TestServer.run { server in
            _ = try await server.customerWithCoins("buyer")
            _ = try await server.customerWithCoins("reader")
            await server.tollgate.events.publish()
            var browser = try await server.staff(.viewer)
            for path in ["/dashboard/events", "//dashboard/events", "///dashboard//events"] {
                let page = try await browser.open(path)
                #expect(page.text.contains("=\"/dashboard/events?sort="), "\(path)")
                for attribute in ["href=\"//", "action=\"//", "%2F%2F"] {
                    #expect(!page.text.contains(attribute), "\(path)")
                }
            }
        }
    }

    @Test("What the rows are filtered by stays in the address of every order and of the file")
    func filtered() async throws {
        try await TestServer.run { server in
            try await Self.sell(server, "1", milliunits: 4_990, isRefunded: true)
            try await Self.sell(server, "2", milliunits: 12_000, hour: 1)
            while try await !server.tollgate.figures.followOnce() {}
            await server.clock.advance(to: await server.clock.now + 86_400_000)
            var browser = try await server.staff(.viewer)
            let refunds = try await browser.open(Self.rows + "&kind=refund")
            #expect(refunds.words.contains("−$4.99") && !refunds.words.contains("$12.00"))
            let large = try await browser.open(Self.rows + "&least=5")
            #expect(large.words.contains("$12.00") && !large.words.contains("$4.99"))
            #expect(large.text.contains("least=5&amp;format=csv"))
            #expect(try await browser.open(Self.rows + "&least=much").status == 400)
            let none = try await browser.open(Self.rows + "&store=stripe")
            #expect(none.words.contains("Nothing matches these filters"))
            let active = try await browser.open("/dashboard/purchases?state=active&store=app_store")
            #expect(active.text.matches(of: /<tr role="row">/).count == 2)
            let refunded = try await browser.open("/dashboard/purchases?state=refunded")
            #expect(refunded.text.matches(of: /<tr role="row">/).count == 2)
            let journal = try await browser.open("/dashboard/deliveries?kind=2")
            #expect(journal.words.contains("Nothing matches these filters"))
        }
    }
}
