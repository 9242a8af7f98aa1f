import Foundation
import Storage
import Testing
import TollgateCore
import TollgateSimulation

/// D4: names that purchases bring after their holder was erased.
@Suite("Payers of who was erased")
struct ErasedPayerTests {
    private static func erase(_ customer: String) -> JournalItem {
        JournalItem(
            dedupeKey: RowKey("erase", customer),
            subject: RecordStore.subject(of: Customer.ID(customer)),
            kind: .command,
            stated: .day(10),
            content: .erase(Customer.ID(customer))
        )
    }

    /// The tables in which a name stands as it is.
    private static func tables(with name: String, _ store: RecordStore) async throws -> [String] {
        try await store.driver.read { connection in
            var found: [String] = []
            for (table, column) in [("journal", "facts"), ("purchase", "record")] {
                let rows = try connection.query("SELECT \(column) FROM \(table)")
                let isThere = try rows.contains { row in
                    let bytes = try PackedBytes.unpacked(row.bytes(0))
                    return String(decoding: bytes, as: UTF8.self).contains(name)
                }
                if isThere { found.append(table) }
            }
            return found
        }
    }

    private static func balances(_ store: RecordStore) async throws -> [String: Int64] {
        try await store.driver.read { connection in
            var found: [String: Int64] = [:]
            for (name, holder) in [
                ("ann", Holder.customer(Customer.ID("ann"))), ("new", .stripeCustomer("cus_new")),
                ("bob", .customer(Customer.ID("bob"))),
            ] {
                let rows = try connection.query(
                    "SELECT balance FROM customer WHERE key = $1",
                    [.blob(RowKey(holder).bytes)]
                )
                found[name] = try rows.first?.int64(0) ?? 0
            }
            return found
        }
    }

    @Test(
        "D4: Stripe's name of a payer that comes after the erasure is a name of the erased customer",
        arguments: Backend.allCases,
        [0, 1, 2]
    )
    func late(_ backend: Backend, order: Int) async throws {
        let store = try await RecordStore.open(backend)
        let known = JournalItem.message(
            "known",
            .checkout("pi_1", customer: nil, reference: "user_ann")
        )
        _ = try await store.submit(.register("ann", .reference("user_ann")))
        _ = try await store.submit(known)
        _ = try await store.submit(Self.erase("ann"))
        let names = JournalItem.message(
            "names",
            .checkout("pi_1", customer: "cus_new", on: 12, reference: "user_ann")
        )
        let others = [13.0, 14].map { day in
            JournalItem.message(
                "other \(day)",
                .checkout("pi_\(day)", customer: "cus_new", on: day, reference: "link \(day)")
            )
        }
        switch order {
        case 0: for item in [names] + others { _ = try await store.submit(item) }
        case 1: for item in [others[0], names, others[1]] { _ = try await store.submit(item) }
        default: try await store.submitTogether([others[0], names, others[1]])
        }
        #expect(try await Self.balances(store) == ["ann": 300, "new": 0, "bob": 0])
        for name in ["cus_new", "link "] {
            #expect(try await Self.tables(with: name, store) == [], "\(name)")
        }
        let report = try await store.rebuilt()
        #expect(report.isIdentical, "\(report.differences)")
    }

    @Test(
        "D4: what is found under such a name, and names somebody else too, replays as it came",
        arguments: Backend.allCases
    )
    func ofTwo(_ backend: Backend) async throws {
        let store = try await RecordStore.open(backend)
        _ = try await store.submit(.register("ann", .reference("user_ann")))
        _ = try await store.submit(.register("bob", .reference("user_bob")))
        _ = try await store.submit(
            .message("known", .checkout("pi_1", customer: nil, reference: "user_ann"))
        )
        _ = try await store.submit(Self.erase("ann"))
        _ = try await store.submit(
            .message("two", .checkout("pi_2", customer: "cus_new", on: 11, reference: "user_bob"))
        )
        _ = try await store.submit(
            .message("names", .checkout("pi_1", customer: "cus_new", on: 12, reference: "user_ann"))
        )
        // Coins that were bob's stay; his name stays too.
        #expect(try await Self.balances(store) == ["ann": 100, "new": 0, "bob": 100])
        #expect(try await Self.tables(with: "cus_new", store) == [])
        #expect(try await Self.tables(with: "user_bob", store) == ["journal", "purchase"])
        let report = try await store.rebuilt()
        #expect(report.isIdentical, "\(report.differences)")
    }

