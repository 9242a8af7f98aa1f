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

    @Test("the same pass under two names of one customer counts once")
    func mergedPasses() {
        let world = World([.bought("n1", .nonRenewing, "pass", on: 0)])
        let access = world.evaluations()[0].shares[0].access
        var merged = access
        merged.merge(access)
        #expect(merged == access)
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
}
