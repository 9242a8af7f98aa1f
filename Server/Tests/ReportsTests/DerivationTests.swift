import Foundation
import Reports
import Storage
import Testing
import TollgateAssembly
import TollgateCore
import TollgateService
import TollgateSimulation

@Suite("Figures in step with the journal")
struct DerivationTests {
    /// Messages about few purchases of few people, so that they meet.
    static func history(seed: UInt64, count: Int) -> [JournalItem] {
        var random = SplitMix64(seed: seed)
        func chance(_ limit: Int) -> Int { Int.random(in: 0..<limit, using: &random) }
        return (0..<count).map { number in
            let id = "\(chance(20))"
            let name = "\(chance(7))"
            switch chance(12) {
            case 0: return .register("c\(name)", .token(name), number: number)
            case 1: return .register("s\(name)", .stripeCustomer("cus_pi_\(name)"), number: number)
            case 2, 3, 4, 5:
                let index = chance(6)
                return .message(
                    number,
                    .period(
                        "\(id)-\(index)",
                        of: id,
                        from: Double(index * 30),
                        to: Double(index * 30 + 30),
                        product: chance(4) == 0 ? "app.yearly" : "app.monthly",
                        trial: index == 0 && chance(2) == 0,
                        revoked: chance(6) == 0 ? Double(index * 30 + chance(30)) : nil,
                        country: ["JPN", "USA", "DEU"][chance(3)],
                        token: chance(3) == 0 ? nil : name
                    )
                )
            case 6:
                return .message(number, .checkout("pi_\(name)", amount: 1_000, on: 5))
            case 7:
                return .message(
                    number,
                    .refund(
                        "re_\(number)",
                        of: "pi_\(name)",
                        amount: Int64(chance(700) + 1),
                        on: Double(chance(90) + 5)
                    )
                )
            case 8:
                let start = Double(chance(4) * 40)
                return .message(
                    number,
                    .invoice(
                        "in_\(chance(4))",
                        of: "sub_\(name)",
                        paid: start + Double(chance(20)),
                        amount: 999,
                        [.line("il_\(chance(4))", 999, from: start, to: start + 31)]
                    )
                )
            case 10:
                // Of few customers, so that they come back.
                let status = ["active", "past_due", "unpaid", "canceled"][chance(4)]
                return .message(
                    number,
                    .said(
                        .subscription(
                            StripeSubscription(
                                status: status,
                                customer: "cus_pi_\(chance(3))",
                                items: [],
                                endedAt: status == "canceled" ? .day(Double(chance(200))) : nil
                            )
                        ),
                        on: Double(chance(200)),
                        about: .stripe("sub_\(name)")
                    )
                )
            case 9:
                return .message(
                    number,
                    .said(
                        .status(SubscriptionStatus(value: Int64(chance(5) + 1))),
                        on: Double(chance(200)),
                        about: .appStore(id)
                    )
                )
            default: return .spend("c\(name)", Int64(chance(30) + 1), number: number)
            }
        }
    }

    /// Everything that is derived for reports.
    static func contents(_ store: RecordStore) async throws -> [String] {
        try await store.driver.read { connection in
            let figures = try connection.query(
                "SELECT subject, kind, number, environment, day, customer, body FROM figure ORDER BY subject, kind, number"
            )
            let rollups = try connection.query(
                """
                SELECT environment, measure, grain, day, store, product, country, currency, offer,
                app, detail, extra, items, units, amount FROM rollup
                """
            )
            return figures.map { "\($0.values)" } + rollups.map { "\($0.values)" }.sorted()
        }
    }

