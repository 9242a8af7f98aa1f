import Testing
import TollgateCore

/// Whose a purchase in Google Play is, over a chain of tokens (RULES §18.3).
@Suite("Owners in Google Play")
struct GooglePlayOwnerTests {
    private static let first = Fact.play("ACTIVE", 0, .item(to: 30), account: "a")
    private static let second = Fact.play(
        "ACTIVE",
        10,
        from: 10,
        .item(to: 40, order: "GPA.2"),
        token: "B",
        linked: "A"
    )

    /// Who has access by the last token.
    private static func owners(
        _ facts: [Fact],
        _ policy: Catalog.Ownership = .keep,
        of token: String = "B"
    ) throws -> [HolderNames] {
        var catalog = Shop.catalog
        catalog.ownership = policy
        var owners: [[HolderNames]] = []
        for order in permutations(facts) {
            let record = World(order).records.first { $0.key == .play(token) }
            owners.append(
                try #require(record).evaluate(in: Shop.history(catalog)).shares.map(\.owner)
            )
        }
        #expect(Set(owners).count == 1, "in every order")
        return owners[0]
    }

    @Test("the account id names the owner, and without one the earliest claim")
    func account() throws {
        #expect(try Self.owners([Self.first], of: "A") == [[OwnershipTests.tokenA]])
        let unnamed = Fact.play("ACTIVE", 0, .item(to: 30))
        #expect(try Self.owners([unnamed], of: "A") == [[.unclaimed(.play("A"))]])
        let claims: [Fact] = [
            .claimed("bob", .purchased, 2, .play("A")), .claimed("ann", .purchased, 1, .play("A")),
        ]
        #expect(try Self.owners([unnamed] + claims, of: "A") == [[OwnershipTests.ann]])
    }

    @Test("what was bought once has owners, too")
    func boughtOnce() throws {
        let named = Fact.bought("PURCHASED", 0, .init(product: "coins"), account: "a")
        #expect(try Self.owners([named], of: "P") == [[OwnershipTests.tokenA]])
        let unnamed = Fact.bought("PURCHASED", 0, .init(product: "coins"))
        let claim = Fact.claimed("ann", .purchased, 1, .play("P"))
        #expect(try Self.owners([unnamed, claim], of: "P") == [[OwnershipTests.ann]])
        let lots = World([unnamed, claim]).evaluations().flatMap(\.lots)
        #expect(lots.map(\.owner) == [[OwnershipTests.ann]])
    }

    @Test("G6: a token that replaces a customer's is theirs, whoever posts it")
    func chain() throws {
        let post = Fact.claimed("bob", .purchased, 11, .play("B"))
        #expect(try Self.owners([Self.first, Self.second, post]) == [[OwnershipTests.tokenA]])
        let unnamed = Fact.play("ACTIVE", 0, .item(to: 30))
        let claim = Fact.claimed("ann", .purchased, 1, .play("A"))
        #expect(try Self.owners([unnamed, claim, Self.second, post]) == [[OwnershipTests.ann]])
    }

