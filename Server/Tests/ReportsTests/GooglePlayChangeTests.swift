import Reports
import Storage
import Testing
import TollgateAssembly
import TollgateCore
import TollgateService
import TollgateSimulation

@Suite("Figures of Google Play's changes of plan")
struct GooglePlayChangeTests {
    private static let catalog = Catalog(
        entitlements: [.init(lookupKey: "pro", name: "Pro")],
        products: ["silver", "gold"].map { id in
            Catalog.Product(
                id: id,
                name: id,
                kind: .autoRenewable,
                googlePlayProductID: id,
                entitlements: ["pro"],
                duration: CalendarDuration(months: 1),
                subscriptionGroup: "plans"
            )
        }
    )

    private static func key(_ token: String) -> Purchase.Key {
        Purchase.Key(store: .googlePlay, environment: .production, application: "app", id: token)
    }

    private static func money(_ units: Int64) -> GooglePlayMoney {
        GooglePlayMoney(micros: units * 1_000_000, currency: "USD")
    }

    /// A paid order of `token`, with one line from one day to another.
    private static func order(
        _ id: String,
        of token: String,
        _ product: String,
        from start: Double,
        to end: Double,
        charged: Int64,
        listed: Int64,
        phase: String = "basePrice"
    ) -> Fact {
        let order = GooglePlayOrder(
            id: id,
            state: "PROCESSED",
            created: .day(start),
            processed: .day(start),
            total: money(charged),
            lines: [
                .init(
                    product: product,
                    phase: phase,
                    listing: money(listed),
                    total: money(charged),
                    start: .day(start),
                    end: .day(end)
                )
            ]
        )
        return .said(.googlePlayOrder(order), on: start, about: key(token))
    }

    /// A read of `token` on a day: its products, with their orders and ends.
    private static func read(
        _ token: String,
        _ state: String = "ACTIVE",
        on day: Double,
        linked: String? = nil,
        canceledBy: String? = nil,
        _ items: [(product: String, order: String?, end: Double?)]
    ) -> Fact {
        let items = items.map { item in
            GooglePlaySubscription.Item(
                product: item.product,
                expiry: item.end.map { Instant.day($0) },
                order: item.order,
                renews: state == "ACTIVE"
            )
        }
        let read = GooglePlaySubscription(
            state: state,
            start: .day(day),
            items: items,
            linkedToken: linked,
            canceledBy: canceledBy
        )
        return .said(.googlePlaySubscription(read), on: day, about: key(token))
    }

    private static func rows(_ purchase: Purchase) -> Reports.PurchaseRows {
        let history = CatalogHistory([.init(id: "1", adopted: .day(-1000), catalog: catalog)])
        return Reports.rows(of: purchase, by: Tollgate.storeRows, in: history) {
            $0.first?.canonical ?? ""
        }
    }

    // https://developer.android.com/google/play/billing/subscriptions#replacement-modes
    @Test(
        "a plan that was changed to is worth its price, whatever the change charged",
        arguments: [0, 5] as [Int64]
    )
    func worth(charged: Int64) {
        // WITH_TIME_PRORATION charges nothing, CHARGE_PRORATED_PRICE a difference for the ten days left.
        let change = [
            Self.read("B", on: 21, [("gold", "GPA.B", 31)]),
            Self.order(
                "GPA.B",
                of: "B",
                "gold",
                from: 21,
                to: 31,
                charged: charged,
                listed: 20,
                phase: "prorationPeriod"
            ),
        ]
        let changed = Self.rows(Purchase(key: Self.key("B"), joining: change))
        #expect(changed.sales.map(\.amount) == [charged * 1000])
        let price = Reports.Fraction(Int128(20_000))
        #expect(changed.periods.map(\.monthlyValue) == [price])
        #expect(changed.periods.allSatisfy { $0.isPaid })
        // It is no first payment at the standard price: the renewal is.
        #expect(changed.entries.sums.allSatisfy { $0.key.measure != .retained })
        let renewal = Self.order(
            "GPA.B..0",
            of: "B",
            "gold",
            from: 31,
            to: 59,
            charged: 20,
            listed: 20
        )
        let renewed = Self.rows(Purchase(key: Self.key("B"), joining: change + [renewal]))
        #expect(renewed.periods.map(\.monthlyValue) == [price, price])
        let cohorts = Set(
            renewed.entries.sums.keys.filter { $0.measure == .retained }.map(\.day)
        )
        #expect(cohorts == [.story(31)])
    }

