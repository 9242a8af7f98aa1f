import Foundation
import Reports
import Storage
import Testing
import TollgateAssembly
import TollgateCore
import TollgateService
import TollgateSimulation

@Suite("Figures on the dashboard")
struct DashboardFigureTests {
    private static let start = Instant(milliseconds: TestServer.start)
    private static let month: Int64 = 30 * 86_400_000

    /// A month of a plan in the App Store.
    private static func sell(
        _ server: TestServer,
        _ id: String,
        _ currency: String,
        isRefunded: Bool = false
    ) async throws {
        let key = Purchase.Key(
            store: .appStore,
            environment: .sandbox,
            application: TestServer.bundleID,
            id: id
        )
        let period = Period(
            id: id,
            transactionID: id,
            product: ProductTypeTests.monthly,
            kind: .autoRenewable,
            start: start,
            end: start.advanced(by: month),
            revoked: isRefunded ? start.advanced(by: 1000) : nil,
            price: 4_990,
            currency: currency
        )
        let fact = Fact(
            purchase: key,
            source: "message",
            stated: Stated(start),
            statement: .period(period)
        )
        _ = try await server.tollgate.store.submit(
            JournalItem(
                dedupeKey: RowKey("message", id),
                subject: RecordStore.subject(of: key),
                kind: .signed,
                stated: start,
                content: .facts([fact]),
                received: Array(id.utf8)
            )
        )
    }

    @Test("Shares in two currencies are two lines, not their sum")
    func shares() async throws {
        try await TestServer.run { server in
            for number in 0..<2 {
                try await Self.sell(server, "1\(number)", "USD", isRefunded: number == 0)
            }
            for number in 0..<4 {
                try await Self.sell(server, "2\(number)", "EUR", isRefunded: number == 0)
            }
            var browser = try await server.staff(.viewer)
            let page = try await browser.open("/dashboard/reports/refunds").text
            #expect(page.contains("USD: from 50 %") && page.contains("EUR: from 25 %"))
            #expect(!page.contains("75 %"))
            // Of two and four who began, one each was paid back: no lines, but a grid.
            let retention = try await browser.open("/dashboard/reports/retention?by=month")
            #expect(!retention.text.contains("<svg class=\"plot\""))
            #expect(retention.words.contains("Retention · Pro, monthly"))
            #expect(retention.words.contains("Jun 2026 6 66.7 %"))
            #expect(retention.words.contains("Average 66.7 %"))
            #expect(retention.text.contains("class=\"number shade-6\">66.7 %"))
        }
    }

    @Test("A price in a currency of three decimals has all three")
    func threeDecimals() async throws {
        try await TestServer.run { server in
            try await Self.sell(server, "1", "KWD")
            var browser = try await server.staff(.viewer)
            let list = try await browser.open("/dashboard/purchases").text
            let link = try #require(
                list.firstMatch(of: /href="(\/dashboard\/purchases\/[^"?]+)/)?.1
            )
            let page = try await browser.open(String(link)).text
            #expect(page.contains("4.990 KWD"))
        }
    }

    @Test("What has no offers of its own cannot be grouped by them")
    func groups() async throws {
        try await TestServer.run { server in
            for name in ["ltv", "coins"] {
                let path = "/v1/reports/\(name)?group="
                #expect(try await server.get(path + "product,offer").status == 400)
                #expect(try await server.get(path + "product").status == 200)
                var browser = try await server.staff(.viewer, "\(name)-viewer")
                let page = try await browser.open("/dashboard/reports/\(name)").text
                #expect(!page.contains("value=\"offer\""))
                #expect(page.contains("value=\"country\""))
            }
        }
    }

    @Test("Pages of rows are as long as they were asked for, whatever is left out")
    func pages() async throws {
        try await TestServer.run { server in
            for number in 10..<16 {
                try await Self.sell(server, "\(number)", number % 2 == 0 ? "USD" : "EUR")
            }
            let tollgate = server.tollgate
            try await FigureDerivation(tollgate.store, rows: Tollgate.storeRows).followToTheEnd(
                now: Self.start
            )
            let today = Reports.Day(Self.start)
            var seen: [String] = []
            var next: String?
            repeat {
                let page = try await tollgate.reporting.rows(
                    .sales,
                    from: today,
                    to: today,
                    filters: Reports.Filters(product: "pro_monthly"),
                    after: next,
                    limit: 1
                )
                seen += page.table.values("transaction").map(\.plain)
                next = page.next
            } while next != nil
            #expect(seen.sorted() == (10..<16).map(String.init))
            let none = try await tollgate.reporting.rows(
                .sales,
                from: today,
                to: today,
                filters: Reports.Filters(product: "none"),
                limit: 1
            )
            #expect(none.table.rows.isEmpty && none.next == nil)
        }
    }
}
