import Testing
import TollgateCore

@Suite("Ownership")
struct OwnershipTests {
    struct Case: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let policy: Catalog.Ownership
        let facts: [Fact]
        /// Who has access on which day.
        let holders: [Double: [Holder]]
        /// Whose the coins of each period are.
        var coins: [String: Holder] = [:]
    }

    static let ann = Holder.customer(Customer.ID("ann"))
    static let bob = Holder.customer(Customer.ID("bob"))
    static let tokenA = Holder.token("a")
    static let tokenB = Holder.token("b")
    static let nobody = Holder.unclaimed(.appStore())
    static let everybody = [ann, bob, tokenA, tokenB, nobody]

    static let cases = [
        Case(
            testDescription: "nobody's until somebody claims it",
            policy: .keep,
            facts: [.paid("p1", 0, 30)],
            holders: [1: [nobody]],
            coins: ["p1": nobody]
        ),
        Case(
            testDescription: "keep: the earliest claim",
            policy: .keep,
            facts: [
                .paid("p1", 0, 30), .claimed("bob", .restored, 5), .claimed("ann", .purchased, 1),
            ],
            holders: [1: [ann]],
            coins: ["p1": ann]
        ),
        Case(
            testDescription: "keep: the token before any claim",
            policy: .keep,
            facts: [.paid("p1", 0, 30, token: "a"), .claimed("bob", .restored, 5)],
            holders: [10: [tokenA]],
            coins: ["p1": tokenA]
        ),
        Case(
            testDescription: "who merely observed owns what nobody claims",
            policy: .keep,
            facts: [.paid("p1", 0, 30), .claimed("ann", .observed, 1)],
            holders: [1: [ann]]
        ),
        Case(
            testDescription: "a claim beats who merely observed earlier",
            policy: .keep,
            facts: [
                .paid("p1", 0, 30), .claimed("ann", .observed, 1), .claimed("bob", .restored, 5),
            ],
            holders: [10: [bob]]
        ),
        Case(
            testDescription: "transfer: the latest restore has the access, the buyer the coins",
            policy: .transfer,
            facts: [
                .paid("p1", 0, 30), .claimed("ann", .purchased, 0), .claimed("bob", .restored, 5),
                .claimed("ann", .observed, 9),
            ],
            holders: [10: [bob]],
            coins: ["p1": ann]
        ),
        Case(
            testDescription: "transfer: and back",
            policy: .transfer,
            facts: [
                .paid("p1", 0, 30, token: "a"), .claimed("bob", .restored, 5),
                .claimed("ann", .restored, 9),
            ],
            holders: [10: [ann]],
            coins: ["p1": tokenA]
        ),
        Case(
            testDescription: "share: everybody who presented it, and the token",
            policy: .share,
            facts: [
                .paid("p1", 0, 30, token: "a"), .claimed("bob", .restored, 5),
                .claimed("ann", .purchased, 9),
            ],
            holders: [10: [ann, bob, tokenA]],
            coins: ["p1": tokenA]
        ),
        Case(
            testDescription: "share: without a token the coins are the earliest claim's",
            policy: .share,
            facts: [
                .paid("p1", 0, 30), .claimed("bob", .restored, 5), .claimed("ann", .purchased, 9),
            ],
            holders: [10: [ann, bob]],
            coins: ["p1": bob]
        ),
        Case(
            testDescription: "another token opens an epoch; a missing one inherits",
            policy: .keep,
            facts: [
                .paid("p1", 0, 30, token: "a"), .paid("p2", 30, 60),
                .paid("p3", 60, 90, token: "b"),
                .paid("p4", 90, 120),
            ],
            holders: [1: [tokenA], 31: [tokenA], 61: [tokenB], 91: [tokenB]],
            coins: ["p1": tokenA, "p2": tokenA, "p3": tokenB, "p4": tokenB]
        ),
        Case(
            testDescription: "a first token does not take what was claimed before it",
            policy: .keep,
            facts: [
                .paid("p1", 0, 30), .claimed("ann", .purchased, 0),
                .paid("p2", 30, 60, token: "b"),
            ],
            holders: [1: [ann], 31: [tokenB]],
            coins: ["p1": ann, "p2": tokenB]
        ),
        Case(
            testDescription: "transfer: a restore does not take an epoch that began after it",
            policy: .transfer,
            facts: [
                .paid("p1", 0, 30, token: "a"), .claimed("ann", .restored, 5),
                .paid("p2", 30, 60, token: "b"),
            ],
            holders: [10: [ann], 31: [tokenB]]
        ),
        Case(
            testDescription: "keep: a token that comes back opens an epoch again",
            policy: .keep,
            facts: [
                .paid("p1", 0, 30, token: "a"), .paid("p2", 30, 60, token: "b"),
                .paid("p3", 60, 90, token: "a"),
            ],
            holders: [1: [tokenA], 31: [tokenB], 61: [tokenA]],
            coins: ["p1": tokenA, "p2": tokenB, "p3": tokenA]
        ),
        Case(
            testDescription: "keep: of two who claim at once the first by name",
            policy: .keep,
            facts: [
                .paid("p1", 0, 30), .claimed("bob", .purchased, 1), .claimed("ann", .purchased, 1),
            ],
            holders: [1: [ann]],
            coins: ["p1": ann]
        ),
        Case(
            testDescription: "keep: who claims again has claimed at first",
            policy: .keep,
            facts: [
                .paid("p1", 0, 30), .claimed("bob", .purchased, 9), .claimed("ann", .purchased, 5),
                .claimed("bob", .restored, 1),
            ],
            holders: [1: [bob]],
            coins: ["p1": bob]
        ),
        Case(
            testDescription: "transfer: who restores again has restored at last",
            policy: .transfer,
            facts: [
                .paid("p1", 0, 30), .claimed("bob", .restored, 1), .claimed("ann", .restored, 5),
                .claimed("bob", .restored, 9),
            ],
            holders: [1: [bob]],
            coins: ["p1": bob]
        ),
        Case(
            testDescription: "who observes again has observed at first",
            policy: .keep,
            facts: [
                .paid("p1", 0, 30), .claimed("bob", .observed, 9), .claimed("ann", .observed, 5),
                .claimed("bob", .observed, 1),
            ],
            holders: [1: [bob]]
        ),
        Case(
            testDescription: "transfer: of two restores at once the last by name",
            policy: .transfer,
            facts: [
                .paid("p1", 0, 30), .claimed("bob", .restored, 1), .claimed("ann", .restored, 1),
            ],
            holders: [1: [bob]],
            coins: ["p1": ann]
        ),
        Case(
            testDescription: "transfer: a restore takes all of the epoch in which it comes",
            policy: .transfer,
            facts: [
                .paid("p1", 0, 30, token: "a"), .paid("p2", 30, 60, token: "b"),
                .paid("p3", 60, 90), .claimed("ann", .restored, 35),
            ],
            holders: [10: [ann], 45: [ann], 65: [ann]],
            coins: ["p1": tokenA, "p2": tokenB, "p3": tokenB]
        ),
        Case(
            testDescription: "transfer: also one in the instant in which the epoch begins",
            policy: .transfer,
            facts: [
                .paid("p1", 0, 30, token: "a"), .paid("p2", 30, 60, token: "b"),
                .claimed("ann", .restored, 30),
            ],
            holders: [45: [ann]]
        ),
        Case(
            testDescription: "transfer: for the first epoch also one from before it began",
            policy: .transfer,
            facts: [.paid("p1", 0, 30), .paid("p2", 30, 60), .claimed("ann", .restored, -1)],
            holders: [10: [ann], 45: [ann]]
        ),
        Case(
            testDescription: "transfer: without a restore the token, without a token the claim",
            policy: .transfer,
            facts: [
                .paid("p1", 0, 30), .claimed("ann", .purchased, 1),
                .paid("p2", 30, 60, token: "b"),
            ],
            holders: [10: [ann], 45: [tokenB]]
        ),
        Case(
            testDescription: "share: who merely observed, as long as nobody claims",
            policy: .share,
            facts: [
                .paid("p1", 0, 30), .claimed("bob", .observed, 2), .claimed("ann", .observed, 1),
            ],
            holders: [10: [ann]]
        ),
        Case(
            testDescription: "share: nobody's",
            policy: .share,
            facts: [.paid("p1", 0, 30)],
            holders: [10: [nobody]]
        ),
        Case(
            testDescription: "staff's word comes first",
            policy: .share,
            facts: [
                .paid("p1", 0, 30, token: "a"), .claimed("bob", .restored, 5),
                .said(.assignment(Assignment(customer: Customer.ID("ann"))), on: 9),
            ],
            holders: [10: [ann]],
            coins: ["p1": ann]
        ),
    ]

    @Test("whose a purchase is follows the policy", arguments: cases)
    func ownership(_ story: Case) {
        var catalog = Shop.catalog
        catalog.ownership = story.policy
        let history = Shop.history(catalog)
        let world = World(story.facts)
        for (day, holders) in story.holders {
            for holder in Self.everybody {
                let isActive = !world.timeline(of: holder, history).active(at: .day(day)).isEmpty
                #expect(isActive == holders.contains(holder), "\(holder.canonical) on day \(day)")
            }
        }
        let lots = world.evaluations(history).flatMap(\.lots)
        for (period, holder) in story.coins {
            #expect(lots.first { $0.id == period }?.owner == [holder])
        }
    }

    @Test("order and repetition of arrival do not matter", arguments: cases)
    func convergence(_ story: Case) throws {
        try expectOrderDoesNotMatter(
            Story(testDescription: story.testDescription, facts: story.facts)
        )
    }

    @Test("a restore from before the first period is about the first epoch, all of it")
    func restoredBefore() {
        let purchase = Purchase(
            key: .appStore(),
            joining: [
                .claimed("ann", .restored, -5), .paid("p1", 0, 30, token: "a"), .paid("p2", 30, 60),
            ]
        )
        #expect(purchase.ownerToName(at: .day(40)) == Customer.ID("ann"))
    }

    @Test("what goes on past the newest period is of whose that is")
    func beyond() {
        let world = World([
            .paid("p1", 0, 30, token: "a"), .paid("p2", 30, 60, token: "b"), .terms(30),
        ])
        let due = Instant.day(60, plus: Instant.hour)
        #expect(world.timeline(of: Self.tokenB).ground(at: due) == .renewal)
        #expect(world.timeline(of: Self.tokenA).ground(at: due) == nil)
    }

    @Test("who restored it last is named to the App Store, until its token says another")
    func ownerToName() {
        let facts: [Fact] = [
            .paid("p1", 0, 30, token: "a"), .claimed("bob", .restored, 5),
            .claimed("ann", .restored, 9), .paid("p2", 30, 60, said: 29, token: "b"),
        ]
        let purchase = Purchase(key: .appStore(), joining: facts)
        #expect(purchase.ownerToName(at: .day(10)) == Customer.ID("ann"))
        #expect(purchase.ownerToName(at: .day(29)) == Customer.ID("ann"), "not begun yet")
        #expect(purchase.ownerToName(at: .day(31)) == nil)
        let assigned = Purchase(
            key: .appStore(),
            joining: facts + [
                .said(.assignment(Assignment(customer: Customer.ID("bob"))), on: 40)
            ]
        )
        #expect(assigned.ownerToName(at: .day(41)) == Customer.ID("bob"))
        #expect(Purchase(key: .appStore()).ownerToName(at: .day(1)) == nil)
    }

    @Test("before anything began the first epoch is asked about, then the one that runs")
    func ownerToNameOverTime() {
        let facts: [Fact] = [
            .paid("p1", 0, 30, token: "a"), .claimed("ann", .restored, -5),
            .claimed("bob", .restored, 10), .paid("p2", 30, 60, token: "b"), .paid("p3", 60, 90),
            .paid("p4", 90, 120, token: "a"),
        ]
        let purchase = Purchase(key: .appStore(), joining: facts)
        let bob = Customer.ID("bob")
        let expected = [-10: bob, 0: bob, 29: bob, 30: nil, 35: nil, 65: nil, 95: nil]
        for (day, customer) in expected {
            #expect(purchase.ownerToName(at: .day(Double(day))) == customer, "day \(day)")
        }
    }

    struct Repeated: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let facts: [Fact]
        let customer: String
        let mode: Claim.Mode
        let isKnown: Bool
        init(
            _ testDescription: String,
            _ facts: [Fact],
            _ customer: String,
            _ mode: Claim.Mode,
            isKnown: Bool
        ) {
            (self.testDescription, self.facts, self.isKnown) = (testDescription, facts, isKnown)
            (self.customer, self.mode) = (customer, mode)
        }
    }

    private static let bought = Fact.claimed("ann", .purchased, 1)
    private static let observed = Fact.claimed("ann", .observed, 1)
    private static let restored = Fact.claimed("ann", .restored, 5)

    static let repeated = [
        Repeated("the first claim", [], "ann", .purchased, isKnown: false),
        Repeated("observed again", [observed], "ann", .observed, isKnown: true),
        Repeated("observed by another", [observed], "bob", .observed, isKnown: false),
        Repeated("bought, after it was observed", [observed], "ann", .purchased, isKnown: false),
        Repeated("observed, after it was bought", [bought], "ann", .observed, isKnown: true),
        Repeated("bought again", [bought], "ann", .purchased, isKnown: true),
        Repeated("bought by another", [bought], "bob", .purchased, isKnown: false),
        Repeated("restored by who bought it", [bought], "ann", .restored, isKnown: false),
        Repeated("restored again", [restored], "ann", .restored, isKnown: true),
        Repeated("bought, after it was restored", [restored], "ann", .purchased, isKnown: true),
        Repeated(
            "restored again, after another bought it",
            [restored, .claimed("bob", .purchased, 7)],
            "ann",
            .restored,
            isKnown: true
        ),
        Repeated(
            "restored again, after another restored it",
            [restored, .claimed("bob", .restored, 7)],
            "ann",
            .restored,
            isKnown: false
        ),
        Repeated(
            "restored again, after another restored it in the same instant",
            [restored, .claimed("bob", .restored, 5)],
            "ann",
            .restored,
            isKnown: false
        ),
        Repeated(
            "restored again by the last of several",
            [restored, .claimed("bob", .restored, 7)],
            "bob",
            .restored,
            isKnown: true
        ),
        Repeated(
            "restored again, after another token began",
            [restored, .paid("p2", 30, 60, token: "b")],
            "ann",
            .restored,
            isKnown: false
        ),
        Repeated(
            "restored again, since another token began",
            [.claimed("ann", .restored, 30), .paid("p2", 30, 60, token: "b")],
            "ann",
            .restored,
            isKnown: true
        ),
    ]

    @Test("a claim is known where it would change nothing", arguments: repeated)
    func known(_ story: Repeated) {
        let claim = Claim(customer: Customer.ID(story.customer), mode: story.mode)
        let before = Purchase(
            key: .appStore(),
            joining: [.paid("p1", 0, 30, token: "a")] + story.facts
        )
        #expect(before.knows(claim) == story.isKnown)
        guard story.isKnown else { return }
        var after = before
        after.join(.claimed(story.customer, story.mode, 40))
        for policy in Catalog.Ownership.allCases {
            var catalog = Shop.catalog
            catalog.ownership = policy
            let history = Shop.history(catalog)
            #expect(after.evaluate(in: history) == before.evaluate(in: history))
        }
    }

    @Test("a policy is that of the day on which the epoch began")
    func policyOfTheDay() {
        var (keep, transfer) = (Shop.catalog, Shop.catalog)
        (keep.ownership, transfer.ownership) = (.keep, .transfer)
        let history = CatalogHistory([
            .init(id: "1", adopted: .day(-10), catalog: keep),
            .init(id: "2", adopted: .day(20), catalog: transfer),
        ])
        let world = World([
            .paid("p1", 0, 30, token: "a"), .paid("p2", 30, 60), .claimed("ann", .restored, 35),
            .paid("p3", 60, 90, token: "b"), .claimed("bob", .restored, 65),
        ])
        #expect(!world.timeline(of: Self.tokenA, history).active(at: .day(40)).isEmpty)
        #expect(!world.timeline(of: Self.bob, history).active(at: .day(70)).isEmpty)
        #expect(world.timeline(of: Self.ann, history).entries.isEmpty)
    }

    static let names: [(fact: Fact, names: [Holder])] = [
        (.paid("p1", 0, 30), []), (.paid("p1", 0, 30, token: "a"), [tokenA]),
        (.terms(0), []), (.status(1, 0), []), (.invoice("in_1", 0), []),
        (.refund("re_1", 1, "pending", 0), []), (.dispute("dp_1", 1, "lost", 0), []),
        (.subscription("active", 0, from: 0, to: 30), [.stripeCustomer("cus_1")]),
        (.checkout("open", paid: false, 0), [.stripeCustomer("cus_1"), .reference("user_1")]),
        (
            .said(.buyer(StripeBuyer(reference: "user_1")), on: 0, about: .stripe("sub_1")),
            [.reference("user_1")]
        ),
        (.claimed("ann", .observed, 0), [ann]), (.reader(false, 0), [ann]),
        (.reader(true, 0, .appStore("r1")), [ann]),
        (.said(.assignment(Assignment(customer: Customer.ID("ann"))), on: 0), [ann]),
        (ExplanationTests.granted, [ann]), (ExplanationTests.coins(5), [ann]),
    ]

    @Test("everybody whom a fact may make a holder is named by it, and by its record")
    func namedByFacts() {
        for (fact, names) in Self.names {
            #expect(fact.names == names, "\(fact.kind)")
            #expect(Purchase(key: fact.purchase, joining: [fact]).names == names, "\(fact.kind)")
        }
    }

    @Test("nobody holds a part whom the record does not name", arguments: 1...40)
    func holdersAreNamed(seed: Int) {
        var random = Seeded(UInt64(seed))
        let facts = LawTests.history(&random, count: 40)
        for policy in Catalog.Ownership.allCases {
            var catalog = Shop.catalog
            catalog.ownership = policy
            for record in World(facts).records {
                let evaluation = record.evaluate(in: Shop.history(catalog))
                let holders = evaluation.shares.flatMap(\.owner) + evaluation.lots.flatMap(\.owner)
                let names = record.names + [.unclaimed(record.key)]
                #expect(Set(holders).isSubset(of: names))
            }
        }
    }

    @Test("a grant is its customer's, for as long as it says")
    func grant() {
        let key = Purchase.Key(
            store: .tollgate,
            environment: .production,
            application: "-",
            id: "grant_1"
        )
        let grant = StaffGrant(
            customer: Customer.ID("ann"),
            lookupKey: "pro",
            since: .day(0),
            until: .day(7)
        )
        let world = World([.said(.grant(grant), on: 0, about: key)])
        #expect(world.timeline(of: Self.ann).ground(at: .day(6)) == .grant)
        #expect(world.timeline(of: Self.ann).ground(at: .day(7)) == nil)
        #expect(world.timeline(of: Self.bob).entries.isEmpty)
    }

    @Test(
        "a holder's text is read back",
        arguments: everybody + [
            .stripeCustomer("cus:1"), .reference(""), .token(":"),
            .unclaimed(
                Purchase.Key(store: .stripe, environment: .sandbox, application: "", id: "")
            ),
        ]
    )
    func text(_ holder: Holder) {
        #expect(Holder(canonical: holder.canonical) == holder)
    }
}
