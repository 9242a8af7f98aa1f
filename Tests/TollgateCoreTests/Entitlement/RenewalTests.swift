import Testing
import TollgateCore

/// What an entitlement says of the purchase behind it: whether it renews, and by which offer it runs.
@Suite("Renewal and offer of an entitlement")
struct RenewalTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let facts: [Fact]
        var day = 1.0
        var renews: Bool?
        var offer: OfferKind?
    }

    static let cases = [
        Case(testDescription: "terms", facts: [.paid("p1", 0, 30), .terms(0)], renews: true),
        Case(
            testDescription: "renewal turned off",
            facts: [.paid("p1", 0, 30), .terms(0, renews: false)],
            renews: false
        ),
        Case(testDescription: "no terms yet", facts: [.paid("p1", 0, 30)]),
        Case(
            testDescription: "an introductory price",
            facts: [.paid("p1", 0, 30, offer: 1), .terms(0)],
            renews: true,
            offer: .introductory
        ),
        Case(
            testDescription: "paid in full since",
            facts: [.paid("p1", 0, 30, offer: 1), .paid("p2", 30, 60), .terms(30)],
            day: 31,
            renews: true
        ),
        Case(
            testDescription: "a renewal is late",
            facts: [.paid("p1", 0, 30, offer: 4), .terms(0)],
            day: 30.01,
            renews: true,
            offer: .winBack
        ),
        Case(
            testDescription: "a failed payment decides",
            facts: [.paid("p1", 0, 30), .terms(30, grace: 46), .status(4, 30)],
            day: 31
        ),
        Case(
            testDescription: "bought for ever",
            facts: [.bought("l1", .nonConsumable, "lifetime", on: 0)]
        ),
        Case(
            testDescription: "a pass ends",
            facts: [.bought("n1", .nonRenewing, "pass", on: 0)],
            renews: false
        ),
        Case(
            testDescription: "active at Stripe",
            facts: [.subscription("active", 0, from: 0, to: 30)],
            renews: true
        ),
        Case(
            testDescription: "a trial at Stripe",
            facts: [.subscription("trialing", 0, from: 0, to: 30)],
            renews: true,
            offer: .trial
        ),
        Case(
            testDescription: "a trial at Stripe that ends",
            facts: [.subscription("trialing", 0, from: 0, to: 30, cancels: true)],
            renews: false,
            offer: .trial
        ),
        Case(
            testDescription: "charged again before the far end of a plan at Stripe",
            facts: [.subscription("active", 0, from: 0, to: 30, cancelAt: 75)],
            renews: true
        ),
        Case(
            testDescription: "ends within the period at Stripe",
            facts: [.subscription("active", 0, from: 0, to: 30, cancelAt: 20)],
            renews: false
        ),
        Case(
            testDescription: "what fails at Stripe is not the running period",
            facts: [
                .subscription("active", 0, from: 0, to: 30), .invoice("in_1", 0),
                .subscription("past_due", 5, from: 0, to: 30),
            ]
        ),
        Case(
            testDescription: "turned off, then bought again",
            facts: [
                .paid("p1", 0, 30), .terms(10, renews: false), .paid("p2", 60, 90),
            ],
            day: 61
        ),
    ]

    @Test("It follows from the facts", arguments: cases)
    func said(_ one: Case) {
        let active = World(one.facts).timeline().active(at: .day(one.day)).first
        #expect(active != nil)
        #expect(active?.willRenew == one.renews)
        #expect(active?.offer == one.offer)
    }

    @Test("While a payment fails at Google Play, the payment decides")
    func googlePlayGrace() {
        let facts: [Fact] = [
            .play("ACTIVE", 0, .item(to: 30)), .play("IN_GRACE_PERIOD", 30, .item(to: 33)),
        ]
        let active = World(facts).timeline().active(at: .day(31)).first
        #expect(active?.ground == .grace && active?.willRenew == nil)
    }

    @Test("Each product of a purchase renews or ends by itself")
    func products() {
        let yearly = StoreProduct(.stripe, "price_yearly")
        let access = PurchaseAccess(
            intervals: TimelineTests.span(0, 30).1.intervals
                + TimelineTests.span(30, 30, .renewal).1.intervals
                + TimelineTests.span(0, 40, product: yearly).1.intervals
        )
        let timeline = Timeline([(.stripe("a"), access)], in: Shop.catalog)
        let active = timeline.active(at: .day(1)).first
        #expect(active?.until == .day(40) && active?.willRenew == false)
    }

    @Test("It does not depend on the leeway of the catalog")
    func noLeeway() {
        var catalog = Shop.catalog
        catalog.renewalLeeway = .init(appStore: 0, stripe: 0)
        let facts: [Fact] = [.paid("p1", 0, 30), .terms(0)]
        let timeline = World(facts).timeline(Shop.history(catalog))
        #expect(timeline.active(at: .day(1)).first?.willRenew == true)
    }

    @Test("A grant says nothing, also where it ends")
    func grant() {
        let gift = TimelineTests.span(0, 30, .grant, product: StoreProduct(.tollgate, "pro"))
        let active = Timeline([gift], in: Shop.catalog).active(at: .day(1)).first
        #expect(active?.ground == .grant && active?.willRenew == nil)
    }

    @Test("Of a period and what follows it, the end that is told renews or not")
    func continued() {
        let renewing = (
            Purchase.Key.stripe("b"),
            PurchaseAccess(
                intervals: TimelineTests.span(30, 60).1.intervals
                    + TimelineTests.span(60, 60, .renewal).1.intervals
            )
        )
        let timeline = Timeline([TimelineTests.span(0, 30, of: "a"), renewing], in: Shop.catalog)
        let active = timeline.active(at: .day(1)).first
        #expect(active?.until == .day(60) && active?.willRenew == true)
    }
}