    @Test("who came back to Stripe has come back, whatever else they buy")
    func returns() async throws {
        func plan(_ id: String, _ status: String, ended: Double? = nil) -> Fact {
            let plan = StripeSubscription(
                status: status,
                customer: "cus_pi_1",
                items: [],
                endedAt: ended.map { .day($0) }
            )
            return .said(.subscription(plan), on: ended ?? 100, about: .stripe(id))
        }
        func invoice(_ id: String, of plan: String, on day: Double) -> Fact {
            let line = StripeInvoice.Line.line("il_\(id)", 999, from: day, to: day + 31)
            return .invoice(id, of: plan, paid: day, amount: 999, [line])
        }
        let facts: [Fact] = [
            plan("sub_1", "canceled", ended: 31), invoice("in_1", of: "sub_1", on: 0),
            plan("sub_2", "active"), invoice("in_2", of: "sub_2", on: 100),
            .checkout("pi_1", amount: 1_000, on: 110),
        ]
        var found: [[String]] = []
        for isFollowedAtOnce in [true, false] {
            let store = try await RecordStore(Backend.sqlite.makeDatabase().open())
            try await store.adopt(Shop.catalog, at: .day(-1000))
            let derivation = FigureDerivation(store, rows: Tollgate.storeRows)
            _ = try await store.submit(
                .register("s1", .stripeCustomer("cus_pi_1"), number: 0)
            )
            for (number, fact) in facts.enumerated() {
                _ = try await store.submit(.message(number + 1, fact))
                if isFollowedAtOnce { _ = try await derivation.follow(limit: 10, now: .day(0)) }
            }
            _ = try await derivation.follow(limit: 10, now: .day(0))
            found.append(try await Self.contents(store))
        }
        #expect(found[0] == found[1])
    }

    @Test(
        "followed in whatever steps, they are those of a full recomputation, and of a rebuild",
        arguments: Backend.allCases,
        UInt64(1)...3
    )
    func inStep(_ backend: Backend, seed: UInt64) async throws {
        let store = try await RecordStore(backend.makeDatabase().open())
        try await store.adopt(Shop.catalog, at: .day(-1000))
        let derivation = FigureDerivation(store, rows: Tollgate.storeRows)
        var random = SplitMix64(seed: seed)
        for (number, item) in Self.history(seed: seed, count: 260).enumerated() {
            _ = try await store.submit(item)
            if number == 150 {
                var next = Shop.catalog
                next.products.append(
                    .init(
                        id: "later",
                        name: "Later",
                        kind: .consumable,
                        appStoreProductID: "app.later",
                        coins: 1
                    )
                )
                try await store.adopt(next, at: .day(10))
            }
            if Int.random(in: 0..<6, using: &random) == 0 {
                _ = try await derivation.follow(
                    limit: Int64.random(in: 1...40, using: &random),
                    now: .day(0)
                )
            }
        }
        try await derivation.followToTheEnd(now: .day(0))
        #expect(try await FigureDerivation.lag(of: store) == 0)
        let followed = try await Self.contents(store)
        #expect(followed.count > 200)
        // A sum of months is the sum of its days.
        let sums = try await store.driver.read { connection in
            try connection.query(
                """
                SELECT measure, grain, CAST(sum(items) AS bigint), CAST(sum(units) AS bigint),
                CAST(sum(amount) AS bigint) FROM rollup GROUP BY measure, grain
                """
            ).map { row in try (0..<5).map { try row.int64($0) } }
        }
        func total(_ measure: Int64, _ grain: Int64) -> [Int64] {
            sums.first { $0[0] == measure && $0[1] == grain }.map { Array($0.dropFirst(2)) }
                ?? [0, 0, 0]
        }
        for measure in Reports.Measure.allCases.map(\.rawValue) {
            for grain in Rollup.Grain.allCases.map(\.rawValue) {
                #expect(total(measure, 0) == total(measure, grain), "\(measure), \(grain)")
            }
        }

        try await store.figures.dropAll()
        try await derivation.followToTheEnd(now: .day(0))
        #expect(try await Self.contents(store) == followed)

        let scratch = try Backend.sqlite.makeDatabase().open()
        let report = try await Rebuild(of: store.driver, into: scratch) { rebuilt in
            try await FigureDerivation(rebuilt, rows: Tollgate.storeRows).followToTheEnd(
                now: .day(0)
            )
        }.verify()
        #expect(report.isIdentical, "\(report.differences)")
        #expect(report.digests.map(\.table).suffix(2) == ["figure", "rollup"])
        await scratch.close()
        await store.driver.close()
    }

