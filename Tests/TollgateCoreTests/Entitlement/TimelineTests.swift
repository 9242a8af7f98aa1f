import Testing
import TollgateCore

@Suite("Timeline")
struct TimelineTests {
    static func timeline(_ facts: Fact...) -> Timeline { World(facts).timeline() }

    @Test("access without a gap counts from its first day")
    func since() {
        let timeline = Self.timeline(
            .paid("p0", -60, -30),
            .paid("p1", 0, 30),
            .paid("p2", 30, 60),
            .terms(30)
        )
        let active = timeline.active(at: .day(45)).first
        #expect(active?.since == .day(0))
        #expect(active?.until == .day(60))
        #expect(timeline.active(at: .day(-40)).first?.since == .day(-60))
    }

    @Test("of several grounds the longest is named, then the firmest")
    func preference() {
        let timeline = Self.timeline(
            .paid("p1", 0, 30),
            .terms(30, grace: 46),
            .status(4, 30),
            .bought("l1", .nonConsumable, "lifetime", on: 40)
        )
        #expect(timeline.ground(at: .day(35)) == .grace)
        #expect(timeline.ground(at: .day(41)) == .payment)
        #expect(timeline.active(at: .day(41)).first?.until == nil)
    }

    @Test("the next change is every start and end, and then none")
    func nextChange() {
        let timeline = Self.timeline(.paid("p1", 0, 30), .terms(0))
        let leeway = Instant.day(30, plus: 2 * Instant.hour)
        #expect(timeline.nextChange(after: .day(-5)) == .day(0))
        #expect(timeline.nextChange(after: .day(0)) == .day(30))
        #expect(timeline.nextChange(after: .day(30)) == leeway)
        #expect(timeline.nextChange(after: leeway) == nil)
    }

    @Test("between two changes the answer is the same", arguments: 1...20)
    func constantBetweenChanges(seed: Int) {
        var random = Seeded(UInt64(seed))
        let timeline = World(LawTests.history(&random, count: 30)).timeline()
        var instant = Instant.day(-10)
        while let next = timeline.nextChange(after: instant) {
            let before = timeline.active(at: next.advanced(by: -1)).map(\.lookupKey)
            #expect(timeline.active(at: instant).map(\.lookupKey) == before)
            #expect(next > instant)
            instant = next
        }
    }

    @Test(
        "durations follow the calendar",
        arguments: [
            (30.0, 58.0),  // 31 January + 1 month = 28 February
            (31.0, 59.0),  // 1 February + 1 month = 1 March
        ]
    )
    func calendar(bought: Double, end: Double) {
        var catalog = Shop.catalog
        for index in catalog.products.indices where catalog.products[index].id == "pass" {
            catalog.products[index].duration = CalendarDuration(months: 1)
        }
        let world = World([.bought("n1", .nonRenewing, "pass", on: bought)])
        #expect(world.timeline(Shop.history(catalog)).entries.first?.until == .day(end))
    }

    // MARK: Spans as such

    static let stripeMonthly = StoreProduct(.stripe, "price_monthly")

    static func span(
        _ from: Double,
        _ to: Double?,
        _ ground: Ground = .payment,
        of purchase: String = "a",
        _ evidence: String = "e",
        product: StoreProduct = stripeMonthly
    ) -> (Purchase.Key, PurchaseAccess) {
        let interval = AccessInterval(
            product: product,
            since: .day(from),
            until: to.map { .day($0) },
            ground: ground,
            evidence: evidence
        )
        return (.stripe(purchase), PurchaseAccess(intervals: [interval]))
    }

    /// The one answer at an instant, which must not depend on the order of the spans.
    static func answer(
        _ spans: [(Purchase.Key, PurchaseAccess)],
        at instant: Instant,
        in catalog: Catalog = Shop.catalog
    ) -> ActiveEntitlement? {
        let answers = permutations(spans).map {
            Timeline($0, in: catalog).active(at: instant)
        }
        #expect(Set(answers).count == 1)
        #expect((answers.first?.count ?? 0) <= 1)
        return answers.first?.first
    }

