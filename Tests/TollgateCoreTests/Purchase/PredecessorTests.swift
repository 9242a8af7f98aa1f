import Testing
import TollgateCore

/// Whose a purchase is that continues another one (RULES §8).
@Suite("Purchases that continue one another")
struct PredecessorTests {
    static let plan = Purchase.Key.appStore("1")
    static let bundle = Purchase.Key.appStore("2")

    /// A period of the plan until a switch on day 10.
    static func plan(token: String? = nil) -> Purchase {
        Purchase(
            key: plan,
            joining: [
                .paid("p1", 0, 30, said: 10, revoked: 10, token: token, switched: true),
                .status(5, 10),
            ]
        )
    }

    static func about(_ key: Purchase.Key, _ fact: Fact) -> Fact {
        var fact = fact
        fact.purchase = key
        return fact
    }

    static let bundleFacts: [Fact] = [
        about(bundle, .paid("b1", 10, 40, previous: "1")),
        about(bundle, .paid("b2", 40, 70)),
    ]

    private static func owners(
        _ purchase: Purchase,
        _ policy: Catalog.Ownership = .keep
    ) -> [HolderNames] {
        var catalog = Shop.catalog
        catalog.ownership = policy
        return purchase.evaluate(in: Shop.history(catalog)).shares.map(\.owner)
    }

    /// The bundle after it took over from the plan.
    private static func followed(_ plan: Purchase) -> Purchase {
        var bundle = Purchase(key: bundle, joining: bundleFacts)
        bundle.follow(plan)
        return bundle
    }

    @Test("what continues nothing known is nobody's")
    func alone() {
        let bundle = Purchase(key: Self.bundle, joining: Self.bundleFacts)
        #expect(bundle.predecessors?.map(\.id) == ["1"])
        #expect(Self.owners(bundle) == [[.unclaimed(Self.bundle)]])
        #expect(Self.owners(Self.followed(Purchase(key: Self.plan))) == Self.owners(bundle))
    }

    @Test("what does not continue a purchase takes over no claims of it")
    func noPredecessor() {
        var plan = Self.plan()
        plan.join(.claimed("ann", .purchased, 1))
        var other = Purchase(
            key: Self.bundle,
            joining: [Self.about(Self.bundle, .paid("b", 0, 30))]
        )
        other.follow(plan)
        #expect(Self.owners(other) == [[.unclaimed(Self.bundle)]])
    }

