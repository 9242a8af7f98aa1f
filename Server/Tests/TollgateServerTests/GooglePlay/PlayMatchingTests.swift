import Reports
import Stores
import Testing
import TollgateCore

@testable import GooglePlayConnector

/// What reports say of orders is found in the record, and what differs is named.
@Suite("Matching Google Play's reports")
struct PlayMatchingTests {
    private static let day = Finance.Day(year: 2026, month: 5, day: 20) ?? Finance.Day(number: 0)
    /// Noon in California.
    private static let noon = day.start.advanced(by: 19 * 3_600_000)
    private static let all = Set((-60...60).map { day.advanced(by: $0) })

    private static func money(_ text: String, _ currency: String = "EUR") -> Finance.Money {
        Finance.Money(decimal: text, currency: currency) ?? .zero("XXX")
    }

    private static func movement(
        _ kind: Finance.Movement.Kind,
        _ id: String,
        order: String = "GPA.1",
        _ amount: String,
        _ currency: String = "EUR",
        days: Int64 = 0
    ) -> Finance.Movement {
        Finance.Movement(
            store: .googlePlay,
            environment: .production,
            kind: kind,
            id: id,
            payment: order,
            product: "premium",
            at: noon.advanced(by: days * Reports.Day.length),
            amount: money(amount, currency)
        )
    }

    private static func movement(
        _ amount: String,
        _ currency: String = "EUR"
    ) -> Finance.Movement {
        movement(.charge, "GPA.1", amount, currency)
    }

    private static func sold(
        order: String = "GPA.1",
        _ charged: String,
        tax: String = "0",
        package: String = "com.example.app"
    ) -> GooglePlayReports.Placed<GooglePlaySale> {
        sold("charged", order: order, charged, tax: tax, package: package)
    }

    private static func sold(
        _ status: String,
        order: String = "GPA.1",
        _ charged: String,
        tax: String = "0",
        _ currency: String = "EUR",
        package: String = "com.example.app",
        days: Int64 = 0
    ) -> GooglePlayReports.Placed<GooglePlaySale> {
        .init(
            line: GooglePlaySale(
                order: order,
                day: day.advanced(by: days),
                at: noon.advanced(by: days * Reports.Day.length),
                status: status,
                package: package,
                product: "premium",
                tax: money(tax, currency),
                charged: money(charged, currency)
            ),
            place: "salesreport_202605, line 2"
        )
    }

    private static func earned(
        _ paid: String,
        _ earned: String,
        isRefund: Bool = false,
        days: Int64 = 0
    ) -> GooglePlayReports.Placed<GooglePlayEarning> {
        self.earned("charge", paid, earned, isRefund: isRefund, days: days)
    }

    private static func earned(
        _ kind: String,
        order: String = "GPA.1",
        _ paid: String,
        _ earned: String,
        rate: String? = "1.1",
        currency: String = "EUR",
        isRefund: Bool = false,
        days: Int64 = 0
    ) -> GooglePlayReports.Placed<GooglePlayEarning> {
        .init(
            line: GooglePlayEarning(
                order: order,
                day: day.advanced(by: days),
                at: noon.advanced(by: days * Reports.Day.length),
                kind: kind,
                isRefund: isRefund,
                type: kind,
                package: "com.example.app",
                product: "premium",
                paid: money(paid, currency),
                earned: money(earned, "USD"),
                rate: rate
            ),
            place: "earnings_202605, line 2"
        )
    }

    private static func match(
        _ movements: [Finance.Movement],
        _ lines: [GooglePlayReports.Placed<GooglePlaySale>],
        covering covered: Set<Finance.Day> = all,
        packages: Set<String>? = ["com.example.app"]
    ) -> GooglePlayMatching<GooglePlaySales>.Result {
        GooglePlayMatching.match(
            movements,
            with: GooglePlaySales.of(lines),
            of: GooglePlayReports.sales,
            covering: covered,
            packages: packages
        )
    }

    /// The differences of one charge and its earnings.
    private static func reasons(
        _ movement: Finance.Movement,
        _ lines: [GooglePlayReports.Placed<GooglePlayEarning>],
        taxed tax: Finance.Money? = nil
    ) throws -> [Finance.Reason] {
        let found = GooglePlayMatching.match(
            [movement],
            with: GooglePlayEarnings.of(lines),
            of: GooglePlayReports.earnings,
            covering: all,
            packages: nil
        )
        let pair = try #require(found.pairs.first)
        var comparing = GooglePlayComparing(GooglePlayTerms())
        comparing.compare(pair.movement, with: pair.booking, taxed: tax)
        return (found.differences + comparing.differences).map(\.reason).sorted()
    }

