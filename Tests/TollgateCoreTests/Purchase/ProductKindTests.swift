import Testing
import TollgateCore

/// What each of Apple's product types gives; docs/products.md, RULES §2.8, §7.
@Suite("Kinds of products of the App Store")
struct ProductKindTests {
    private static func access(_ fact: Fact, _ history: CatalogHistory) -> PurchaseAccess {
        World([fact]).evaluations(history)[0].shares[0].access
    }

    @Test("a consumable gives no access, whether the store or the catalog says what it is")
    func consumables() {
        for kind in [Period.Kind.consumable, .unstated] {
            let bought = Fact.bought("c1", kind, "coins", on: 0)
            #expect(Self.access(bought, Shop.history) == PurchaseAccess())
        }
    }

    @Test("what was bought before any catalog knew it grants under the one that does")
    func unknown() {
        let nothing = Shop.history(Catalog())
        func ground(_ fact: Fact) -> Ground? {
            let access = Self.access(fact, nothing)
            return Timeline([(fact.purchase, access)], in: Shop.catalog).ground(at: .day(1))
        }
        #expect(ground(.paid("p1", 0, 30)) == .payment)
        #expect(ground(.bought("l1", .nonConsumable, "lifetime", on: 0)) == .payment)
        #expect(ground(.bought("n1", .nonRenewing, "pass", on: 0)) == .payment)
        let coins = Fact.bought("c1", .consumable, "coins", on: 0)
        #expect(Self.access(coins, nothing) == PurchaseAccess())
        let unstated = Fact.bought("u1", .unstated, "lifetime", on: 0)
        #expect(Self.access(unstated, nothing) == PurchaseAccess())
    }

    static let stories = [
        Story(
            testDescription:
                "what the store calls a non-consumable is for ever, a plan's name or not",
            facts: [.bought("m1", .nonConsumable, "monthly", on: 0)],
            expected: [.on(400, .payment)]
        ),
        Story(
            testDescription: "and is ended by no report about a free subscription",
            facts: [
                .bought("r1", .nonConsumable, "reader", on: 0), .reader(false, 10, .appStore("r1")),
            ],
            expected: [.archive(20, .payment)]
        ),
        Story(
            testDescription: "where a receipt does not say, the catalog's kind decides",
            facts: [.bought("l1", .unstated, "lifetime", on: 0)],
            expected: [.on(400, .payment)]
        ),
        Story(
            testDescription: "a plan without expiry lasts for its duration, or to its cancellation",
            facts: [
                .bought("m1", .unstated, "monthly", on: 0),
                .bought("m2", .unstated, "monthly", on: 100, said: 110, revoked: 105),
            ],
            expected: [.on(30, .payment), .off(31), .on(104, .payment), .off(105)]
        ),
        Story(
            testDescription: "what expires in the store expires, though the catalog calls it free",
            facts: [
                .paid("p1", 0, 30, "com.example.app.reader"), .reader(false, 10, .appStore()),
            ],
            expected: [.archive(29, .payment), .archive(31, nil)]
        ),
    ]

    @Test("the store's kind decides, else the catalog's", arguments: stories)
    func kinds(_ story: Story) { expect(story) }
}
