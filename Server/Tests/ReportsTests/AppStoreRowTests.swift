import Reports
import Testing
import TollgateCore

@Suite("Rows of the App Store's offers, refunds and years of service")
struct AppStoreRowTests {
    // MARK: - Offers

    @Test(
        "a price that is paid up front is worth its real days, as 28 / days or a year",
        arguments: [
            (2, 90, Reports.Fraction(Int128(3_108))), (3, 90, Reports.Fraction(Int128(3_108))),
            (4, 90, Reports.Fraction(Int128(3_108))), (3, 365, Reports.Fraction(9_990, 12)),
        ] as [(Int64, Double, Reports.Fraction)]
    )
    func paidUpFront(_ offer: Int64, _ days: Double, _ value: Reports.Fraction) throws {
        let fact = Fact.period("a", of: "1", from: 0, to: days).with { period in
            period.offerType = offer
            period.discount = "PAY_UP_FRONT"
        }
        #expect(try Self.row(fact).monthlyValue == value)
    }

    @Test("an installment of a year is worth what it costs for its own time")
    func installment() throws {
        func row(_ installment: Installment?) throws -> Reports.PaidPeriod {
            try Self.row(
                Fact.period("a", of: "1", from: 0, to: 30).with { period in
                    period.product = "app.yearly"
                    period.installment = installment
                }
            )
        }
        #expect(try row(Installment(1, of: 12)).duration == nil)
        #expect(try row(nil).duration == "P1Y")
    }

    @Test("an offer that is paid as one goes is worth its price by the plan's duration")
    func paidAsOneGoes() throws {
        let fact = Fact.period("a", of: "1", from: 0, to: 31, price: 4_990).with { period in
            period.offerType = 2
            period.discount = "PAY_AS_YOU_GO"
        }
        #expect(try Self.row(fact).monthlyValue == Reports.Fraction(Int128(4_990)))
    }