    /// What followed a month of silver that was bought on day 0 as `A`.
    struct Story: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var after: [Fact]
        /// The day on which silver's month ends in figures.
        var expected: Double
    }

    static let stories = [
        Story(
            testDescription: "DEFERRED: silver runs to its end, then gold begins",
            after: [
                read("B", on: 10, linked: "A", [("silver", "GPA.A", 31), ("gold", nil, nil)])
            ],
            expected: 31
        ),
        Story(
            testDescription: "KEEP_EXISTING: silver goes on beside an add-on",
            after: [
                read("B", on: 10, linked: "A", [("silver", "GPA.A", 31), ("gold", "GPA.B", 31)])
            ],
            expected: 31
        ),
        Story(
            testDescription: "silver is kept twice",
            after: [
                read("B", on: 10, linked: "A", [("silver", "GPA.A", 31), ("gold", "GPA.B", 31)]),
                read("C", on: 20, linked: "B", [("silver", "GPA.A", 31)]),
            ],
            expected: 31
        ),
        Story(
            testDescription: "silver is kept, and then changed",
            after: [
                read("B", on: 10, linked: "A", [("silver", "GPA.A", 31), ("gold", nil, nil)]),
                read("C", on: 20, linked: "B", [("gold", "GPA.C", 40)]),
            ],
            expected: 20
        ),
        Story(
            testDescription: "silver is kept, and then revoked",
            after: [
                read("B", on: 10, linked: "A", [("silver", "GPA.A", 31), ("gold", nil, nil)]),
                read(
                    "B",
                    "EXPIRED",
                    on: 15,
                    linked: "A",
                    canceledBy: "system",
                    [("silver", "GPA.A", 15), ("gold", nil, nil)]
                ),
            ],
            expected: 15
        ),
        Story(
            testDescription: "silver is not kept",
            after: [read("B", on: 10, linked: "A", [("gold", "GPA.B", 40)])],
            expected: 10
        ),
    ]

    // https://developer.android.com/google/play/billing/subscriptions#replacement-modes
    @Test("a plan that a change keeps is active to its end", arguments: stories)
    func kept(_ story: Story) async throws {
        let facts =
            [
                Self.read("A", on: 0, [("silver", "GPA.A", 31)]),
                Self.order("GPA.A", of: "A", "silver", from: 0, to: 31, charged: 10, listed: 10),
                // The old token reads EXPIRED from the change on.
                Self.read(
                    "A",
                    "EXPIRED",
                    on: 10,
                    canceledBy: "replacement",
                    [("silver", "GPA.A", 10)]
                ),
            ] + story.after
        var records: [Purchase] = []
        for order in [facts, facts.reversed()] {
            let store = try await RecordStore(Backend.sqlite.makeDatabase().open())
            try await store.adopt(Self.catalog, at: .day(-1000))
            for (number, fact) in order.enumerated() {
                _ = try await store.submit(.message(number, fact))
            }
            records.append(try #require(try await store.record(of: Self.key("A"))))
            await store.driver.close()
        }
        #expect(records[0] == records[1])
        let periods = Self.rows(records[0]).periods
        #expect(periods.map(\.effectiveEnd) == [.day(story.expected)])
        #expect(periods.map(\.end) == [.day(31)])
    }

    // "The token provided to the user's device when the subscription or item was purchased", of an order,
    // may be either of the two.
    // https://developers.google.com/android-publisher/api-ref/rest/v3/orders
    @Test(
        "an order that a change keeps is one sale of the token that bought it, whichever was read under",
        arguments: [["B"], ["A"], ["B", "A"]]
    )
    func keptOrder(_ readUnder: [String]) async throws {
        let facts =
            [
                Self.read("B", on: 10, linked: "A", [("silver", "GPA.A", 31), ("gold", nil, nil)]),
                Self.read("A", on: 0, [("silver", "GPA.A", 31)]),
            ]
            + readUnder.map {
                Self.order("GPA.A", of: $0, "silver", from: 0, to: 31, charged: 10, listed: 10)
            }
        for order in [facts, facts.reversed()] {
            let store = try await RecordStore(Backend.sqlite.makeDatabase().open())
            try await store.adopt(Self.catalog, at: .day(-1000))
            for (number, fact) in order.enumerated() {
                _ = try await store.submit(.message(number, fact))
            }
            let first = try #require(try await store.record(of: Self.key("A")))
            let second = try #require(try await store.record(of: Self.key("B")))
            await store.driver.close()
            #expect(Self.rows(first).sales.map(\.payment) == ["GPA.A"])
            #expect(Self.rows(first).periods.map(\.effectiveEnd) == [.day(31)])
            #expect(Self.rows(second).sales.isEmpty && Self.rows(second).periods.isEmpty)
        }
    }

    // https://developer.android.com/google/play/billing/subscriptions#defer
    @Test("a charge that the developer defers ends no period")
    func deferred() {
        let deferral = [
            Self.read("A", on: 0, [("silver", "GPA.A", 31)]),
            Self.order("GPA.A", of: "A", "silver", from: 0, to: 31, charged: 10, listed: 10),
            Self.read("A", on: 20, [("silver", "GPA.A", 61)]),
        ]
        let deferred = Self.rows(Purchase(key: Self.key("A"), joining: deferral)).periods
        #expect(deferred.map(\.paidUntil) == [.day(61)])
        let renewal = [
            Self.read("A", on: 61, [("silver", "GPA.A..0", 92)]),
            Self.order("GPA.A..0", of: "A", "silver", from: 61, to: 92, charged: 10, listed: 10),
        ]
        let renewed = Self.rows(Purchase(key: Self.key("A"), joining: deferral + renewal))
        #expect(renewed.periods.map(\.effectiveEnd) == [.day(61), .day(92)])
        #expect(renewed.entries.sums.keys.allSatisfy { $0.measure != .grace })
    }

    static let afterHold: [(String, [Fact], [Double])] = [
        ("on hold", [], [34]),
        (
            "recovered",
            [
                read("A", on: 40, [("silver", "GPA.A..0", 71)]),
                order("GPA.A..0", of: "A", "silver", from: 40, to: 71, charged: 10, listed: 10),
            ],
            [34, 71]
        ),
        // The end of the hold may stand as the expiry.
        (
            "canceled at the end of the hold",
            [read("A", "CANCELED", on: 64, canceledBy: "system", [("silver", "GPA.A", 64)])],
            [34]
        ),
        (
            "expired",
            [read("A", "EXPIRED", on: 64, canceledBy: "system", [("silver", "GPA.A", 64)])],
            [34]
        ),
    ]

    // https://developer.android.com/google/play/billing/lifecycle/subscriptions#account-hold
    @Test("days of grace stay in the past after an account hold", arguments: afterHold)
    func grace(_ state: String, _ after: [Fact], _ ends: [Double]) {
        let facts = [
            Self.read("A", on: 0, [("silver", "GPA.A", 31)]),
            Self.order("GPA.A", of: "A", "silver", from: 0, to: 31, charged: 10, listed: 10),
            Self.read("A", "IN_GRACE_PERIOD", on: 31, [("silver", "GPA.A", 34)]),
            Self.read("A", "ON_HOLD", on: 35, [("silver", "GPA.A", 34)]),
        ]
        let rows = Self.rows(Purchase(key: Self.key("A"), joining: facts + after))
        #expect(rows.periods.map(\.effectiveEnd) == ends.map { .day($0) })
        #expect(rows.periods.first?.paidUntil == .day(31))
        let days = rows.entries.sums.filter { $0.key.measure == .grace && $0.value.items > 0 }
        #expect(days.keys.map(\.day) == [.story(31)])
    }

    // https://developer.android.com/google/play/billing/subscriptions#replacement-modes
    @Test("an account hold of a plan gives no grace to the plan that it replaced")
    func graceOfAnotherPlan() {
        let facts = [
            Self.read("A", on: 0, [("silver", "GPA.A", 31)]),
            Self.order("GPA.A", of: "A", "silver", from: 0, to: 31, charged: 10, listed: 10),
            // A DEFERRED replacement under the same token.
            Self.read("A", on: 31, [("gold", "GPA.A..0", 59)]),
            Self.order("GPA.A..0", of: "A", "gold", from: 31, to: 59, charged: 20, listed: 20),
            Self.read("A", "ON_HOLD", on: 60, [("gold", "GPA.A..0", 59)]),
        ]
        let periods = Self.rows(Purchase(key: Self.key("A"), joining: facts)).periods
        #expect(periods.map(\.effectiveEnd) == [.day(31), .day(59)])
        #expect(periods.map { $0.retriedSince != nil } == [false, true])
    }

    // https://developer.android.com/google/play/billing/subscription-with-addons
    @Test("an add-on's trial becomes paid by the add-on's renewal, not by the base plan's")
    func trial() {
        let trial = [
            Self.order("GPA.A", of: "A", "silver", from: 0, to: 31, charged: 10, listed: 10),
            Self.order(
                "GPA.B",
                of: "A",
                "gold",
                from: 10,
                to: 31,
                charged: 0,
                listed: 20,
                phase: "freeTrial"
            ),
            Self.order("GPA.A..0", of: "A", "silver", from: 31, to: 59, charged: 10, listed: 10),
        ]
        func outcome(_ facts: [Fact]) -> Set<Reports.Measure> {
            let rows = Self.rows(Purchase(key: Self.key("A"), joining: facts))
            return Set(rows.entries.sums.keys.map(\.measure))
                .intersection([.trialConverted, .trialUnconverted])
        }
        #expect(outcome(trial) == [.trialUnconverted])
        let renewal = Self.order(
            "GPA.B..0",
            of: "A",
            "gold",
            from: 31,
            to: 59,
            charged: 20,
            listed: 20
        )
        #expect(outcome(trial + [renewal]) == [.trialConverted])
    }
}