    @Test("claims follow, by every policy and with their times")
    func claims() {
        var plan = Self.plan()
        plan.join(.claimed("ann", .purchased, 1))
        #expect(Self.owners(Self.followed(plan)) == [[OwnershipTests.ann]])
        #expect(
            Self.followed(plan).evaluate(in: Shop.history).lots.map(\.owner).allSatisfy {
                $0 == [OwnershipTests.ann]
            }
        )
        plan.join(.claimed("bob", .restored, 20))
        #expect(Self.owners(Self.followed(plan), .keep) == [[OwnershipTests.ann]])
        #expect(Self.owners(Self.followed(plan), .transfer) == [[OwnershipTests.bob]])
        #expect(
            Self.owners(Self.followed(plan), .share) == [
                [OwnershipTests.ann], [OwnershipTests.bob],
            ]
        )
    }

    @Test("what staff decided follows, and a later word about either counts")
    func assignment() {
        func assigned(_ customer: String, _ day: Double, _ key: Purchase.Key) -> Fact {
            .said(
                .assignment(Assignment(customer: Customer.ID(customer))),
                on: day,
                about: key
            )
        }
        var plan = Self.plan(token: "a")
        plan.join(assigned("bob", 5, Self.plan))
        #expect(Self.owners(Self.followed(plan)) == [[OwnershipTests.bob]])
        var bundle = Self.followed(plan)
        bundle.join(assigned("ann", 12, Self.bundle))
        bundle.follow(plan)
        #expect(Self.owners(bundle) == [[OwnershipTests.ann]])
        #expect(Self.owners(plan) == [[OwnershipTests.bob]], "nothing goes back")
    }

    @Test("a missing token inherits the one that held when the purchase began to continue")
    func token() {
        var plan = Self.plan(token: "a")
        plan.join(.paid("p2", 60, 90, token: "b"))
        let bundle = Self.followed(plan)
        #expect(Self.owners(bundle) == [[OwnershipTests.tokenA]])
        #expect(bundle.names.contains(OwnershipTests.tokenA))
        var own = bundle
        own.join(Self.about(Self.bundle, .paid("b1", 10, 40, said: 11, token: "b", previous: "1")))
        #expect(Self.owners(own) == [[OwnershipTests.tokenB]])
    }

    @Test("of several tokens that of the epoch that ran then, from its first instant")
    func tokens() {
        func owners(_ facts: [Fact]) -> [HolderNames] {
            Self.owners(Self.followed(Purchase(key: Self.plan, joining: facts)))
        }
        let before = Fact.paid("p0", -30, 0, token: "a")
        #expect(owners([before, .paid("p1", 0, 30, token: "b")]) == [[OwnershipTests.tokenB]])
        #expect(owners([before, .paid("p1", 10, 40, token: "b")]) == [[OwnershipTests.tokenB]])
        #expect(owners([before, .paid("p1", 11, 41, token: "b")]) == [[OwnershipTests.tokenA]])
    }

    @Test("who switches back takes over from the bundle, which took over from the plan")
    func circle() {
        var plan = Self.plan(token: "a")
        var bundle = Self.followed(plan)
        plan.join(.paid("p3", 40, 70, previous: "2"))
        for _ in 0..<3 {
            plan.follow(bundle)
            bundle.follow(plan)
        }
        #expect(Self.owners(plan) == [[OwnershipTests.tokenA]])
        #expect(Self.owners(bundle) == [[OwnershipTests.tokenA]])
        #expect(plan.predecessors?.map(\.token) == ["a"])
    }

    @Test("the order in which they hear of each other does not matter")
    func order() {
        let claims: [Fact] = [
            .claimed("ann", .purchased, 1), .claimed("bob", .restored, 20),
            .claimed("cyd", .observed, 0),
        ]
        var told = Self.plan(token: "a")
        for claim in claims { told.join(claim) }
        let expected = Self.followed(told)
        for order in permutations(claims) {
            var plan = Purchase(key: Self.plan)
            var bundle = Purchase(key: Self.bundle)
            for fact in Self.bundleFacts.reversed() {
                bundle.join(fact)
                bundle.follow(plan)
            }
            for claim in order {
                plan.join(claim)
                bundle.follow(plan)
            }
            for period in [Fact.paid("p1", 0, 30, token: "a"), .status(5, 10)] {
                plan.join(period)
                bundle.follow(plan)
            }
            #expect(bundle == expected)
        }
    }

    @Test("it continues the other one since the first period that names it")
    func since() {
        let facts = [
            Self.about(Self.bundle, .paid("b1", 10, 40, previous: "1")),
            Self.about(Self.bundle, .paid("b2", 40, 70, previous: "1")),
        ]
        for facts in permutations(facts) {
            let bundle = Purchase(key: Self.bundle, joining: facts)
            #expect(bundle.predecessors?.map(\.since) == [.day(10)])
        }
    }

    @Test(
        "what took a purchase's place ends it, though nobody heard of its end",
        arguments: [
            ([.paid("p1", 0, 30), .status(1, 1, reaching: 60), .terms(1)], 10, 10),
            ([.paid("p1", 0, 30), .status(1, 1, reaching: 60), .terms(1)], 30, 30),
            // Back from the bundle.
            ([.paid("p1", 0, 30), .paid("p2", 30, 60)], 10, 60),
            ([.paid("p1", 0, 30), .paid("p2", 10, 40)], 10, 40),
            ([.paid("p1", 0, 30), .paid("p2", 31, 61)], 61, 61),
            ([.paid("p1", 0, 30), .paid("p1", 0, 30, said: 8, upgraded: true)], 10, 8),
        ] as [([Fact], Double, Double)]
    )
    func replaced(_ facts: [Fact], since: Double, end: Double) {
        var plan = Purchase(key: Self.plan, joining: facts.map { Self.about(Self.plan, $0) })
        plan.isContinued(by: Successor(id: "2", since: .day(since)))
        let access = plan.evaluate(in: Shop.history).shares.flatMap(\.access.intervals)
        #expect(access.compactMap(\.until).max() == .day(end))
        #expect(plan.evaluate(in: Shop.history).wanted.isEmpty)
    }

    @Test("a purchase knows by whom it is continued, once")
    func successors() {
        var plan = Self.plan()
        for (id, day) in [("3", 20.0), ("2", 10), ("3", 15), ("3", 17)] {
            plan.isContinued(by: Successor(id: id, since: .day(day)))
        }
        #expect(plan.successors?.map(\.id) == ["2", "3"])
        #expect(plan.successors?.map(\.since) == [.day(10), .day(15)])
        #expect(
            Purchase(key: Self.plan, joining: [.paid("p1", 0, 30, previous: "1")])
                .predecessors == nil,
            "not by itself"
        )
    }
}
