import AppStoreAPI
import AppStoreConnector
import Foundation
import Reports
import Stores
import Testing
import TollgateCore

@Suite("Tables")
struct TableTests {
    static let table = Reports.Table(
        name: "test",
        title: "A <test>",
        columns: [
            .init("day", "Day", .day), .init("name", "Name", .text),
            .init("amount", "Amount", .money), .init("share", "Share", .ratio),
        ],
        rows: [
            [
                .day(.story(0)), .text("=cmd(), \"x\""),
                .money(Reports.Fraction(-12_345, 2), currency: "USD"),
                .ratio(Reports.Fraction(1, 3)),
            ],
            [
                .day(.story(1)), .text("日本"), .money(Reports.Fraction(1_500_000), currency: "JPY"),
                .none,
            ],
        ],
        definitions: [.init("Amount", "what it is")]
    )

    @Test("CSV quotes what it must, and no text becomes a formula; numbers stay numbers")
    func csv() {
        #expect(
            Self.table.csv == """
                day,name,amount,share\r
                2026-01-01,"'=cmd(), ""x""\",-6.173,0.333333\r
                2026-01-02,日本,1500.000,\r

                """
        )
    }

    @Test(
        "D7: whatever begins a formula in a spreadsheet stands behind an apostrophe",
        arguments: ["=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠"]
    )
    func formulas(first: String) {
        let table = Reports.Table(
            name: "test",
            title: "Test",
            columns: [.init(first + "B1", "Name", .text)],
            rows: [[.text(first + "A1")]]
        )
        for text in ["'" + first + "A1", "'" + first + "B1"] {
            #expect(table.csv.contains(text), "\(table.csv)")
        }
    }

    @Test("JSON keeps money and shares exact")
    func json() throws {
        let json = try #require(
            try JSONSerialization.jsonObject(with: Data(Self.table.json.utf8)) as? [String: Any]
        )
        let rows = try #require(json["rows"] as? [[String: Any]])
        let amount = try #require(rows[0]["amount"] as? [String: Any])
        #expect(amount["numerator"] as? Int == -12_345)
        #expect(amount["denominator"] as? Int == 2)
        #expect(amount["currency"] as? String == "USD")
        #expect(amount["text"] as? String == "-6.17")
        #expect(rows[1]["share"] is NSNull)
        #expect(Self.table.ndjson.split(separator: "\n").count == 2)
    }

    @Test("A long table is written in pieces, which are the whole of it")
    func pieces() {
        var long = Self.table
        long.rows = (0..<4_000).map { Self.table.rows[$0 % 2] }
        func pieces(_ write: (([UInt8]) -> Void) -> Void) -> (joined: [UInt8], longest: Int) {
            var found: [[UInt8]] = []
            write { found.append($0) }
            return (Array(found.joined()), found.map(\.count).max() ?? 0)
        }
        for (written, whole) in [
            (pieces { long.writeJSON(to: $0) }, long.json),
            (pieces { long.writeCSV(to: $0) }, long.csv),
            (pieces { long.writeTSV(to: $0) }, long.tsv),
        ] {
            #expect(written.joined == Array(whole.utf8))
            #expect(written.longest < 66_000 && written.joined.count > 2 * 66_000)
        }
    }

    @Test("a plot says in words what it shows, and carries no style of its own")
    func plot() {
        let svg = Self.table.svg()
        #expect(svg.contains("role=\"img\"") && svg.contains("<title"))
        #expect(svg.contains("A &lt;test&gt;") && !svg.contains("style="))
        #expect(svg.contains("-6.17 on 2026-01-01"))
        var empty = Self.table
        empty.rows = []
        #expect(empty.svg().contains("Nothing to show"))
    }

    @Test("a plot of cohorts shows one period or age of each, and shares are never added up")
    func plotted() {
        func table(
            _ name: String,
            _ columns: [Reports.Table.Column],
            _ rows: [[Reports.Table.Value]]
        ) -> Reports.Table {
            Reports.Table(
                name: name,
                title: "T",
                columns: [.init("day", "Day", .day)] + columns,
                rows: rows.map { [.day(.story(0))] + $0 }
            )
        }
        let retention = table(
            "retention",
            [
                .init("period", "Period", .count), .init("retention", "Retention", .ratio),
                .init("paid", "Paid", .count),
            ],
            (0..<4).map {
                [.count($0), .ratio(Reports.Fraction(1, Int128($0 + 1))), .count(4 - $0)]
            }
        )
        #expect(retention.plotted.column == "retention" && retention.plotted.rows.count == 1)
        #expect(retention.svg().contains("T, period 1"))
        #expect(retention.svg().contains("Retention: 50 on 2026-01-01, 50 on"))
        let ages: [Int64] = [0, 7, 30, 60]
        let ltv = table(
            "ltv",
            [
                .init("currency", "Currency", .text), .init("age", "Age in days", .count),
                .init("ltv", "LTV", .money),
            ],
            ages.map {
                [
                    .text("USD"), .count($0),
                    .money(Reports.Fraction($0 * 1000), currency: "USD"),
                ]
            }
        )
        #expect(ltv.svg().contains("USD: 30 on 2026-01-01, 30 on"))
        var young = ltv
        young.rows.removeLast(2)
        #expect(young.plotted.part?.value == 7)
        let refunds = table(
            "refunds",
            [
                .init("currency", "Currency", .text), .init("paid", "Paid", .count),
                .init("rate_by_date", "Rate", .ratio),
            ],
            [
                [.text("USD"), .count(20), .ratio(Reports.Fraction(1, 20))],
                [.text("EUR"), .count(25), .ratio(Reports.Fraction(1, 25))],
            ]
        )
        #expect(refunds.svg().contains("USD: 5 on") && refunds.svg().contains("EUR: 4 on"))
        // Asked for, every column can be had.
        #expect(retention.svg(columns: ["paid"]).contains("between 1 and 4"))
    }

    @Test("an accent upon a quote or a sign hides neither from a spreadsheet")
    func accents() {
        let texts = [
            "x\"\u{301},=1+1", "=\u{301}1+1", "\u{600}\"", "\t=1", "a\r\nb", "a\u{2028}b", "-1-1",
            "-1.5",
        ]
        let expected = [
            "\"x\"\"\u{301},=1+1\"", "'=\u{301}1+1", "\"\u{600}\"\"\"", "'\t=1",
            "\"a\r\nb\"", "\"a\u{2028}b\"", "'-1-1", "-1.5",
        ]
        let table = Reports.Table(
            name: "test",
            title: "T",
            columns: texts.indices.map { .init("c\($0)", "C", .text) },
            rows: [texts.map { .text($0) }]
        )
        let names = texts.indices.map { "c\($0)" }
        let csv = names.joined(separator: ",") + "\r\n" + expected.joined(separator: ",") + "\r\n"
        #expect(Array(table.csv.utf8) == Array(csv.utf8))
        #expect(Array(Finance.Sheet(names, [texts]).csv.utf8) == Array(csv.utf8))
    }

    @Test("D7: tab-separated values hold no formula and no further column either")
    func tabs() {
        let texts = [
            "=1+1", "@SUM(A1)", "+1", "-1-1", "-1.5", "\t=1", "a\tb", "a\t\u{301}b", "a\r\nb",
            "a\u{2028}b", "=\u{301}1+1",
        ]
        let expected = [
            "'=1+1", "'@SUM(A1)", "'+1", "'-1-1", "-1.5", "' =1", "a b", "a \u{301}b", "a  b",
            "a b", "'=\u{301}1+1",
        ]
        let names = texts.indices.map { "c\($0)" }
        let table = Reports.Table(
            name: "test",
            title: "T",
            columns: names.map { .init($0, $0, .text) },
            rows: [texts.map { .text($0) }]
        )
        let tsv = names.joined(separator: "\t") + "\n" + expected.joined(separator: "\t") + "\n"
        #expect(Array(table.tsv.utf8) == Array(tsv.utf8))
        #expect(Array(Finance.Sheet(names, [texts]).tsv.utf8) == Array(tsv.utf8))
    }

    @Test("aligned text ends with what the figures mean")
    func text() {
        #expect(Self.table.alignedText.hasSuffix("Amount (v1): what it is\n"))
        #expect(Self.table.alignedText.contains("33.33"))
    }

    @Test("our sales and subscriptions in Apple's columns are read by who reads Apple's")
    func appleLayouts() throws {
        let world = FigureTests.world(seed: 5)
        let sales = world.flatMap(\.sales)
        let periods = world.flatMap(\.periods)
        let files = Self.appleFiles(from: 0, to: 900)
        let read = try AppStore.ConnectReport(Array(files.sales(sales).utf8))
        #expect(read.kind == .sales)
        var units: Int64 = 0
        var gross: Int64 = 0
        for case .sales(let row) in read.rows {
            units += row.units
            gross += row.customerPrice.millionths / 1000 * abs(row.units)
        }
        let charges = sales.filter { $0.kind == .charge }
        let refunds = sales.filter { $0.kind != .charge }
        #expect(units == Int64(charges.count - refunds.count))
        let charged: Int64 = charges.reduce(0) { $0 + $1.amount }
        let back: Int64 = refunds.reduce(0) { $0 + $1.amount }
        #expect(gross == charged - back)
        let subscribers = try AppStore.ConnectReport(Array(files.subscribers(sales).utf8))
        #expect(subscribers.kind == .subscriber && subscribers.rows.count == sales.count)

        let state = try AppStore.ConnectReport(
            Array(Self.appleFiles(from: 250, to: 250).subscriptions(periods).utf8)
        )
        let at = Instant.day(251).advanced(by: -1)
        let standard = Self.sum(of: "Active Standard Price Subscriptions", in: state)
        let active = periods.filter { $0.isPaid && $0.start <= at && at < $0.effectiveEnd }
        #expect(standard == Int64(active.count))
        let events = try AppStore.ConnectReport(Array(files.events(periods).utf8))
        let renewals = Self.sum(of: "Quantity", in: events) { $0["Event"] == "Renew" }
        #expect(events.kind == .subscriptionEvent && renewals > 0)
    }

    private static func appleFiles(from first: Int64, to last: Int64) -> AppleFiles {
        AppleFiles(
            StoreLayout.Question(
                from: .story(first),
                to: .story(last),
                catalog: Shop.catalog,
                terms: Shop.terms()
            )
        )
    }

    private static func sum(
        of column: String,
        in report: AppStore.ConnectReport,
        where counts: ([String: String]) -> Bool = { _ in true }
    ) -> Int64 {
        report.rows.reduce(0) { sum, row in
            guard case .subscription(let row) = row, counts(row.values) else { return sum }
            return sum + (row.values[column].flatMap { Int64($0) } ?? 0)
        }
    }
}