    @Test(
        "what was bought under a name counts for whoever registers it, though another restored it",
        arguments: Backend.allCases
    )
    func lateBuyer(_ backend: Backend) async throws {
        var catalog = Shop.catalog
        catalog.ownership = .transfer
        let store = try await RecordStore(backend.makeDatabase().open())
        try await store.adopt(catalog, at: .day(-1000))
        let derivation = FigureDerivation(store, rows: Tollgate.storeRows)
        let restored = Claim(customer: Customer.ID("bob"), mode: .restored)
        _ = try await store.submit(
            .message(1, .period("a", of: "1", from: 0, to: 30, token: "t"))
        )
        _ = try await store.submit(
            .message(2, .said(.claim(restored), on: 5, about: .appStore("1")))
        )
        try await derivation.followToTheEnd(now: .day(0))
        _ = try await store.submit(.register("cyd", .token("t"), number: 3))
        try await derivation.followToTheEnd(now: .day(0))
        let hers = try await store.driver.readNow(
            "SELECT 1 FROM figure WHERE customer = $1",
            [RecordStore.subject(of: Customer.ID("cyd")).value]
        )
        #expect(!hers.isEmpty)
        let followed = try await Self.contents(store)
        try await store.figures.dropAll()
        try await derivation.followToTheEnd(now: .day(0))
        #expect(try await Self.contents(store) == followed)
        await store.driver.close()
    }

