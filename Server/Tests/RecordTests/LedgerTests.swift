import Storage
import Testing
import TollgateCore
import TollgateSimulation

/// What a batch writes, and what it leaves as it is.
@Suite("Ledger")
struct LedgerTests {
    private static func numbers(
        _ store: RecordStore,
        _ sql: String,
        _ parameters: [SQLValue] = []
    ) async throws -> [Int64] {
        try await store.driver.read { connection in
            try connection.query(sql, parameters).map { try $0.int64(0) }
        }
    }

    @Test("A spend's answer says what is left", arguments: Backend.allCases)
    func balances(_ backend: Backend) async throws {
        let store = try await RecordStore.open(backend)
        _ = try await store.submit(.register("ann", .token("a")))
        _ = try await store.submit(.message("m1", .month(0, of: "1", token: "a")))
        let outcomes = [
            try await store.submit(.spend("ann", 4, key: "k")),
            try await store.submit(.spend("ann", 7, key: "l")),
        ]
        #expect(SpendTests.decisions(outcomes).map(\.decision.balance) == [6, 6])
    }

    @Test(
        "Coins stay with who claimed them, though an earlier claim comes late",
        arguments: Backend.allCases
    )
    func lateClaim(_ backend: Backend) async throws {
        let store = try await RecordStore.open(backend)
        let key = Purchase.Key.appStore("1")
        _ = try await store.submit(.message("m1", .month(0, of: "1")))
        _ = try await store.submit(.message("c1", .claimed("ann", .purchased, 2, key)))
        _ = try await store.submit(.message("c2", .claimed("bob", .purchased, 1, key)))
        #expect(try await store.active("ann", at: 10) == [])
        #expect(try await store.active("bob", at: 10) == ["pro"])
        #expect(try await store.balance("ann") == 10)
        #expect(try await store.balance("bob") == 0)
    }

    @Test("What changes no answer is no news, and moves no coins", arguments: Backend.allCases)
    func noNews(_ backend: Backend) async throws {
        let store = try await RecordStore.open(backend)
        let ann = Customer.ID("ann")
        _ = try await store.submit(.message("m1", .month(0, of: "1")))
        let assigned = Fact.said(
            .assignment(Assignment(customer: ann)),
            on: 1,
            about: .appStore("1")
        )
        _ = try await store.submit(.message("s1", assigned))
        let before = try await store.reading(of: ann, in: .production)
        #expect(before.balance == 10)
        // The period is stated anew.
        _ = try await store.submit(.message("m2", .month(0, of: "1", said: 5)))
        let after = try await store.reading(of: ann, in: .production)
        #expect(after.sequence == before.sequence)
        #expect(try await store.transfers(of: ann, in: .production).count == 1)
    }

    @Test("Who was erased gets no news of what comes later", arguments: Backend.allCases)
    func erased(_ backend: Backend) async throws {
        let store = try await RecordStore.open(backend)
        _ = try await store.submit(.register("ann", .token("a")))
        _ = try await store.submit(.message("m1", .month(0, of: "1", token: "a")))
        let erasure = JournalItem(
            dedupeKey: RowKey("erase", "ann"),
            subject: RowKey("erase", "ann"),
            kind: .command,
            stated: .day(3),
            content: .erase(Customer.ID("ann"))
        )
        _ = try await store.submit(erasure)
        func sequence() async throws -> [Int64] {
            let row = RowKey(of: Customer.ID("ann")).inEnvironment(.production)
            let sql = "SELECT sequence FROM customer WHERE key = $1"
            return try await Self.numbers(store, sql, [row.value])
        }
        let before = try await sequence()
        #expect(before.count == 1)
        _ = try await store.submit(
            .message("m2", .bought("pass", .nonRenewing, "2", on: 5, token: "a"))
        )
        #expect(try await sequence() == before)
    }

    @Test(
        "A purchase is held by its owner and the names that it waits for",
        arguments: Backend.allCases
    )
    func holders(_ backend: Backend) async throws {
        let store = try await RecordStore.open(backend)
        func held() async throws -> [Int64] {
            try await Self.numbers(store, "SELECT count(*) FROM holding")
        }
        let checkout = Fact.checkout("pi_1", customer: "cus_1", reference: "user_1")
        _ = try await store.submit(.message("m1", checkout))
        // By both names.
        #expect(try await held() == [2])
        _ = try await store.submit(.register("ann", .reference("user_1")))
        // By ann, and still by the name that comes first.
        #expect(try await held() == [2])
        _ = try await store.submit(.register("ann", .stripeCustomer("cus_1"), number: 1))
        #expect(try await held() == [1])
        #expect(try await store.holds(Customer.ID("ann"), .payment("pi_1")))
    }

    @Test("A refund whose payment is not known is asked about", arguments: Backend.allCases)
    func questions(_ backend: Backend) async throws {
        let store = try await RecordStore.open(backend)
        _ = try await store.submit(.message("m1", .refund(500, of: "pi_1", "succeeded", on: 1)))
        let asked = try await store.questions.wanted(.payment, limit: 10)
        #expect(asked.map(\.object) == ["pi_1"])
        #expect(asked.map(\.purchase) == [.payment("pi_1")])
    }
}
