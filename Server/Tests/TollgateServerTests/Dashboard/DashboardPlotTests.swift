import Foundation
import NIOHTTP1
import Storage
import SandboxClock
import Testing
import TollgateCore
import TollgateService
import TollgateSimulation

@Suite("Plots of the dashboard")
struct DashboardPlotTests {
    /// A server that sold twice on 1 June 2026, a Monday, and once on the day after.
    private static func run(
        _ test: @Sendable (TestServer, inout StaffBrowser) async throws -> Void
    ) async throws {
        try await TestServer.run { server in
            try await DashboardTableTests.sell(server, "1", milliunits: 4_990)
            try await DashboardTableTests.sell(server, "2", milliunits: 12_000, hour: 1)
            try await DashboardTableTests.sell(
                server,
                "3",
                milliunits: 9_990,
                hour: 25,
                isRefunded: true
            )
            while try await !server.tollgate.figures.followOnce() {}
            // Days that have not come yet have no figures.
            await server.clock.advance(to: await server.clock.now + 3 * 86_400_000)
            var browser = try await server.staff(.viewer)
            try await test(server, &browser)
        }
    }

    private static let revenue = "/dashboard/reports/revenue?from=2026-06-01&to=2026-06-03"

    @Test("Each day says its values in words, and the levels are round with zero marked")
    func values() async throws {
        try await Self.run { _, browser in
            let page = try await browser.open(Self.revenue + "&by=day")
            #expect(page.text.contains("<title>1 Jun 2026: Gross $16.99</title>"))
            #expect(page.text.contains("<title>2 Jun 2026: Gross $9.99</title>"))
            #expect(page.text.contains("<title>3 Jun 2026: Gross $0"))
            // 0, 5, 10, 15 and 20 dollars hold 16.99.
            for level in ["$0", "$5", "$10", "$15", "$20"] {
                #expect(page.text.contains(">\(level)</text>"), "\(level)")
            }
            #expect(page.text.matches(of: /class="plot-zero"/).count == 1)
            #expect(!page.text.contains("plot-partial"))
        }
    }

    @Test("A week that the range cuts short is marked")
    func partial() async throws {
        try await Self.run { _, browser in
            let page = try await browser.open(Self.revenue + "&by=week")
            #expect(page.text.contains("class=\"plot-partial\""))
            #expect(page.text.contains("1 Jun 2026 (partial): Gross $26.98"))
            #expect(page.words.contains("Pale bars cover only a part"))
            let whole = try await browser.open(
                "/dashboard/reports/revenue?from=2026-06-01&to=2026-06-07&by=week"
            )
            #expect(!whole.text.contains("plot-partial"))
        }
    }

    @Test("The previous range is a dashed line where anything was sold in it")
    func before() async throws {
        try await Self.run { _, browser in
            let after = try await browser.open(
                "/dashboard/reports/revenue?from=2026-06-02&to=2026-06-02&by=day"
            )
            #expect(after.text.contains("Gross $9.99, previous range $16.99"))
            #expect(after.words.contains("The dashed line is the previous range"))
            let first = try await browser.open(Self.revenue + "&by=day")
            #expect(!first.text.contains("previous range"))
        }
    }

    @Test("Refunds are brown and new subscriptions green")
    func colours() async throws {
        try await Self.run { _, browser in
            let page = try await browser.open(
                "/dashboard/reports/events?from=2026-06-01&to=2026-06-03&by=day"
            )
            let rest = "width=\"10\" height=\"10\" rx=\"2\"/></svg>"
            #expect(page.text.contains("<rect class=\"plot-7\" \(rest)Refunded</label>"))
            #expect(page.text.contains("<rect class=\"plot-3\" \(rest)Subscribed</label>"))
        }
    }

    @Test("A plot is taken as SVG and as CSV")
    func files() async throws {
        try await Self.run { _, browser in
            let page = try await browser.open(Self.revenue + "&by=day")
            let links = page.text.matches(of: /href="([^"]*plot=plot-report-usd&amp;format=\w+)"/)
                .map { String($0.1).replacing("&amp;", with: "&") }
            #expect(links.count == 2)
            let svg = try await browser.open(try #require(links.first))
            #expect(svg.headers.first(name: "Content-Type") == "image/svg+xml; charset=utf-8")
            #expect(svg.text.hasPrefix("<svg ") && svg.text.contains("xmlns="))
            #expect(svg.text.contains("1 Jun 2026: Gross $16.99"))
            let csv = try await browser.open(try #require(links.last))
            #expect(csv.text.hasPrefix("Day,Gross\r\n2026-06-01,16.99\r\n2026-06-02,9.99\r\n"))
            let none = try await browser.open(Self.revenue + "&plot=nothing&format=svg")
            #expect(none.status == 404)
        }
    }
}