    @Test(
        "who comes back to Stripe has returned, whichever subscription is known first, and whoever it is",
        arguments: Backend.allCases
    )
    func returning(_ backend: Backend) async throws {
        func message(_ number: Int, _ id: String, _ start: Double) -> [JournalItem] {
            let facts: [Fact] = [
                .invoice(
                    "in_\(id)",
                    of: id,
                    paid: start,
                    amount: 1000,
                    [.line("il_\(id)", 1000, from: start, to: start + 31, item: "si_\(id)")]
                ),
                .said(
                    .subscription(
                        StripeSubscription(
                            status: "canceled",
                            customer: "cus_1",
                            items: [],
                            endedAt: .day(start + 31)
                        )
                    ),
                    on: start + 31,
                    about: .stripe(id)
                ),
            ]
            return facts.enumerated().map { .message(number * 10 + $0.offset, $0.element) }
        }
        let items = message(1, "sub_1", 0) + message(2, "sub_2", 60)
        let register = JournalItem.register("ann", .stripeCustomer("cus_1"), number: 1)
        for order in [items + [register], [register] + items.reversed()] {
            let store = try await RecordStore(backend.makeDatabase().open())
            try await store.adopt(Shop.catalog, at: .day(-1000))
            let derivation = FigureDerivation(store, rows: Tollgate.storeRows)
            for item in order {
                _ = try await store.submit(item)
                try await derivation.followToTheEnd(now: .day(0))
            }
            let counts = try await store.driver.read { connection in
                try connection.query(
                    """
                    SELECT measure, day, items FROM rollup WHERE grain = 0
                    AND measure IN (10, 13, 14) ORDER BY measure, day
                    """
                ).map { row in try (0..<3).map { try row.int64($0) } }
            }
            let day = Reports.Day.story(0).number
            #expect(
                counts == [
                    [10, day, 1], [13, day + 31, -1], [13, day + 91, -1], [14, day + 60, 1],
                ]
            )
            let followed = try await Self.contents(store)
            try await store.figures.dropAll()
            try await derivation.followToTheEnd(now: .day(0))
            #expect(try await Self.contents(store) == followed)
            await store.driver.close()
        }
    }

    @Test(
        "figures follow a purchase that changes because another one continues it",
        arguments: Backend.allCases
    )
    func linked(_ backend: Backend) async throws {
        func claim(_ customer: String, _ purchase: String, on day: Double) -> Fact {
            let claim = Claim(customer: Customer.ID(customer), mode: .purchased)
            return .said(.claim(claim), on: day, about: .appStore(purchase))
        }
        try await Self.expectOneSubscription(
            on: 20,
            backend,
            [
                .period("a", of: "1", from: 0, to: 365, product: "app.yearly"),
                // A migration: what is said is about the purchase that goes on, and moves the other's end.
                .period("b", of: "2", from: 14, to: 365, price: 0, previous: "1"),
                .period("c", of: "3", from: 30, to: 60, previous: "2"),
                // Whose the first one is, the others are.
                claim("ann", "1", on: 40),
            ]
        )
    }

    @Test(
        "figures follow a purchase token that another token continues",
        arguments: Backend.allCases
    )
    func linkedTokens(_ backend: Backend) async throws {
        func key(_ token: String) -> Purchase.Key {
            .init(store: .googlePlay, environment: .production, application: "app", id: token)
        }
        func read(_ token: String, _ start: Double, of day: Double, linked: String? = nil) -> Fact {
            let item = GooglePlaySubscription.Item(
                product: "pro",
                basePlan: "monthly",
                expiry: .day(start + 30),
                order: "GPA.\(token)",
                renews: true
            )
            let stated = GooglePlaySubscription(
                state: "ACTIVE",
                start: .day(start),
                items: [item],
                linkedToken: linked
            )
            return .said(.googlePlaySubscription(stated), on: day, about: key(token))
        }
        func order(_ token: String, _ start: Double) -> Fact {
            let price = GooglePlayMoney(micros: 9_990_000, currency: "JPY")
            let order = GooglePlayOrder(
                id: "GPA.\(token)",
                state: "PROCESSED",
                created: .day(start),
                processed: .day(start),
                total: price,
                lines: [
                    .init(
                        product: "pro",
                        plan: "monthly",
                        listing: price,
                        total: price,
                        start: .day(start),
                        end: .day(start + 30)
                    )
                ],
                refunds: []
            )
            return .said(.googlePlayOrder(order), on: start, about: key(token))
        }
        let claim = Claim(customer: Customer.ID("ann"), mode: .purchased)
        let facts: [Fact] = [
            read("A", 0, of: 0), order("A", 0),
            // B continues A before anybody has read B, of which only C tells.
            read("C", 25, of: 25, linked: "B"), order("C", 25), order("B", 14),
            read("B", 14, of: 26, linked: "A"),
            .said(.claim(claim), on: 27, about: key("A")),
        ]
        try await Self.expectOneSubscription(on: 20, backend, facts)
        try await Self.expectOneSubscription(on: 26, backend, facts.reversed())
    }

    /// After each fact, figures that follow are those that are derived anew; in the end, one subscription
    /// runs on a day.
    private static func expectOneSubscription(
        on day: Int64,
        _ backend: Backend,
        _ facts: [Fact]
    ) async throws {
        let store = try await RecordStore(backend.makeDatabase().open())
        try await store.adopt(Shop.catalog, at: .day(-1000))
        let derivation = FigureDerivation(store, rows: Tollgate.storeRows)
        for (number, fact) in facts.enumerated() {
            _ = try await store.submit(.message(number, fact))
            try await derivation.followToTheEnd(now: .day(0))
            let followed = try await contents(store)
            try await store.figures.dropAll()
            try await derivation.followToTheEnd(now: .day(0))
            #expect(try await contents(store) == followed, "\(fact)")
        }
        let active = try await store.driver.readNow(
            "SELECT coalesce(sum(items), 0) FROM rollup WHERE grain = 0 AND day <= $1 AND measure IN (10, 11, 12, 13, 14)",
            [.integer(Reports.Day.story(day).number)]
        )
        #expect(try active.first?.int64(0) == 1, "one subscription, under several ids")
        await store.driver.close()
    }

    @Test("a figure that was tampered with is found", arguments: Backend.allCases)
    func tampered(_ backend: Backend) async throws {
        let store = try await RecordStore(backend.makeDatabase().open())
        try await store.adopt(Shop.catalog, at: .day(-1000))
        _ = try await store.submit(.message(1, .period("a", of: "1", from: 0, to: 30)))
        try await FigureDerivation(store, rows: Tollgate.storeRows).followToTheEnd(now: .day(0))
        try await store.driver.write { connection in
            _ = try connection.execute("UPDATE rollup SET amount = amount + 1 WHERE measure = 1")
        }
        let scratch = try Backend.sqlite.makeDatabase().open()
        let report = try await Rebuild(of: store.driver, into: scratch) { rebuilt in
            try await FigureDerivation(rebuilt, rows: Tollgate.storeRows).followToTheEnd(
                now: .day(0)
            )
        }.verify()
        #expect(report.differences.map(\.table) == ["rollup"])
        await scratch.close()
        await store.driver.close()
    }

    @Test(
        "who moves the figures second moves nothing, lease or no lease",
        arguments: Backend.allCases
    )
    func twoFollowers(_ backend: Backend) async throws {
        let store = try await RecordStore(backend.makeDatabase().open())
        try await store.adopt(Shop.catalog, at: .day(-1000))
        for number in 0..<60 {
            _ = try await store.submit(
                .message(number, .period("a\(number)", of: "\(number)", from: 0, to: 30))
            )
        }
        let derivation = FigureDerivation(store, rows: Tollgate.storeRows)
        try await derivation.followToTheEnd(now: .day(0))
        let alone = try await Self.contents(store)
        #expect(alone.count > 60)
        for round in 0..<6 {
            try await store.figures.dropAll()
            #expect(try await FigureDerivation.lag(of: store) > 0)
            try await withThrowingTaskGroup { group in
                for _ in 0..<4 {
                    group.addTask {
                        // In small steps, so that they meet at every one.
                        while try await !derivation.follow(limit: 7, now: .day(0)).isDone {}
                    }
                }
                // Somebody has a newer version of the figures and begins again.
                if round % 2 == 1 { group.addTask { try await store.figures.dropAll() } }
                try await group.waitForAll()
            }
            try await derivation.followToTheEnd(now: .day(0))
            #expect(try await Self.contents(store) == alone, "round \(round)")
        }
        await store.driver.close()
    }

    /// What `FigureDerivation` keeps of how far it is.
    private struct Place: Codable {
        var version: Int64
        var journal: Int64
        var sweep: String?
    }

    @Test(
        "beside a newer program an older one leaves its figures alone, and a newer one begins anew",
        arguments: Backend.allCases
    )
    func twoVersions(_ backend: Backend) async throws {
        let store = try await RecordStore(backend.makeDatabase().open())
        try await store.adopt(Shop.catalog, at: .day(-1000))
        _ = try await store.submit(.message(1, .period("a", of: "1", from: 0, to: 30)))
        let derivation = FigureDerivation(store, rows: Tollgate.storeRows)
        try await derivation.followToTheEnd(now: .day(0))
        let figures = try await Self.contents(store)
        func says(_ version: Int64) async throws {
            let place = Place(version: version, journal: 1, sweep: nil)
            let kept = try await store.figures.place()
            let bytes = try RecordEncoder.encodeCodable(place)
            #expect(
                try await store.figures.apply(FigureChange(), from: kept, to: bytes, now: .day(0))
            )
        }
        try await says(Reports.version + 1)
        let newer = try await store.figures.place()
        // The journal has the catalog and the purchase; the newer one has got to the first of these.
        #expect(try await FigureDerivation.lag(of: store) == 1)
        let step = try await derivation.follow(now: .day(0))
        #expect(step.isDone && step.purchases == 0)
        #expect(try await store.figures.place() == newer)
        #expect(try await Self.contents(store) == figures)

        try await says(Reports.version - 1)
        #expect(try await FigureDerivation.lag(of: store) > 0)
        #expect(try await !derivation.follow(now: .day(0)).isDone)
        // There is a place all the time, so that an older one does not begin in it.
        let begun = try RecordDecoder.decode(
            Place.self,
            from: try #require(try await store.figures.place())
        )
        #expect(begun.version == Reports.version && begun.journal == 0)
        try await derivation.followToTheEnd(now: .day(0))
        #expect(try await Self.contents(store) == figures)
        await store.driver.close()
    }

    @Test("a new catalog reaches old sales while new ones keep coming", arguments: Backend.allCases)
    func sweepBesideTraffic(_ backend: Backend) async throws {
        let store = try await RecordStore(backend.makeDatabase().open())
        try await store.adopt(Shop.catalog, at: .day(-1000))
        for number in 0..<30 {
            _ = try await store.submit(
                .message(number, .period("a\(number)", of: "\(number)", from: 0, to: 30))
            )
        }
        let derivation = FigureDerivation(store, rows: Tollgate.storeRows)
        try await derivation.followToTheEnd(now: .day(0))
        var next = Shop.catalog
        next.products[0].id = "renamed"
        try await store.adopt(next, at: .day(-999))
        func old() async throws -> Int64 {
            try await store.driver.read { connection in
                try connection.query(
                    "SELECT count(*) FROM rollup WHERE grain = 0 AND product = 'monthly'"
                ).first?.int64(0) ?? -1
            }
        }
        #expect(try await old() > 0)
        // Before every step somebody has bought something.
        for number in 100..<110 {
            _ = try await store.submit(
                .message(number, .period("a\(number)", of: "\(number)", from: 0, to: 30))
            )
            _ = try await derivation.follow(limit: 10, now: .day(0))
        }
        #expect(try await old() == 0)
        await store.driver.close()
    }

    @Test("a place that others have left is no place to go on from", arguments: Backend.allCases)
    func staleFollower(_ backend: Backend) async throws {
        let store = try await RecordStore(backend.makeDatabase().open())
        let empty = FigureChange()
        #expect(try await store.figures.place() == nil)
        #expect(try await store.figures.apply(empty, from: nil, to: [1], now: .day(0)))
        #expect(try await !store.figures.apply(empty, from: nil, to: [2], now: .day(0)))
        #expect(try await store.figures.place() == [1])
        #expect(try await store.figures.apply(empty, from: [1], to: [2], now: .day(0)))
        #expect(try await !store.figures.apply(empty, from: [1], to: [3], now: .day(0)))
        try await store.figures.dropAll()
        #expect(try await store.figures.place() == nil)
        #expect(try await !store.figures.apply(empty, from: [2], to: [3], now: .day(0)))
        #expect(try await store.figures.apply(empty, from: nil, to: [1], now: .day(0)))
        await store.driver.close()
    }
}

