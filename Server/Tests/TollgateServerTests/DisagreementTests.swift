import AppStoreSimulator
import SandboxClock
import Storage
import Testing
import TollgateAPI
import TollgateCore
import TollgateService
import TollgateSimulation

/// What is asked of the App Store where its statements disagree (RULES §2.1, §2.10).
@Suite("Statements that disagree")
struct DisagreementTests {
    @Test(
        "An upgrade whose notice was lost is asked for once the old plan says it was upgraded",
        arguments: Backend.allCases
    )
    func upgrade(_ backend: Backend) async throws {
        try await AppStoreWorld.run(on: backend) { world in
            let ann = try await world.customer("ann")
            let bought = try await world.appStore.buy(AppStoreWorld.weekly, customer: ann.buyer)
            await world.pass(days: 1)
            try await world.unannounced {
                _ = try await world.appStore.changePlan(
                    bought.originalTransactionID,
                    to: AppStoreWorld.yearly
                )
            }
            await world.pass(days: 1)
            #expect(try await world.count("wanted") == 0)
            try await world.show(bought.transactionID, .observed, by: ann.id)
            #expect(try await world.count("wanted") == 1)
            await world.tollgate.fetchWanted()
            #expect(try await world.count("wanted") == 0)
            await world.pass(days: 100)
            #expect(try await world.isEntitled(ann.id))
            #expect(try await world.isRebuilt())
        }
    }

    @Test(
        "A transaction signed without its revocation counts at once, and the store is asked",
        arguments: Backend.allCases
    )
    func reversal(_ backend: Backend) async throws {
        try await AppStoreWorld.run(on: backend) { world in
            let ann = try await world.customer("ann")
            let bought = try await world.appStore.buy(AppStoreWorld.yearly, customer: ann.buyer)
            await world.pass(days: 1)
            try await world.appStore.refund(bought.transactionID)
            #expect(try await !world.isEntitled(ann.id))
            await world.pass(days: 1)
            try await world.unannounced {
                try await world.appStore.reverseRefund(bought.transactionID)
            }
            await world.pass(days: 1)
            #expect(try await !world.isEntitled(ann.id))
            try await world.show(bought.transactionID, .observed, by: ann.id)
            #expect(try await world.isEntitled(ann.id))
            #expect(try await world.count("wanted") == 1)
            await world.tollgate.fetchWanted()
            #expect(try await world.count("wanted") == 0)
            // Another look at the same raises no other question.
            try await world.show(bought.transactionID, .observed, by: ann.id)
            #expect(try await world.count("wanted") == 0)
            #expect(try await world.isEntitled(ann.id))
            #expect(try await world.isRebuilt())
        }
    }
}

/// Whose a purchase is that continues another one (RULES §8).
@Suite("Purchases that continue one another")
struct SuccessionTests {
    private static func key(_ id: String) -> Purchase.Key {
        Purchase.Key(
            store: .appStore,
            environment: .sandbox,
            application: TestServer.bundleID,
            id: id
        )
    }

    @Test(
        "A bundle without a token is the plan's customer's, and follows later claims and decisions",
        arguments: Backend.allCases
    )
    func claims(_ backend: Backend) async throws {
        try await AppStoreWorld.run(on: backend) { world in
            let store = world.tollgate.store
            var catalog = store.history.current
            catalog.ownership = .transfer
            try await store.adopt(catalog, at: Instant(milliseconds: await world.clock.now))
            await world.pass(days: 1)
            let ann = try await world.customer("ann")
            let bob = try await world.customer("bob")
            let cyd = try await world.customer("cyd")
            let buyer = try await world.appStore.createCustomer().id
            let plan = try await world.appStore.buy(AppStoreWorld.yearly, customer: buyer)
            try await world.show(plan.transactionID, .purchased, by: ann.id)
            await world.pass(days: 10)
            let bundle = try await world.appStore.switchToBundle(plan.originalTransactionID)
            #expect(try await world.isEntitled(ann.id))
            await world.pass(days: 1)
            try await world.show(plan.transactionID, .restored, by: bob.id)
            #expect(try await world.isEntitled(bob.id))
            #expect(try await !world.isEntitled(ann.id))
            await world.pass(days: 1)
            _ = try await world.tollgate.purchases.assign(
                API.PurchaseAssignment(
                    purchase: Self.key(plan.originalTransactionID).canonical,
                    customer: nil
                ),
                to: cyd.id
            )
            #expect(try await world.isEntitled(cyd.id))
            #expect(try await !world.isEntitled(bob.id))
            let record = try await store.record(of: Self.key(bundle.originalTransactionID))
            #expect(record?.predecessors?.map(\.id) == [plan.originalTransactionID])
            #expect(try await world.isRebuilt())
        }
    }