    /// A period's offer as it was stated, and how it counts.
    struct Told: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var type: Int64?
        var discount: String?
        var price: Int64?
        var offer: Reports.Offer
        var isPaid = false
        var isGranted = false
    }

    static let told = [
        Told(
            testDescription: "a receipt's introductory period that is no trial",
            type: 1,
            offer: .introductory,
            isPaid: true
        ),
        Told(
            testDescription: "a receipt's trial",
            type: 1,
            discount: "FREE_TRIAL",
            offer: .trial
        ),
        Told(testDescription: "a signed trial", type: 1, price: 0, offer: .trial),
        Told(
            testDescription: "a receipt's promotional offer",
            type: 2,
            offer: .promotional,
            isPaid: true
        ),
        Told(testDescription: "a receipt's code", type: 3, offer: .code, isPaid: true),
        Told(
            testDescription: "a receipt's code for a free period",
            type: 3,
            discount: "FREE_TRIAL",
            offer: .code,
            isGranted: true
        ),
        Told(
            testDescription: "a signed promotional offer that costs nothing",
            type: 2,
            price: 0,
            offer: .promotional,
            isGranted: true
        ),
        Told(testDescription: "a receipt's plain period", offer: .none, isPaid: true),
    ]

    @Test("a price that is not stated is not zero", arguments: told)
    func unpriced(_ told: Told) throws {
        let fact = Fact.period("a", of: "1", from: 0, to: 31, price: told.price).with { period in
            period.offerType = told.type
            period.discount = told.discount
            if told.price == nil { period.currency = nil }
        }
        let row = try Self.row(fact)
        #expect(row.offer == told.offer)
        #expect(row.isPaid == told.isPaid && row.isGranted == told.isGranted)
        // It counts as active, and adds nothing to MRR.
        #expect(row.monthlyValue == .zero)
    }

    // MARK: - Years of service

    /// Months of thirty days, and what comes after them.
    struct Service: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var facts: [Fact]
        /// Whether the App Store takes less of the last charge.
        var isAfterOneYear: Bool
    }

    // https://developer.apple.com/app-store/subscriptions/#revenue-after-one-year
    static let services = [
        Service(
            testDescription: "a gap of 59 days: the days resume",
            facts: months(13) + [next(390 + 59)],
            isAfterOneYear: true
        ),
        Service(
            testDescription: "a gap of 60 days: the days resume",
            facts: months(13) + [next(390 + 60)],
            isAfterOneYear: true
        ),
        Service(
            testDescription: "a gap of 61 days: they count from 0",
            facts: months(13) + [next(390 + 61)],
            isAfterOneYear: false
        ),
        Service(
            testDescription: "twelve months of thirty days are no year",
            facts: months(12) + [next(360)],
            isAfterOneYear: false
        ),
        Service(
            testDescription: "a month that was refunded in whole adds no days",
            facts: months(12)
                + [.period("r", of: "1", from: 360, to: 390, revoked: 389), next(390)],
            isAfterOneYear: false
        ),
        Service(
            testDescription: "a month that was refunded in part adds those before the refund",
            facts: months(12)
                + [
                    Fact.period("r", of: "1", from: 360, to: 390, revoked: 380)
                        .with { $0.revokedShare = 30_000 }, next(390),
                ],
            isAfterOneYear: true
        ),
        Service(
            testDescription: "a free month adds none, and is no gap",
            facts: months(13)
                + [
                    Fact.period("f", of: "1", from: 390 + 59, to: 390 + 89, price: 0)
                        .with { $0.offerType = 4 }, next(390 + 89),
                ],
            isAfterOneYear: true
        ),
        Service(
            testDescription: "a free thirteenth month is no month of paid service",
            facts: months(12)
                + [
                    Fact.period("f", of: "1", from: 360, to: 390, price: 0)
                        .with { $0.offerType = 2 }, next(390),
                ],
            isAfterOneYear: false
        ),
        Service(
            testDescription: "nor are thirty days by which the App Store extended the twelfth",
            facts: months(11) + [.period("e", of: "1", from: 330, to: 390), next(390)],
            isAfterOneYear: false
        ),
        Service(
            testDescription: "a year",
            facts: [.period("y", of: "1", from: 0, to: 365, product: "app.yearly"), next(365)],
            isAfterOneYear: true
        ),
    ]

    private static func months(_ count: Int) -> [Fact] {
        (0..<count).map { month in
            .period("\(month)", of: "1", from: Double(month * 30), to: Double(month * 30 + 30))
        }
    }

    private static func next(_ day: Double) -> Fact {
        .period("next", of: "1", from: day, to: day + 30)
    }

    @Test("the App Store takes less after a year of paid service", arguments: services)
    func service(_ service: Service) {
        let rows = Shop.rows(Purchase(key: .appStore("1"), joining: service.facts))
        let last = rows.sales.last { $0.kind == .charge }
        #expect(last?.isAfterOneYear == service.isAfterOneYear)
    }

    // MARK: - Refunds of a change

    /// A trial, then a month that a year replaces on day 20.
    private static func changed(refund seconds: Double, share: Int64? = nil) -> Reports.PurchaseRows
    {
        let month = Fact.period("b", of: "1", from: 7, to: 38, upgraded: 20).with { period in
            period.revoked = .day(20 + seconds / 86_400)
            period.revokedShare = share
        }
        return Shop.rows(
            Purchase(
                key: .appStore("1"),
                joining: [
                    .period("a", of: "1", from: 0, to: 7, trial: true), month,
                    .period("c", of: "1", from: 20, to: 385, product: "app.yearly", price: 79_990),
                ]
            )
        )
    }

    /// RULES §2.13: Apple gives back the time that is left, and does not say how much that is.
    @Test(
        "the refund of an upgrade, dated up to a minute after the new plan, is no refund of the whole",
        arguments: [0.0, 2, 60]
    )
    func refundOfChange(_ seconds: Double) {
        let rows = Self.changed(refund: seconds)
        #expect(rows.sales.map(\.kind) == [.charge, .charge, .charge])
        #expect(rows.periods.map(\.refunded) == [nil, nil, nil])
        #expect(rows.periods.map(\.effectiveEnd) == [.day(7), .day(20), .day(385)])
        #expect(Self.trials(rows) == [.trialStarted, .trialConverted])
    }

    @Test("a refund of a stated share is that share, also at an upgrade")
    func statedRefundOfChange() {
        let rows = Self.changed(refund: 2, share: 58_000)
        #expect(rows.sales.map(\.kind) == [.charge, .charge, .refund, .charge])
        #expect(rows.sales.map(\.amount) == [0, 9_990, 5_794, 79_990])
    }

    @Test("a refund of its own after an upgrade is one of the whole")
    func refundAfterChange() {
        let rows = Self.changed(refund: 61)
        #expect(rows.sales.map(\.amount) == [0, 9_990, 9_990, 79_990])
        #expect(Self.trials(rows) == [.trialStarted, .trialUnconverted])
    }

    private static func trials(_ rows: Reports.PurchaseRows) -> Set<Reports.Measure> {
        Set(rows.entries.sums.keys.map(\.measure)).intersection([
            .trialStarted, .trialConverted, .trialUnconverted,
        ])
    }

    private static func row(_ fact: Fact) throws -> Reports.PaidPeriod {
        try #require(Shop.rows(Purchase(key: .appStore("1"), joining: [fact])).periods.first)
    }
}

extension Fact {
    /// The same about a period that differs.
    fileprivate func with(_ change: (inout Period) -> Void) -> Fact {
        guard case .period(var period) = statement else { return self }
        change(&period)
        var fact = self
        fact.statement = .period(period)
        return fact
    }
}