extension JournalItem {
    static func message(_ number: Int, _ fact: Fact) -> JournalItem {
        JournalItem(
            dedupeKey: RowKey("message", "\(number)"),
            subject: RecordStore.subject(of: fact.purchase),
            kind: .signed,
            stated: fact.stated.instant,
            content: .facts([fact]),
            received: Array("\(number)".utf8)
        )
    }

    fileprivate static func register(
        _ customer: String,
        _ alias: Holder,
        number: Int
    ) -> JournalItem {
        let id = Customer.ID(customer)
        return JournalItem(
            dedupeKey: RowKey("register", customer, "\(number)"),
            subject: RecordStore.subject(of: id),
            kind: .command,
            stated: .day(0),
            content: .register(Registration(customer: id, aliases: [alias], profile: [1]))
        )
    }

    fileprivate static func spend(_ customer: String, _ amount: Int64, number: Int) -> JournalItem {
        let id = Customer.ID(customer)
        return JournalItem(
            dedupeKey: RowKey("spend", customer, "\(number)"),
            subject: RecordStore.subject(of: id),
            kind: .command,
            stated: .day(50),
            content: .spend(
                SpendOrder(
                    customer: id,
                    environment: .production,
                    amount: amount,
                    bodyHash: RowKey("body")
                )
            )
        )
    }
}