    @Test("G6: by the policy of the house, a restore of either token counts for the last one")
    func policies() throws {
        let restore = Fact.claimed("bob", .restored, 5, .play("A"))
        let facts = [Self.first, Self.second, restore]
        #expect(try Self.owners(facts, .keep) == [[OwnershipTests.tokenA]])
        #expect(try Self.owners(facts, .transfer) == [[OwnershipTests.bob]])
        #expect(
            try Self.owners(facts, .share) == [[OwnershipTests.tokenA], [OwnershipTests.bob]]
        )
    }

    @Test("the first account that is named is no other buyer: an earlier restore is about it")
    func firstAccount() throws {
        let facts: [Fact] = [
            .play("ACTIVE", 0, .item(to: 30)), .claimed("bob", .restored, 5, .play("A")),
            .play(
                "ACTIVE",
                10,
                from: 10,
                .item(to: 40, order: "GPA.2"),
                token: "B",
                linked: "A",
                account: "a"
            ),
        ]
        #expect(try Self.owners(facts, .transfer) == [[OwnershipTests.bob]])
    }

    @Test("a purchase takes over nothing from one that it does not continue")
    func stranger() {
        let claims = [
            Purchase.Key.play("A"), .appStore("1"),
        ].map { Purchase(key: $0, joining: [.claimed("bob", .restored, 5, $0)]) }
        for key in [Purchase.Key.play("B"), .appStore("2"), .stripe("sub_1")] {
            for claim in claims {
                var purchase = Purchase(key: key)
                purchase.follow(claim)
                #expect(purchase == Purchase(key: key))
            }
        }
    }

    @Test("what one store alone states is empty in another store's purchases")
    func otherStores() {
        let period = Period(
            id: "p1",
            transactionID: "t1",
            product: Shop.monthly,
            kind: .autoRenewable,
            start: .day(0)
        )
        for purchase in [Purchase(key: .play("A")), Purchase(key: .free("ann"))] {
            #expect(!purchase.isContested)
            #expect(!purchase.isSubscriptionContested)
            #expect(!purchase.repeats(period))
        }
    }

    @Test("a restore from before another buyer's token is not about it")
    func otherBuyer() throws {
        let other = Fact.play(
            "ACTIVE",
            10,
            from: 10,
            .item(to: 40, order: "GPA.2"),
            token: "B",
            linked: "A",
            account: "b"
        )
        let before = Fact.claimed("ann", .restored, 5, .play("A"))
        #expect(
            try Self.owners([Self.first, other, before], .transfer) == [[OwnershipTests.tokenB]]
        )
        let after = Fact.claimed("ann", .restored, 15, .play("B"))
        #expect(try Self.owners([Self.first, other, after], .transfer) == [[OwnershipTests.ann]])
        // So it is news, though nobody else has restored.
        func knows(_ facts: [Fact]) -> Bool? {
            let record = World(facts).records.first { $0.key == .play("B") }
            return record?.knows(Claim(customer: Customer.ID("ann"), mode: .restored))
        }
        #expect(knows([Self.first, other, before]) == false)
        #expect(knows([Self.first, other, before, after]) == true)
        #expect(knows([Self.first, Self.second, before]) == true)
    }

    @Test("a restore from before another buyer's token is not about those that follow it either")
    func otherBuyerBefore() throws {
        func token(_ id: String, _ linked: String, _ day: Double, _ account: String?) -> Fact {
            .play(
                "ACTIVE",
                day,
                from: day,
                .item(to: day + 30, order: "GPA.\(id)"),
                token: id,
                linked: linked,
                account: account
            )
        }
        let before = Fact.claimed("ann", .restored, 5, .play("A"))
        for account in ["b", nil] {
            let facts = [
                Self.first, before, token("B", "A", 10, "b"), token("C", "B", 20, account),
            ]
            let owners = try Self.owners(facts, .transfer, of: "C")
            #expect(owners == [[OwnershipTests.tokenB]])
        }
    }

    @Test("a replacement that states no start has the old one's owner")
    func noStart() throws {
        let deferred = Fact.play(
            "ACTIVE",
            10,
            from: nil,
            .item(to: 30, renews: false, then: "premium_basic"),
            token: "B",
            linked: "A"
        )
        #expect(try Self.owners([Self.first, deferred]) == [[OwnershipTests.tokenA]])
    }

    @Test("G24: subscribed again in Google Play: the account of the expired purchase")
    func again() throws {
        let stated = Fact.play(
            "ACTIVE",
            50,
            from: 50,
            .item(to: 80, order: "GPA.2"),
            token: "B",
            again: .init(token: "A", account: "a")
        )
        #expect(try Self.owners([stated]) == [[OwnershipTests.tokenA]])
        // The acknowledgement ends the statement.
        let acknowledged = Fact.play(
            "ACTIVE",
            51,
            from: 50,
            .item(to: 80, order: "GPA.2"),
            token: "B"
        )
        #expect(try Self.owners([stated, acknowledged]) == [[OwnershipTests.tokenA]])
    }

    @Test("G24: subscribed again in Google Play: whoever has the expired token")
    func againByToken() throws {
        let stated = Fact.play(
            "ACTIVE",
            50,
            from: 50,
            .item(to: 80, order: "GPA.2"),
            token: "B",
            again: .init(token: "A", account: nil)
        )
        #expect(try Self.owners([Self.first, stated]) == [[OwnershipTests.tokenA]])
        let unnamed = Fact.play("EXPIRED", 30, .item(to: 30))
        let claim = Fact.claimed("ann", .purchased, 1, .play("A"))
        #expect(try Self.owners([unnamed, claim, stated]) == [[OwnershipTests.ann]])
    }

    @Test("an account that a later read leaves out stays")
    func keptAccount() throws {
        let silent = Fact.play("ACTIVE", 5, .item(to: 30))
        #expect(try Self.owners([Self.first, silent], of: "A") == [[OwnershipTests.tokenA]])
    }

    @Test("of a chain of which only the last is known, the one before is asked for")
    func wanted() throws {
        let world = World([Self.second])
        let missing = try #require(world.records.first { $0.key == .play("A") })
        let question = Wanted(kind: .googlePlaySubscription, object: "A")
        #expect(missing.wanted(knownBy: "B") == question)
        let known = World([Self.second, Self.first]).records.first { $0.key == .play("A") }
        #expect(known?.wanted(knownBy: "B") == nil)
        let gone = World([Self.second, .unreadable(11)]).records.first { $0.key == .play("A") }
        #expect(gone?.wanted(knownBy: "B") == nil)
    }

    @Test("two reads of one second that differ are read again")
    func contested() {
        let facts: [Fact] = [
            .play("ACTIVE", 10, .item(to: 30)), .play("ACTIVE", 10, .item(to: 60)),
        ]
        func wanted(_ facts: [Fact]) -> [Wanted] { World(facts).evaluations().flatMap(\.wanted) }
        let question = Wanted(kind: .googlePlaySubscription, object: "A")
        #expect(wanted(facts) == [question])
        #expect(wanted([facts[0], facts[0]]) == [])
        #expect(wanted(facts + [.play("ACTIVE", 11, .item(to: 60))]) == [])
        let bought: [Fact] = [
            .bought("PENDING", 1, at: nil, .init(product: "coins")),
            .bought("PURCHASED", 1, .init(product: "coins")),
        ]
        #expect(wanted(bought) == [Wanted(kind: .googlePlayPurchase, object: "P")])
    }
}