    @Test(
        "D4: names that nobody registered are hashed with the purchase, and lead where they led",
        arguments: Backend.allCases
    )
    func unregistered(_ backend: Backend) async throws {
        let store = try await RecordStore.open(backend)
        _ = try await store.submit(.register("ann", .stripeCustomer("cus_ann"), .token("token-a")))
        // A link that named the payer by another name of theirs; a later month of another's token.
        _ = try await store.submit(
            .message("link", .checkout("pi_1", customer: "cus_ann", reference: "ann@example.com"))
        )
        _ = try await store.submit(.message("month", .month(0, of: "1", token: "token-a")))
        _ = try await store.submit(.message("next", .month(30, of: "1", token: "token-b")))
        _ = try await store.submit(Self.erase("ann"))
        _ = try await store.submit(.message("third", .month(60, of: "1", token: "token-c")))
        for name in ["ann@example.com", "cus_ann", "token-a", "token-b", "token-c"] {
            #expect(try await Self.tables(with: name, store) == [], "\(name)")
        }
        let before = try await store.rebuilt()
        #expect(before.isIdentical, "\(before.differences)")
        // Whoever registers such a name has what is bought under it.
        _ = try await store.submit(.register("bob", .token("token-b"), .token("token-c")))
        #expect(try await store.active("bob", at: 45) == ["pro"])
        #expect(try await store.active("bob", at: 75) == ["pro"])
        #expect(try await Self.balances(store)["bob"] == 20)
        let after = try await store.rebuilt()
        #expect(after.isIdentical, "\(after.differences)")
    }

    /// A message with a body, as the server makes it ready: under a certificate chain, and with facts
    /// in the form in which they are kept.
    private static func signed(
        _ id: String,
        about key: Purchase.Key,
        _ facts: Fact...,
        person: String? = nil
    ) -> JournalItem {
        func encoded(_ text: String) -> String {
            Data(text.utf8).base64EncodedString().replacing("=", with: "")
        }
        let header = encoded(
            "{\"alg\":\"ES256\",\"x5c\":[\"\(String(repeating: "MIIE", count: 99))\"]}"
        )
        let payload = encoded("{\"notificationUUID\":\"\(id)\"}")
        var item = JournalItem.message(
            dedupeKey: RowKey("message", id),
            subject: facts.isEmpty ? RowKey("message", id) : RecordStore.subject(of: key),
            kind: .signed,
            stated: .day(20),
            facts: facts,
            received: Array("{\"signedPayload\":\"\(header).\(payload).\(encoded(id))\"}".utf8)
        )
        item.person = person.map { RowKey(Holder.stripeCustomer($0)) }
        return item
    }

