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
