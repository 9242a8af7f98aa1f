import Foundation
import SandboxClock
import Storage
import Testing
import TollgateCore
import TollgateService
import TollgateSimulation

@Suite("What the overview says in the morning")
struct DashboardNewsTests {
    @Test("Yesterday in sentences, each leading to what is behind it")
    func yesterday() async throws {
        try await TestServer.run { server in
            try await DashboardTableTests.sell(server, "1", milliunits: 4_990)
            try await DashboardTableTests.sell(server, "2", milliunits: 12_000, hour: 25)
            try await DashboardTableTests.sell(
                server,
                "3",
                milliunits: 9_990,
                hour: 26,
                isRefunded: true
            )
            while try await !server.tollgate.figures.followOnce() {}
            await server.clock.advance(to: TestServer.start + 56 * 3_600_000)
            var browser = try await server.staff(.viewer)
            let page = try await browser.open("/dashboard")
            #expect(page.words.contains("Sold $21.99, after $4.99 the day before."))
            #expect(page.words.contains("Refunded purchases: 1."))
            #expect(page.words.contains("Nothing needs attention."))
            let link = "/dashboard/reports/rows-sales?from=2026-06-02&amp;to=2026-06-02"
            #expect(page.text.contains("href=\"\(link)\""))
            // Disputes count as refunds, so the report is behind the number, not rows of one kind.
            let refunds = "/dashboard/reports/refunds?from=2026-06-02&amp;to=2026-06-02&amp;by=day"
            #expect(page.text.contains("href=\"\(refunds)\""))
            let rows = try await browser.open(link.replacing("&amp;", with: "&"))
            #expect(rows.words.contains("$12.00") && !rows.words.contains("$4.99"))
        }
    }

    @Test("What needs a person is said first, in both languages")
    func needs() async throws {
        try await TestServer.run { server in
            var browser = try await server.staff(.viewer)
            let quiet = try await browser.open("/dashboard")
            #expect(quiet.words.contains("Nothing needs attention."))
            #expect(quiet.words.contains("Nothing was sold, begun or ended yesterday."))
            try await server.tollgate.store.parked.park(
                ParkedMessage(
                    key: RowKey("x"),
                    store: .stripe,
                    source: "evt_parked",
                    reason: "a product of nobody's",
                    body: [0x7B, 0x7D],
                    received: Instant(milliseconds: TestServer.start)
                )
            )
            let page = try await browser.open("/dashboard")
            #expect(page.words.contains("Genuine messages that could not be used: 1."))
            #expect(page.text.contains("<a href=\"/dashboard/parked\">Genuine"))
            browser.language = "ja"
            let japanese = try await browser.open("/dashboard")
            #expect(japanese.words.contains("対応が必要"))
            #expect(japanese.words.contains("処理できない正規のメッセージ: 1 件。"))
        }
    }
    @Test("A customer whom both would answer with no needs nobody; one whom they part about is one")
    func answeredOtherwise() async throws {
        try await TestServer.run { server in
            func keep(_ kind: AccessFinding.Kind, _ lookupKey: String, _ user: String) async throws
            {
                let finding = AccessFinding(
                    kind,
                    lookupKey,
                    of: Customer.ID(try await server.customer(user)),
                    in: .sandbox,
                    purchase: nil,
                    since: server.wall.now,
                    opinion: "it runs",
                    answer: "nothing",
                    evidence: []
                )
                try await server.tollgate.store.evidence.keep(finding, now: server.wall.now)
            }
            var browser = try await server.staff(.viewer)
            try await keep(.device, "pro", "looker")
            #expect(
                try await browser.open("/dashboard").words.contains("Nothing needs attention.")
            )
            try await keep(.lockedOut, "pro", "payer")
            try await keep(.lockedOut, "archive", "payer")
            let page = try await browser.open("/dashboard")
            #expect(page.words.contains("evidence of the stores gives another answer: 1."))
        }
    }
}