    @Test("of two grounds for one span the firmer one is named")
    func firmness() {
        // Renewal and grace end later than they say, so they are compared by the end they come to.
        let grounds: [Ground] = [.payment, .family, .grant, .status]
        for (index, firmer) in grounds.enumerated() {
            for other in grounds.dropFirst(index + 1) {
                let spans = [Self.span(0, 30, other, of: "a"), Self.span(0, 30, firmer, of: "b")]
                #expect(Self.answer(spans, at: .day(1))?.ground == firmer, "\(firmer), \(other)")
            }
        }
        var catalog = Shop.catalog
        catalog.pastDueGrace = 86_400_000
        catalog.renewalLeeway.stripe = 86_400_000
        let late = [Self.span(0, 30, .renewal, of: "a"), Self.span(0, 30, .grace, of: "b")]
        #expect(Self.answer(late, at: .day(1), in: catalog)?.ground == .grace)
        let status = [Self.span(0, 30, .grace, of: "a"), Self.span(0, 31, .status, of: "b")]
        #expect(Self.answer(status, at: .day(1), in: catalog)?.ground == .status)
    }

    @Test("of two equal spans the first purchase is named, then the first evidence")
    func ties() {
        let purchases = [Self.span(0, 30, of: "b", "1"), Self.span(0, 30, of: "a", "2")]
        #expect(Self.answer(purchases, at: .day(1))?.purchase == .stripe("a"))
        let evidence = [Self.span(0, 30, of: "a", "2"), Self.span(0, 30, of: "a", "1")]
        #expect(Self.answer(evidence, at: .day(1))?.evidence == "1")
    }