    @Test("Orders are found by their ids, renewals by theirs, refunds by amount and then by time")
    func pairs() throws {
        let movements = [
            Self.movement("10"), Self.movement(.charge, "GPA.1..0", order: "GPA.1..0", "10"),
            Self.movement(.refund, "GPA.1/refund-0", "2", days: 1),
            Self.movement(.refund, "GPA.1/refund-1", "3", days: 2),
            Self.movement(.dispute, "GPA.1/refund-2", "3", days: 9),
        ]
        let lines = [
            Self.sold("refund", "3", days: 9), Self.sold("refund", "3", days: 2),
            Self.sold("refund", "2", days: 5), Self.sold("10"),
            Self.sold(order: "GPA.1..0", "10"),
        ]
        let found = Self.match(movements, lines)
        #expect(found.differences.isEmpty && found.pending.isEmpty)
        let days = Dictionary(
            uniqueKeysWithValues: found.pairs.map {
                ($0.movement.id, $0.booking.day.number - Self.day.number)
            }
        )
        #expect(
            days == [
                "GPA.1": 0, "GPA.1..0": 0, "GPA.1/refund-0": 5, "GPA.1/refund-1": 2,
                "GPA.1/refund-2": 9,
            ]
        )
    }

    @Test("The lines of a bundle are one charge")
    func bundle() throws {
        let found = Self.match(
            [Self.movement("12.50")],
            [Self.sold("10", tax: "1.60"), Self.sold("2.50", tax: "0.40")]
        )
        let booking = try #require(found.pairs.first?.booking)
        #expect(found.pairs.count == 1 && found.differences.isEmpty)
        #expect(booking.charged == Self.money("12.50") && booking.tax == Self.money("2"))
    }

    @Test("What one side lacks is a difference, but not before its day is reported")
    func missing() {
        let unknown = Self.match([], [Self.sold("10"), Self.sold("refund", order: "GPA.2", "4")])
        #expect(unknown.differences.map(\.reason) == [.missingHere, .missingHere])
        #expect(unknown.differences.map(\.reported) == [Self.money("10"), Self.money("-4")])
        let unreported = Self.match([Self.movement("10")], [])
        #expect(unreported.differences.map(\.reason) == [.missingThere])
        let pending = Self.match([Self.movement("10")], [], covering: [])
        #expect(pending.differences.isEmpty && pending.pending.count == 1)
        // What cost nothing is in no report.
        #expect(Self.match([Self.movement("0")], []).differences.isEmpty)
    }

    @Test("Lines of other apps of the account are no differences, unless it is one of ours")
    func otherApps() {
        let lines = [Self.sold("10", package: "com.example.other")]
        #expect(Self.match([], lines).differences.isEmpty)
        let both: Set = ["com.example.app", "com.example.other"]
        #expect(Self.match([], lines, packages: both).differences.count == 1)
        #expect(Self.match([], lines, packages: nil).differences.count == 1)
    }

    @Test("A charge with the usual fee differs by its rate of exchange alone")
    func usual() throws {
        // 10.99 EUR with 19 % of tax: 9.24 without, a fee of 1.39.
        let lines = [Self.earned("9.24", "10.16"), Self.earned("fee", "-1.39", "-1.53")]
        let sale = Self.movement("10.99")
        #expect(try Self.reasons(sale, lines, taxed: Self.money("1.75")) == [.exchangeRate])
        // Where no estimated sale says so, the tax is told.
        #expect(try Self.reasons(sale, lines) == [.exchangeRate, .tax])
    }

    @Test("What the lines of an order bring is split into tax, fee and proceeds")
    func split() throws {
        let sale = Self.movement("10.99")
        let lines = [Self.earned("9.24", "10.16"), Self.earned("fee", "-1.39", "-1.53")]
        let booking = try #require(GooglePlayEarnings.of(lines).first)
        let settlement = try #require(
            GooglePlayTerms().settlement(of: sale, reportedBy: booking, payout: "PO.1")
        )
        #expect(settlement.net == Self.money("8.63", "USD"))
        #expect(settlement.tax == Self.money("1.75"))
        #expect(settlement.commission == Self.money("1.39"))
        #expect(settlement.payout == "PO.1" && settlement.line == "earnings_202605, line 2")
    }

    @Test(
        "Tax that Google takes out of the charge is a line of its own, and comes back with a refund"
    )
    func taxLines() throws {
        // 11,000 KRW, of which 1,000 are tax; 15 % of 10,000.
        func lines(_ sign: String, _ back: String, isRefund: Bool) -> [GooglePlayEarnings] {
            GooglePlayEarnings.of(
                [
                    ("charge", sign + "11000", sign + "7.92"),
                    ("fee", back + "1500", back + "1.08"), ("tax", back + "1000", back + "0.72"),
                ].map { kind, paid, usd in
                    Self.earned(
                        kind,
                        paid,
                        usd,
                        rate: "0.00072",
                        currency: "KRW",
                        isRefund: isRefund
                    )
                }
            )
        }
        let terms = GooglePlayTerms()
        let sale = Self.movement("11000", "KRW")
        let charged = try #require(lines("", "-", isRefund: false).first)
        let sold = try #require(
            terms.settlement(
                of: sale,
                reportedBy: charged,
                payout: nil
            )
        )
        #expect(sold.tax == Self.money("1000", "KRW"))
        #expect(sold.commission == Self.money("1500", "KRW"))
        #expect(sold.net == Self.money("6.12", "USD"))
        let refund = Self.movement(.refund, "GPA.1/refund-0", "11000", "KRW")
        let refunded = try #require(lines("-", "", isRefund: true).first)
        let back = try #require(
            terms.settlement(
                of: refund,
                reportedBy: refunded,
                payout: nil
            )
        )
        #expect(back.tax == Self.money("-1000", "KRW"))
        #expect(back.commission == Self.money("-1500", "KRW"))
        #expect(back.net == Self.money("-6.12", "USD"))
    }

    @Test("Another fee, another amount, another rate and another day are named")
    func differences() throws {
        let tax = Self.money("1.75")
        func reasons(
            _ charge: (String, String) = ("9.24", "10.16"),
            _ fee: (String, String) = ("-1.39", "-1.53"),
            days: Int64 = 0
        ) throws -> [Finance.Reason] {
            try Self.reasons(
                Self.movement("10.99"),
                [
                    Self.earned(charge.0, charge.1, days: days),
                    Self.earned("fee", fee.0, fee.1, days: days),
                ],
                taxed: tax
            )
        }
        #expect(try reasons() == [.exchangeRate])
        #expect(
            try reasons(("9.24", "10.16"), ("-2.77", "-3.05")) == [.exchangeRate, .commissionRate]
        )
        #expect(
            try reasons(("8.24", "9.06"), ("-1.24", "-1.36")) == [.amountDiffers, .exchangeRate]
        )
        #expect(try reasons(("9.24", "9.16")) == [.amountDiffers])
        #expect(try reasons(days: 3) == [.settlementDate, .exchangeRate])
        // A refund that returned no fee.
        let kept = try Self.reasons(
            Self.movement(.refund, "GPA.1/refund-0", "10.99"),
            [Self.earned("-9.24", "-10.16", isRefund: true)],
            taxed: tax
        )
        #expect(kept == [.exchangeRate, .commissionRate])
    }

    @Test("What belongs to no order, and words that are not known, are told")
    func unmatched() {
        var comparing = GooglePlayComparing(GooglePlayTerms())
        comparing.note(
            unmatched: [
                Self.earned("tax", order: "", "-0.27", "-0.27", currency: "USD"),
                Self.earned("other", order: "", "5", "5", currency: "USD"), Self.earned("1", "1.1"),
            ],
            [Self.sold("Chargeback pending", "10"), Self.sold("10")],
            packages: ["com.example.app"]
        )
        #expect(comparing.differences.map(\.reason) == [.tax, .lateCorrection, .missingHere])
        #expect(comparing.differences.last?.detail.contains("Chargeback pending") == true)
    }

    @Test("A payout that is not the sum of its month's earnings is told")
    func payouts() {
        let span = BookSpan(
            from: Self.day.startOfMonth,
            to: Self.day.startOfNextMonth,
            in: .production,
            isReported: true
        )
        func differences(_ amount: String) -> [Finance.Difference] {
            GooglePlayBooks.differences(
                of: [
                    .init(
                        line: GooglePlayPaidOut(
                            id: "PO.1",
                            day: Self.day.startOfNextMonth.advanced(by: 14),
                            month: "2026-05",
                            amount: Self.money(amount, "USD")
                        ),
                        place: "payout_202606, line 2"
                    )
                ],
                [Self.earned("9.24", "10.16"), Self.earned("fee", "-1.39", "-1.53")],
                over: span
            )
        }
        #expect(differences("8.63").isEmpty)
        #expect(differences("8.50").map(\.reason) == [.amountDiffers])
        #expect(differences("8.50").first?.expected == Self.money("8.63", "USD"))
    }

    // MARK: - Estimates

    /// An order of 10.99 EUR with 1.75 of tax, of which 8.32 are the developer's: 90 % of the price.
    private static func order(
        revenue: String? = "8.32",
        tax: String? = "1.75",
        _ refunds: [GooglePlayOrder.Refund] = []
    ) -> GooglePlayOrder {
        func stated(_ text: String?) -> GooglePlayMoney? {
            text.map { GooglePlayMoney(micros: money($0).millionths, currency: "EUR") }
        }
        return GooglePlayOrder(
            id: "GPA.1",
            state: refunds.isEmpty ? "PROCESSED" : "PARTIALLY_REFUNDED",
            created: noon,
            processed: noon,
            total: stated("10.99"),
            tax: stated(tax),
            revenue: stated(revenue),
            isTaxInclusive: true,
            lines: [GooglePlayOrder.Line(product: "premium", total: stated("10.99"))],
            refunds: refunds
        )
    }

    /// The estimated splits of an order's charge and refunds.
    private static func estimates(
        _ order: GooglePlayOrder,
        taxed tax: Finance.Money? = nil
    ) throws -> [Finance.Settlement] {
        let key = Purchase.Key(
            store: .googlePlay,
            environment: .production,
            application: "com.example.app",
            id: "token"
        )
        let paid = GooglePlayPurchase(
            state: "PURCHASED",
            completed: noon,
            lines: [.init(product: "premium")],
            order: order.id
        )
        let facts = [Statement.googlePlayPurchase(paid), .googlePlayOrder(order)].map { statement in
            Fact(
                purchase: key,
                source: "read",
                stated: Stated(noon, isRead: true),
                statement: statement
            )
        }
        let purchase = Purchase(key: key, joining: facts)
        var rows = Reports.PurchaseRows()
        GooglePlayRows().add(purchase, in: CatalogHistory(), { _ in "buyer" }, to: &rows)
        return Finance.movements(of: rows.sales).map {
            GooglePlayTerms().estimate($0, taxed: tax)
        }
    }

    @Test("An order that states its tax and the developer's revenue is estimated by them")
    func statedRevenue() throws {
        let charge = try #require(try Self.estimates(Self.order()).first)
        #expect(charge.net == Self.money("8.32"))
        #expect(charge.tax == Self.money("1.75") && charge.commission == Self.money("0.92"))
        // Without a revenue the rate is the fallback: 85 % of 9.24.
        let rated = try #require(try Self.estimates(Self.order(revenue: nil)).first)
        #expect(rated.net == Self.money("7.85") && rated.tax == Self.money("1.75"))
        // Without anything it is 85 % of what was charged.
        let bare = try #require(try Self.estimates(Self.order(revenue: nil, tax: nil)).first)
        #expect(bare.net == Self.money("9.34") && bare.tax == nil)
        // Where Google pays the tax out, nothing of it was taken off.
        let paidOut = try #require(try Self.estimates(Self.order(revenue: "9.34")).first)
        #expect(paidOut.net == Self.money("9.34") && paidOut.commission == Self.money("1.65"))
        #expect(paidOut.tax == Self.money("0"))
    }

    /// The stated revenue is that of what was not refunded.
    ///
    /// https://developers.google.com/android-publisher/api-ref/rest/v3/orders
    @Test("A refund takes its share of the tax and of the revenue back")
    func statedRevenueOfRefunds() throws {
        let quarter = GooglePlayOrder.Refund(
            at: Self.noon.advanced(by: Reports.Day.length),
            isPartial: true,
            total: GooglePlayMoney(micros: 2_747_500, currency: "EUR")
        )
        // Three quarters of 8.32 are left.
        let part = try Self.estimates(Self.order(revenue: "6.24", [quarter]))
        #expect(part.map(\.net) == [Self.money("8.32"), Self.money("-2.08")])
        #expect(part.last?.tax.map { $0.isAbout(Self.money("-0.44")) } == true)
        var whole = quarter
        (whole.isPartial, whole.total) = (false, nil)
        let all = try Self.estimates(Self.order([whole]))
        #expect(all.map(\.net) == [Self.money("8.32"), Self.money("-8.32")])
        #expect(all.compactMap(\.tax) == [Self.money("1.75"), Self.money("-1.75")])
    }
}