    @Test(
        "D4: after an erasure messages of the customer leave no body, and others' do",
        arguments: Backend.allCases
    )
    func bodies(_ backend: Backend) async throws {
        let store = try await RecordStore.open(backend)
        func bodies() async throws -> Int64? {
            try await store.driver.read { connection in
                try connection.query(
                    "SELECT count(*) FROM journal WHERE body IS NOT NULL"
                ).first?.int64(0)
            }
        }
        func leavesBody(_ item: JournalItem) async throws -> Bool {
            let before = try await bodies()
            _ = try await store.submit(item)
            return try await bodies() != before
        }
        for name in ["ann", "bob"] {
            _ = try await store.submit(.register(name, .stripeCustomer("cus_\(name)")))
            let key = Purchase.Key.payment("pi_\(name)")
            let bought = Fact.checkout("pi_\(name)", customer: "cus_\(name)")
            #expect(try await leavesBody(Self.signed("bought \(name)", about: key, bought)))
            let nothing = Self.signed("nothing \(name)", about: key, person: "cus_\(name)")
            #expect(try await leavesBody(nothing))
        }
        let segments = try await store.driver.read { connection in
            try connection.query("SELECT count(*) FROM segment").first?.int64(0)
        }
        #expect(segments == 1, "the chain is kept once")
        _ = try await store.submit(Self.erase("ann"))
        #expect(try await bodies() == 2)
        for name in ["ann", "bob"] {
            let isBob = name == "bob"
            let key = Purchase.Key.payment("pi_\(name)")
            let again = Fact.checkout("pi_\(name)", customer: "cus_\(name)", on: 12)
            let refund = Fact.refund(500, of: "pi_\(name)", "succeeded", on: 13)
            #expect(try await leavesBody(Self.signed("again \(name)", about: key, again)) == isBob)
            #expect(
                try await leavesBody(Self.signed("refund \(name)", about: key, refund)) == isBob
            )
            let nothing = Self.signed("later \(name)", about: key, person: "cus_\(name)")
            #expect(try await leavesBody(nothing) == isBob)
        }
        #expect(try await Self.tables(with: "cus_ann", store) == [])
        #expect(try await Self.tables(with: "cus_bob", store) == ["journal", "purchase"])
        #expect(try await Self.balances(store) == ["ann": 50, "new": 0, "bob": 50])
        let report = try await store.rebuilt()
        #expect(report.isIdentical, "\(report.differences)")
    }

    @Test(
        "D4: somebody's token in what an erased customer had is theirs again after their own erasure",
        arguments: Backend.allCases
    )
    func anothers(_ backend: Backend) async throws {
        let store = try await RecordStore.open(backend)
        _ = try await store.submit(.register("ann", .token("token-a")))
        _ = try await store.submit(.message("month", .month(0, of: "1", token: "token-a")))
        _ = try await store.submit(.message("next", .month(30, of: "1", token: "token-b")))
        _ = try await store.submit(Self.erase("ann"))
        _ = try await store.submit(.register("bob", .token("token-b")))
        _ = try await store.submit(Self.erase("bob"))
        _ = try await store.submit(.message("again", .month(60, of: "1", token: "token-b")))
        #expect(try await Self.balances(store) == ["ann": 10, "new": 0, "bob": 20])
        let report = try await store.rebuilt()
        #expect(report.isIdentical, "\(report.differences)")
    }

    @Test(
        "D4: names that are found when erasures of earlier programs are completed replay as they came",
        arguments: Backend.allCases
    )
    func completed(_ backend: Backend) async throws {
        let store = try await RecordStore.open(backend)
        _ = try await store.submit(.register("ann", .reference("user_ann")))
        _ = try await store.submit(Self.erase("ann"))
        // An earlier program kept what came afterwards as it was.
        func mark(answer: [UInt8], profile: [UInt8]) async throws {
            try await store.driver.write { connection in
                let row = SQLValue.blob(RowKey(Holder.customer(Customer.ID("ann"))).bytes)
                try connection.execute(
                    "UPDATE customer SET answer = $2 WHERE key = $1",
                    [row, .blob(answer)]
                )
                try connection.execute("UPDATE profile SET body = $1", [.blob(profile)])
            }
        }
        try await mark(answer: [], profile: [1])
        for (id, customer, reference) in [
            ("pi_1", "cus_new", "user_ann"), ("pi_2", "cus_new", nil),
        ] as [(String, String, String?)] {
            _ = try await store.submit(
                .message(id, .checkout(id, customer: customer, on: 12, reference: reference))
            )
        }
        try await mark(answer: [0xF6], profile: [])
        try await store.driver.write { connection in
            _ = try connection.execute(
                "UPDATE meta SET name = 'erasures_complete' WHERE name = 'erasures_complete_3'"
            )
        }
        #expect(try await Self.tables(with: "cus_new", store) == ["journal", "purchase"])
        let next = try await RecordStore(store.driver)
        #expect(try await Self.tables(with: "cus_new", next) == [])
        #expect(try await Self.balances(next) == ["ann": 200, "new": 0, "bob": 0])
        let report = try await next.rebuilt()
        #expect(report.isIdentical, "\(report.differences)")
        // Once only.
        try await store.driver.write { connection in
            _ = try connection.execute(
                "DELETE FROM meta WHERE name = 'erasures_complete_3'"
            )
        }
        let again = try await RecordStore(store.driver).rebuilt()
        #expect(again.isIdentical, "\(again.differences)")
        #expect(again.replayed == report.replayed)
        // What is found when it is completed once more is journalled besides.
        try await mark(answer: [], profile: [1])
        _ = try await store.submit(
            .message("pi_3", .checkout("pi_3", customer: "cus_more", on: 14, reference: "user_ann"))
        )
        try await mark(answer: [0xF6], profile: [])
        try await store.driver.write { connection in
            _ = try connection.execute(
                "DELETE FROM meta WHERE name = 'erasures_complete_3'"
            )
        }
        let last = try await RecordStore(store.driver)
        #expect(try await Self.tables(with: "cus_more", last) == [])
        #expect(try await Self.balances(last)["ann"] == 300)
        let more = try await last.rebuilt()
        #expect(more.isIdentical, "\(more.differences)")
        #expect(more.replayed == report.replayed + 2)
    }

    @Test(
        "D4: the payer of what somebody else holds is not the erased customer whom it names",
        arguments: Backend.allCases,
        [false, true]
    )
    func assigned(_ backend: Backend, isErasedBefore: Bool) async throws {
        let store = try await RecordStore.open(backend)
        _ = try await store.submit(.register("ann", .reference("user_ann")))
        _ = try await store.submit(.register("bob", .reference("user_bob")))
        if isErasedBefore { _ = try await store.submit(Self.erase("ann")) }
        _ = try await store.submit(
            .message("known", .checkout("pi_1", customer: nil, reference: "user_ann"))
        )
        let bob = Assignment(customer: Customer.ID("bob"))
        _ = try await store.submit(
            .message("assigned", .said(.assignment(bob), on: 3, about: .payment("pi_1")))
        )
        if !isErasedBefore { _ = try await store.submit(Self.erase("ann")) }
        _ = try await store.submit(
            .message("names", .checkout("pi_1", customer: "cus_bob", on: 12, reference: "user_ann"))
        )
        _ = try await store.submit(
            .message("other", .checkout("pi_2", customer: "cus_bob", on: 13, reference: "link"))
        )
        #expect(try await Self.balances(store) == ["ann": 0, "new": 0, "bob": 100])
        _ = try await store.submit(.register("bob", .stripeCustomer("cus_bob")))
        #expect(try await Self.balances(store) == ["ann": 0, "new": 0, "bob": 200])
        let report = try await store.rebuilt()
        #expect(report.isIdentical, "\(report.differences)")
    }

    @Test(
        "A payer of an erased customer whom the database does not know is refused, and changes nothing",
        arguments: Backend.allCases
    )
    func unknownCustomer(_ backend: Backend) async throws {
        let store = try await RecordStore.open(backend)
        _ = try await store.submit(.register("ann", .reference("user_ann")))
        _ = try await store.submit(
            .message("known", .checkout("pi_1", customer: nil, reference: "user_ann"))
        )
        _ = try await store.submit(Self.erase("ann"))
        try await store.driver.write { connection in
            _ = try connection.execute("DELETE FROM profile")
        }
        let names = JournalItem.message(
            "names",
            .checkout("pi_1", customer: "cus_new", on: 12, reference: "user_ann")
        )
        await #expect(throws: StorageError.self) { _ = try await store.submit(names) }
        let count = try await store.driver.read { connection in
            try connection.query(
                "SELECT count(*) FROM alias WHERE key = $1",
                [.blob(RowKey(Holder.stripeCustomer("cus_new")).bytes)]
            ).first?.int64(0)
        }
        #expect(count == 0)
    }
}
