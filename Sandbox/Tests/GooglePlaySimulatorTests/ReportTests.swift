import Foundation
import Testing

@testable import GooglePlaySimulator

@Suite("Google Play's bucket")
struct ReportTests {
    private func file(_ prefix: String, _ play: PlayFixture, _ bucket: Bucket) throws -> Bucket.File
    {
        try #require(bucket.files(play.store, at: play.now).first { $0.name.hasPrefix(prefix) })
    }

    @Test("A month's payout is the sum of its earnings, and licence testers are in no report")
    func payout() throws {
        let play = try PlayFixture()
        // Noon, so that California agrees about the day.
        play.now += Timestamp.day / 2
        try play.act("account", "", #"{"id":"buyer"}"#)
        try play.act("account", "", #"{"id":"tester","tester":true}"#)
        _ = try play.buy(#"{"product_id":"premium","account":"buyer"}"#)
        _ = try play.buy(#"{"product_id":"level","account":"tester"}"#)
        play.advance(days: 50)
        let entries = ReportEntry.all(play.store, Bucket.Rules())
        #expect(entries.allSatisfy { $0.line.productID == "premium" })
        let march = entries.filter { PacificTime($0.at).date.monthName == "202603" }
        let lines = EarningsReport.lines(march, feePerMille: 150)
        // 9.99 and a fee of 1.50.
        #expect(lines.map(\.merchant.decimal) == ["9.99", "-1.50"])
        let bucket = Bucket(name: "pubsite_prod_rev_12345678901234567890")
        let text = String(
            decoding: try file("payouts/payout_202604.zip", play, bucket).bytes,
            as: UTF8.self
        )
        #expect(text.contains("2026-04-15,2026-03,USD,8.49"))
    }

    @Test(
        "The columns of payouts, which nobody knows, have several spellings",
        arguments: [
            (PayoutReport.Columns.payout, "Payout Amount"),
            (PayoutReport.Columns.payment, "Earnings Month"),
            (PayoutReport.Columns.merchant, "Amount (Merchant Currency)"),
        ]
    )
    func payoutColumns(_ columns: PayoutReport.Columns, _ name: String) {
        let payout = PayoutReport.Payout(
            id: "PO.1",
            date: "2026-04-15",
            month: "2026-03",
            amount: Money(currency: "USD", micros: 8_490_000)
        )
        let table = PayoutReport.table([payout], columns)
        #expect(table.columns.contains(name))
        #expect(table.rows.allSatisfy { $0.count == table.columns.count })
        #expect(table.rows[0].first == "PO.1" && table.rows[0].last == "8.49")
        #expect(table.rows[0].contains("2026-03") == (columns != .merchant))
    }

    @Test("A report that reads otherwise has another generation, and else the same")
    func generations() throws {
        let play = try PlayFixture()
        // Noon, so that California agrees about the day.
        play.now += Timestamp.day / 2
        try play.act("account", "", #"{"id":"buyer"}"#)
        _ = try play.buy(#"{"product_id":"premium","account":"buyer"}"#)
        play.advance(days: 50)
        var bucket = Bucket(name: "pubsite_prod_rev_12345678901234567890")
        let first = try file("earnings/earnings_202603", play, bucket)
        play.advance(days: 3)
        #expect(try file("earnings/earnings_202603", play, bucket).generation == first.generation)
        bucket.rules.feePerMille = 300
        let corrected = try file("earnings/earnings_202603", play, bucket)
        #expect(corrected.generation != first.generation && corrected.name == first.name)
        bucket.rules.truncatedFiles = [first.name]
        let cut = try file("earnings/earnings_202603", play, bucket)
        #expect(cut.bytes.count == corrected.bytes.count / 2)
    }
}
