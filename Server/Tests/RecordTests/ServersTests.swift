import Storage
import Testing
import TollgateCore
import TollgateSimulation

@Suite("Several servers on one database")
struct ServersTests {
    static func pair() async throws -> (RecordStore, RecordStore) {
        let database = try Backend.postgres.makeDatabase()
        return (try await .open(database), try await .open(database))
    }

    @Test("whatever meets, no share is lost and coins are credited once", arguments: UInt64(1)...3)
    func registrationsAndPurchases(seed: UInt64) async throws {
        let (one, two) = try await Self.pair()
        var random = SplitMix64(seed: seed)
        var items: [(first: JournalItem, second: JournalItem)] = []
        for customer in 0..<60 {
            let name = "\(customer)"
            let register = JournalItem.register(
                "c\(name)",
                .token(name),
                .stripeCustomer("cus_\(name)")
            )
            let month = JournalItem.message("m\(name)", .month(0, of: name, token: name))
            let checkout = JournalItem.message(
                "p\(name)",
                .checkout("pi_\(name)", customer: "cus_\(name)")
            )
            items += [(register, month), (month, checkout), (checkout, register)]
        }
        items.shuffle(using: &random)
        let first = items.map(\.first)
        let second = items.map(\.second)
        async let left = one.submitTogether(first)
        async let right = two.submitTogether(second)
        _ = try await (left, right)
        for customer in 0..<60 {
            #expect(try await one.balance("c\(customer)") == 110)
            #expect(try await two.active("c\(customer)", at: 10) == ["pro"])
        }
        #expect(try await one.rebuilt().differences.map(\.table) == [])
    }

    @Test("one purchase that many messages are about at once", arguments: UInt64(1)...2)
    func hotPurchase(seed: UInt64) async throws {
        let (one, two) = try await Self.pair()
        var random = SplitMix64(seed: seed)
        _ = try await one.submit(.register("ann", .token("a")))
        let items = (0..<100).map { number in
            JournalItem.message(
                "\(number)",
                .month(Double(number % 10) * 30, of: "1", token: "a", said: Double(number))
            )
        }
        let shuffled = (items.shuffled(using: &random), items.shuffled(using: &random))
        async let left = one.submitTogether(shuffled.0)
        async let right = two.submitTogether(shuffled.1)
        _ = try await (left, right)
        #expect(try await one.balance("ann") == 100)
        #expect(try await one.rebuilt().differences.map(\.table) == [])
    }

    /// A server of the earlier version was left running while another one brought the database up to date.
    @Test("a server writes nothing more once a later engine has derived the rows anew")
    func laterEngine() async throws {
        let (one, two) = try await Self.pair()
        _ = try await one.submit(.register("ann", .token("t")))
        func note(_ engine: Int64) async throws {
            try await two.driver.write { connection in
                try connection.execute(
                    "UPDATE meta SET value = $1 WHERE name = 'engine'",
                    [.blob(Array("\(engine)".utf8))]
                )
            }
        }
        try await note(engineVersion + 1)
        let bought = JournalItem.message("m", .bought("coins", .consumable, "1", token: "t"))
        let error = await #expect(throws: StorageError.self) { try await one.submit(bought) }
        #expect(error?.kind == .schema && "\(error, default: "")".contains("use a newer program"))
        #expect(try await one.balance("ann") == 0)
        try await note(engineVersion)
        _ = try await one.submit(bought)
        #expect(try await one.balance("ann") == 100)
    }

    @Test("spends under one key at both servers are one spend")
    func spends() async throws {
        let (one, two) = try await Self.pair()
        _ = try await one.submit(.register("ann", .stripeCustomer("cus_1")))
        _ = try await one.submit(.message("m", .checkout("pi_1", customer: "cus_1")))
        let items = (0..<40).map { JournalItem.spend("ann", 10, key: "\($0)") }
        async let left = one.submitTogether(items)
        async let right = two.submitTogether(items)
        let (first, second) = try await (left, right)
        #expect(
            SpendTests.decisions(first).map(\.decision)
                == SpendTests.decisions(second).map(\.decision)
        )
        #expect(SpendTests.decisions(first).filter(\.decision.isAccepted).count == 10)
        #expect(try await one.balance("ann") == 0)
        #expect(try await one.rebuilt().differences.map(\.table) == [])
    }

    @Test("what is of no consequence is journalled once, too")
    func withoutFacts() async throws {
        let (one, two) = try await Self.pair()
        let items = (0..<50).map { JournalItem.message("nothing \($0)") }
        async let left = one.submitTogether(items)
        async let right = two.submitTogether(items)
        let (first, second) = try await (left, right)
        let recorded = (first + second).filter { if case .recorded = $0 { true } else { false } }
        #expect(recorded.count == 50)
    }

    @Test("one name that two customers register at once is one customer's")
    func oneName() async throws {
        let (one, two) = try await Self.pair()
        let names = (0..<30).map { "\($0)" }
        async let left = one.submitTogether(names.map { .register("ann", .token($0)) })
        async let right = two.submitTogether(names.map { .register("bob", .token($0)) })
        _ = try await (left, right)
        _ = try await one.submitTogether(
            names.map { .message($0, .bought("coins", .consumable, $0, token: $0)) }
        )
        let sum = try await one.balance("ann") + one.balance("bob")
        #expect(sum == 3000)
        #expect(try await one.rebuilt().differences.map(\.table) == [])
    }

    @Test("a catalog that one server adopts reaches what the other takes in")
    func adoption() async throws {
        let (one, two) = try await Self.pair()
        _ = try await one.submit(.register("ann", .token("a")))
        async let adopted: Void = one.adopt(Shop.nextCatalog, at: .day(1))
        _ = try await two.submitTogether(
            (0..<50).map {
                .message("\($0)", .bought("novelty", .consumable, "\($0)", token: "a"))
            }
        )
        try await adopted
        _ = try await two.submit(
            .message("last", .bought("novelty", .consumable, "last", token: "a"))
        )
        #expect(try await two.balance("ann") == 51 * 7)
        #expect(two.history.current == Shop.nextCatalog)
        #expect(try await one.rebuilt().differences.map(\.table) == [])
    }
}
