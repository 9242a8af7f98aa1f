import Testing
import TollgateCore

@Suite("What stands in the way of buying")
struct ObstacleTests {
    static let catalog: Catalog = {
        var catalog = Shop.catalog
        for index in catalog.products.indices
        where ["monthly", "yearly"].contains(catalog.products[index].id) {
            catalog.products[index].subscriptionGroup = "pro"
        }
        return catalog
    }()

    private func obstacle(
        to product: String,
        in store: Store,
        after facts: [Fact],
        day: Double,
        _ catalog: Catalog = catalog
    ) throws -> ActiveEntitlement? {
        let access = World(facts).records.flatMap { record in
            record.evaluate(in: Shop.history(catalog)).shares.map { (record.key, $0.access) }
        }
        let active = Timeline(ofProducts: access, in: catalog).active(at: .day(day))
        let wanted = try #require(catalog.product(id: product))
        return catalog.obstacle(to: wanted, in: store, among: active)
    }

    @Test("a product that is there already, until it ends")
    func sameProduct() throws {
        let facts: [Fact] = [.bought("n1", .nonRenewing, "pass", on: 0)]
        #expect(try obstacle(to: "pass", in: .appStore, after: facts, day: 1)?.until == .day(30))
        #expect(try obstacle(to: "pass", in: .stripe, after: facts, day: 29) != nil)
        #expect(try obstacle(to: "pass", in: .stripe, after: facts, day: 30) == nil)
    }

    @Test("what is owned for ever has no end")
    func forEver() throws {
        let facts: [Fact] = [.bought("l1", .nonConsumable, "lifetime", on: 0)]
        let obstacle = try #require(
            try obstacle(to: "lifetime", in: .stripe, after: facts, day: 1)
        )
        #expect(obstacle.until == nil)
    }

    @Test(
        "another plan of the group, unless both are the App Store's, which changes one to the other"
    )
    func group() throws {
        let facts: [Fact] = [.paid("p1", 0, 30)]
        #expect(try obstacle(to: "yearly", in: .stripe, after: facts, day: 1) != nil)
        #expect(try obstacle(to: "yearly", in: .appStore, after: facts, day: 1) == nil)
        #expect(try obstacle(to: "monthly", in: .appStore, after: facts, day: 1) != nil)
        #expect(try obstacle(to: "lifetime", in: .stripe, after: facts, day: 1) == nil)
        let ofStripe: [Fact] = [.plan("active", 0, .item(0, 30, "price_monthly"))]
        for store in Store.selling {
            #expect(try obstacle(to: "yearly", in: store, after: ofStripe, day: 1) != nil)
        }
        let owned: [Fact] = [.bought("l1", .nonConsumable, "lifetime", on: 0)]
        #expect(try obstacle(to: "yearly", in: .stripe, after: owned, day: 1) == nil)
    }

    @Test("of several that stand in the way the first by its id is named")
    func several() throws {
        let facts: [Fact] = [.paid("p1", 0, 30), .plan("active", 0, .item(0, 365, "price_yearly"))]
        for product in ["monthly", "yearly"] {
            let obstacle = try obstacle(to: product, in: .stripe, after: facts, day: 1)
            #expect(obstacle?.lookupKey == "monthly")
        }
    }

    @Test("consumables are bought again and again, and so is what extends")
    func neverRefused() throws {
        var opening = Self.catalog
        for index in opening.products.indices where opening.products[index].id == "coins" {
            opening.products[index].entitlements = ["pro"]
        }
        let coins: [Fact] = [.checkout("complete", paid: true, 0)]
        #expect(try obstacle(to: "coins", in: .stripe, after: coins, day: 0, opening) == nil)
        var extending = Self.catalog
        for index in extending.products.indices where extending.products[index].id == "pass" {
            extending.products[index].whileActive = .extend
        }
        let pass: [Fact] = [.bought("n1", .nonRenewing, "pass", on: 0)]
        #expect(try obstacle(to: "pass", in: .stripe, after: pass, day: 1, extending) == nil)
    }

    @Test("an entitlement that staff granted is no product")
    func grant() throws {
        let grant = StaffGrant(
            customer: Customer.ID("ann"),
            lookupKey: "lifetime",
            since: .day(0),
            until: nil
        )
        let key = Purchase.Key(
            store: .tollgate,
            environment: .production,
            application: "-",
            id: "grant_1"
        )
        let facts: [Fact] = [.said(.grant(grant), on: 0, about: key)]
        #expect(try obstacle(to: "lifetime", in: .stripe, after: facts, day: 1) == nil)
    }
}