    @Test(
        "A plan that nobody has heard of is asked for, and its token makes the bundle somebody's",
        arguments: Backend.allCases
    )
    func unknownPlan(_ backend: Backend) async throws {
        try await AppStoreWorld.run(on: backend) { world in
            let ann = try await world.customer("ann")
            var bundle = ""
            try await world.unannounced {
                let plan = try await world.appStore.buy(AppStoreWorld.weekly, customer: ann.buyer)
                await world.pass(days: 1)
                bundle =
                    try await world.appStore.switchToBundle(plan.originalTransactionID)
                    .originalTransactionID
            }
            // Its first renewal is the first that anybody hears.
            await world.pass(days: 8)
            #expect(try await !world.isEntitled(ann.id))
            #expect(try await world.count("wanted") == 1)
            await world.tollgate.fetchWanted()
            #expect(try await world.isEntitled(ann.id))
            // An answer's transactions are journalled side by side; where the bundle's comes before
            // the plan's, it asks once more.
            await world.tollgate.fetchWanted()
            #expect(try await world.count("wanted") == 0)
            let record = try await world.tollgate.store.record(of: Self.key(bundle))
            #expect(record?.predecessors?.compactMap(\.token).count == 1)
            #expect(try await world.isRebuilt())
        }
    }

    @Test("Claims made before the bundle is known, or while it is, make one record")
    func orders() async throws {
        func record(claimFirst: Bool) async throws -> Purchase? {
            let bundle = Fact(
                purchase: Self.key("2"),
                source: "m2",
                stated: Stated(Instant(milliseconds: 2)),
                statement: .period(Self.period("b", 2, previous: "1"))
            )
            let plan = [
                Fact(
                    purchase: Self.key("1"),
                    source: "m1",
                    stated: Stated(Instant(milliseconds: 1)),
                    statement: .period(Self.period("p", 1))
                ),
                Fact(
                    purchase: Self.key("1"),
                    source: "claim:ann",
                    stated: Stated(Instant(milliseconds: 5)),
                    statement: .claim(Claim(customer: Customer.ID("ann"), mode: .purchased))
                ),
            ]
            let store = try await RecordStore(try await Backend.sqlite.open())
            for facts in claimFirst ? [plan, [bundle]] : [[bundle], plan] {
                let key = facts[0].purchase
                _ = try await store.submit(
                    JournalItem(
                        dedupeKey: RowKey("test", facts[0].source),
                        subject: RecordStore.subject(of: key),
                        kind: .signed,
                        stated: facts[0].stated.instant,
                        content: .facts(facts)
                    )
                )
            }
            return try await store.record(of: Self.key("2"))
        }
        let first = try await record(claimFirst: true)
        #expect(first?.claims.map(\.customer.rawValue) == ["ann"])
        #expect(try await record(claimFirst: false) == first)
    }

    private static func period(_ id: String, _ start: Int64, previous: String? = nil) -> Period {
        Period(
            id: id,
            transactionID: id,
            product: AppStoreWorld.weekly,
            kind: .autoRenewable,
            start: Instant(milliseconds: start),
            end: Instant(milliseconds: start + 1000),
            previous: previous
        )
    }
}
