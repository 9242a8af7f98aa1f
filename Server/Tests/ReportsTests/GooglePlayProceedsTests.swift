import AppStoreConnector
import Reports
import Stores
import Testing
import TollgateCore

/// What reports estimate of Google Play's sales: `developerRevenueInBuyerCurrency` where orders state it.
///
/// https://developers.google.com/android-publisher/api-ref/rest/v3/orders
@Suite("Estimated proceeds of Google Play")
struct GooglePlayProceedsTests {
    private static func money(_ micros: Int64) -> GooglePlayMoney {
        GooglePlayMoney(micros: micros, currency: "EUR")
    }

    /// A game for 10.99 with 1.75 of tax, bought on day 200, of which 8.32 are left.
    private static func bought(
        _ number: Int,
        revenue: Int64? = 8_320_000,
        _ refunds: [GooglePlayOrder.Refund] = []
    ) -> Reports.PurchaseRows {
        let key = Purchase.Key(
            store: .googlePlay,
            environment: .production,
            application: "app",
            id: "token\(number)"
        )
        let order = GooglePlayOrder(
            id: "GPA.\(number)",
            state: refunds.isEmpty ? "PROCESSED" : "PARTIALLY_REFUNDED",
            created: .day(200),
            processed: .day(200),
            total: money(10_990_000),
            tax: money(1_750_000),
            revenue: revenue.map(money),
            isTaxInclusive: true,
            lines: [.init(product: "game", listing: money(10_990_000), total: money(10_990_000))],
            refunds: refunds
        )
        let paid = GooglePlayPurchase(
            state: "PURCHASED",
            completed: .day(200),
            lines: [.init(product: "game")],
            order: order.id
        )
        return Shop.rows(
            Purchase(
                key: key,
                joining: [
                    .said(.googlePlayPurchase(paid), on: 200, about: key),
                    .said(.googlePlayOrder(order), on: 203, about: key),
                ]
            )
        )
    }

    /// Half of the price, given back on day 201.
    private static let half = GooglePlayOrder.Refund(
        at: .day(201),
        isPartial: true,
        total: money(5_495_000)
    )

    /// The estimates of days 200 to 202, in milliunits, which each report that has them agrees on.
    private static func proceeds(
        _ world: [Reports.PurchaseRows]
    ) throws -> Reports.Fraction {
        var all: [Reports.Fraction] = []
        for report: Reports.Report in [.sales, .revenue, .overview] {
            let request = Reports.Request(
                report,
                from: .story(200),
                to: .story(202),
                by: .day,
                environment: .production,
                today: .story(500),
                terms: Finance.Terms(fees: [
                    .googlePlay: Finance.Terms.StoreFee(left: 8_500, isReturned: true)
                ])
            )
            let material = FigureTests.material(world, from: request.from, request.filters)
            let table = try Reports.table(request, from: material)
            var sum = Reports.Fraction.zero
            for case .money(let amount, _) in table.values("estimated_proceeds") { sum += amount }
            all.append(sum)
        }
        let first = try #require(all.first)
        #expect(all == [first, first, first])
        return first
    }

    @Test("An order that states the developer's revenue is estimated by it, not by a share")
    func stated() throws {
        #expect(try Self.proceeds([Self.bought(1)]) == Reports.Fraction(8_320))
    }

    @Test("A refund takes its share of the stated revenue back")
    func refunded() throws {
        // Half of 8.32 is left, which is what the order states then.
        let part = Self.bought(1, revenue: 4_160_000, [Self.half])
        #expect(try Self.proceeds([part]) == Reports.Fraction(4_160))
        var whole = Self.half
        (whole.isPartial, whole.total) = (false, nil)
        #expect(try Self.proceeds([Self.bought(1, [whole])]) == .zero)
    }

    @Test(
        "An order that states none is estimated by 85 % of what was charged, also beside one that does"
    )
    func mixed() throws {
        let rated = Self.bought(2, revenue: nil)
        #expect(try Self.proceeds([rated]) == Reports.Fraction(10_990 * 85, 100))
        #expect(
            try Self.proceeds([rated, Self.bought(1)]) == Reports.Fraction(10_990 * 85, 100)
                + Reports.Fraction(8_320)
        )
        let back = Self.bought(2, revenue: nil, [Self.half])
        #expect(try Self.proceeds([back]) == Reports.Fraction(5_495 * 85, 100))
    }

    @Test("Files in Apple's layout say the same")
    func appleFiles() {
        let terms = Finance.Terms(fees: [
            .googlePlay: Finance.Terms.StoreFee(left: 8_500, isReturned: true)
        ])
        let text = AppleFiles(
            StoreLayout.Question(
                from: .story(200),
                to: .story(200),
                catalog: Catalog(entitlements: [], products: []),
                terms: terms
            )
        ).sales(Self.bought(1).sales)
        let lines = text.split(separator: "\n").map {
            $0.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
        }
        let names = lines.first ?? []
        let place = names.firstIndex(of: "Developer Proceeds")
        #expect(place.map { place in lines.dropFirst().map { $0[place] } } == ["8.320"])
    }

    @Test("What is reported is of all apps of an account, so it stands beside no single one")
    func reported() throws {
        let paid = Reports.ReportedSale(
            day: .story(200),
            productType: "",
            country: "DE",
            units: 0,
            proceeds: Reports.Fraction(8_630),
            currency: "USD"
        )
        let expected: [(app: String?, values: [String])] = [(nil, ["8.630"]), ("reader", [])]
        for (app, values) in expected {
            let request = Reports.Request(
                .revenue,
                from: .story(200),
                to: .story(200),
                by: .day,
                filters: Reports.Filters(app: app),
                environment: .production,
                today: .story(500),
                terms: Shop.terms()
            )
            let table = try Reports.table(request, from: Reports.Material(reported: [paid]))
            #expect(table.values("reported_proceeds").map(\.plain) == values)
        }
        // It counts no downloads.
        let downloads = Reports.Request(
            .downloads,
            from: .story(200),
            to: .story(200),
            by: .day,
            environment: .production,
            today: .story(500),
            terms: Shop.terms()
        )
        let table = try Reports.table(downloads, from: Reports.Material(reported: [paid]))
        #expect(!table.notes.isEmpty)
    }
}