    @Test("what is longer is named, though another began earlier or is firmer")
    func longest() {
        let spans = [
            Self.span(0, 30, of: "a"), Self.span(5, 60, .status, of: "b"),
            Self.span(10, 40, of: "c"),
        ]
        #expect(Self.answer(spans, at: .day(20))?.purchase == .stripe("b"))
        #expect(
            Self.answer(spans + [Self.span(1, nil, .grant, of: "d")], at: .day(20))?.until == nil
        )
    }

    struct Joint: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let spans: [(from: Double, to: Double?, ground: Ground)]
        /// Asked on day 5.
        let since: Double
        let until: Double?
    }

    static let joints = [
        Joint(testDescription: "alone", spans: [(0, 10, .payment)], since: 0, until: 10),
        Joint(
            testDescription: "what is paid ahead goes on",
            spans: [(0, 10, .payment), (10, 20, .payment), (20, 30, .payment)],
            since: 0,
            until: 30
        ),
        Joint(
            testDescription: "what comes after a gap is another access",
            spans: [(0, 10, .payment), (10.5, 20, .payment)],
            since: 0,
            until: 10
        ),
        Joint(
            testDescription: "another ground is told when it begins",
            spans: [(0, 10, .payment), (10, 20, .status)],
            since: 0,
            until: 10
        ),
        Joint(
            testDescription: "whatever the ground, access without a gap began with the first",
            spans: [(0, 2, .status), (2, 4, .family), (4, 10, .payment)],
            since: 0,
            until: 10
        ),
        Joint(
            testDescription: "spans that overlap are one access",
            spans: [(0, 6, .payment), (4, 10, .payment), (8, 20, .payment)],
            since: 0,
            until: 20
        ),
        Joint(
            testDescription: "a span within another one changes nothing",
            spans: [(0, 20, .payment), (2, 3, .payment), (6, 7, .payment)],
            since: 0,
            until: 20
        ),
        Joint(
            testDescription: "before a gap was another access",
            spans: [(0, 2, .payment), (2.5, 10, .payment)],
            since: 2.5,
            until: 10
        ),
        Joint(
            testDescription: "for ever, since the first that is for ever",
            spans: [(0, nil, .grant), (3, nil, .payment)],
            since: 0,
            until: nil
        ),
        Joint(
            testDescription: "for ever, after what is paid",
            spans: [(0, 10, .payment), (10, nil, .payment)],
            since: 0,
            until: nil
        ),
    ]

    @Test(
        "access counts from its first day without a gap, to where its ground ends",
        arguments: joints
    )
    func withoutGaps(_ story: Joint) {
        let spans = story.spans.enumerated().map { index, span in
            Self.span(span.from, span.to, span.ground, of: "\(index)")
        }
        let answer = Self.answer(spans, at: .day(5))
        #expect(answer?.since == .day(story.since))
        #expect(answer?.until == story.until.map { .day($0) })
    }

    @Test("a span is over at its end, and one that ends where it begins is none")
    func halfOpen() {
        let spans = [Self.span(0, 10)]
        #expect(Self.answer(spans, at: .day(0, plus: -1)) == nil)
        #expect(Self.answer(spans, at: .day(0)) != nil)
        #expect(Self.answer(spans, at: .day(10, plus: -1)) != nil)
        #expect(Self.answer(spans, at: .day(10)) == nil)
        for ground in [Ground.payment, .status] {
            #expect(Timeline([Self.span(5, 5, ground)], in: Shop.catalog).entries.isEmpty)
        }
    }

    @Test("what is bought in a store has that store's leeway and grace, and no other")
    func leeway() {
        var catalog = Shop.catalog
        catalog.renewalLeeway = .init(appStore: 1000, stripe: 2000)
        catalog.pastDueGrace = 3000
        let monthly = StoreProduct(.appStore, Shop.monthly)
        func end(_ ground: Ground, _ product: StoreProduct) -> Instant? {
            Timeline([Self.span(0, 1, ground, product: product)], in: catalog).entries.first?.until
        }
        #expect(end(.renewal, monthly) == .day(1, plus: 1000))
        #expect(end(.renewal, Self.stripeMonthly) == .day(1, plus: 2000))
        #expect(end(.grace, monthly) == .day(1), "Apple's grace has a date of its own")
        #expect(end(.grace, Self.stripeMonthly) == .day(1, plus: 3000))
        #expect(end(.payment, Self.stripeMonthly) == .day(1))
        let window = AccessInterval(
            product: monthly,
            since: .day(1),
            until: .day(1),
            ground: .renewal,
            evidence: "e"
        )
        #expect(window.isExtendedByCatalog)
    }

    @Test("a lookup key of a product, of staff, of nobody")
    func lookupKeys() {
        let catalog = Shop.catalog
        #expect(catalog.lookupKeys(of: StoreProduct(.appStore, Shop.yearly)) == ["archive"])
        #expect(catalog.lookupKeys(of: StoreProduct(.stripe, "price_yearly")) == ["archive"])
        #expect(catalog.lookupKeys(of: StoreProduct(.stripe, Shop.yearly)) == [])
        #expect(catalog.lookupKeys(of: StoreProduct(.appStore, "price_yearly")) == [])
        #expect(catalog.lookupKeys(of: StoreProduct(.tollgate, "anything")) == ["anything"])
        #expect(catalog.lookupKeys(of: StoreProduct(catalogProduct: "reader")) == ["archive"])
        #expect(catalog.lookupKeys(of: StoreProduct(catalogProduct: "nothing")) == [])
        #expect(catalog.lookupKeys(of: StoreProduct(.stripe, "product:reader")) == [])
        #expect(catalog.product(StoreProduct(.appStore, Shop.yearly))?.id == "yearly")
        #expect(catalog.product(StoreProduct(.stripe, "price_yearly"))?.id == "yearly")
        #expect(catalog.product(StoreProduct(catalogProduct: "yearly"))?.id == "yearly")
        #expect(catalog.product(StoreProduct(.tollgate, "yearly")) == nil)
    }

    @Test("entries are in order of lookup key, then of start; each key has its answer")
    func order() {
        var catalog = Shop.catalog
        catalog.products[0].entitlements = ["pro", "archive"]
        let timeline = Timeline(
            [Self.span(5, 40, of: "b"), Self.span(0, 30, of: "a")],
            in: catalog
        )
        #expect(timeline.entries.map(\.lookupKey) == ["archive", "archive", "pro", "pro"])
        #expect(timeline.entries.map(\.since) == [.day(0), .day(5), .day(0), .day(5)])
        #expect(timeline.active(at: .day(1)).map(\.lookupKey) == ["archive", "pro"])
        #expect(timeline.active(at: .day(35)).map(\.purchase) == [.stripe("b"), .stripe("b")])
    }

    static func pass(
        _ day: Double,
        cut: Double? = nil,
        of purchase: String,
        days: Int? = 30,
        product: String = "pass"
    ) -> (Purchase.Key, PurchaseAccess) {
        let pass = Pass(
            product: StoreProduct(.appStore, "com.example.app.\(product)"),
            purchased: .day(day),
            duration: days.flatMap { CalendarDuration(days: $0) },
            cut: cut.map { .day($0) },
            evidence: purchase
        )
        return (.appStore(purchase), PurchaseAccess(passes: [pass]))
    }

    @Test("a pass begins when its predecessor ends, in order of purchase, then of key")
    func passes() {
        typealias Case = (
            passes: [(Purchase.Key, PurchaseAccess)], spans: [String: (Double, Double)]
        )
        let cases: [Case] = [
            ([Self.pass(0, of: "a"), Self.pass(30, of: "b")], ["a": (0, 30), "b": (30, 60)]),
            ([Self.pass(5, of: "a"), Self.pass(0, of: "b")], ["b": (0, 30), "a": (30, 60)]),
            ([Self.pass(0, of: "b"), Self.pass(0, of: "a")], ["a": (0, 30), "b": (30, 60)]),
            // A refund in the middle, and one before it began, which gives nothing.
            (
                [Self.pass(0, cut: 10, of: "a"), Self.pass(1, of: "b"), Self.pass(2, of: "c")],
                ["a": (0, 10), "b": (10, 40), "c": (40, 70)]
            ),
            (
                [Self.pass(0, of: "a"), Self.pass(1, cut: 2, of: "b"), Self.pass(3, of: "c")],
                ["a": (0, 30), "c": (30, 60)]
            ),
            ([Self.pass(0, cut: 99, of: "a")], ["a": (0, 30)]),
            // What was bought before a catalog knew it lasts as long as today's says.
            (
                [Self.pass(0, of: "a", days: nil), Self.pass(1, of: "b", days: 7)],
                ["a": (0, 30), "b": (30, 37)]
            ),
            ([Self.pass(0, of: "a", product: "unknown"), Self.pass(1, of: "b")], ["b": (1, 31)]),
        ]
        for (passes, spans) in cases {
            for order in permutations(passes) {
                let entries = Timeline(order, in: Shop.catalog).entries
                #expect(entries.count == spans.count)
                for entry in entries {
                    let span = spans[entry.evidence]
                    #expect(entry.since == span.map { .day($0.0) }, "\(entry.evidence)")
                    #expect(entry.until == span.map { .day($0.1) }, "\(entry.evidence)")
                }
            }
        }
    }

    @Test("two parts of one purchase are joined, each span and pass once")
    func merge() {
        var access = Self.span(0, 30).1
        access.merge(Self.span(0, 30).1)
        access.merge(Self.span(30, 60).1)
        access.merge(Self.pass(0, of: "a").1)
        access.merge(Self.pass(5, of: "b").1)
        access.merge(Self.pass(0, of: "a").1)
        #expect(access.intervals.map(\.since) == [.day(0), .day(30)])
        #expect(access.passes.map(\.evidence) == ["a", "b"])
    }

    @Test("of products too: what was reported as taken is one, what staff granted is none")
    func products() {
        let reader = StoreProduct(catalogProduct: "reader")
        let access = [
            Self.span(0, nil, .grant, of: "a", product: reader),
            Self.span(0, nil, .grant, of: "b", product: StoreProduct(.tollgate, "pro")),
            Self.span(0, 30, of: "c"), Self.pass(0, of: "d"),
        ]
        let timeline = Timeline(ofProducts: access, in: Shop.catalog)
        #expect(timeline.entries.map(\.lookupKey) == ["monthly", "pass", "reader"])
    }
}
