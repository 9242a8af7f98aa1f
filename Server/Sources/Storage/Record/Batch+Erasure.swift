internal import TollgateCore

// Forgetting a customer: their names leave facts and records, and everything that was said of them
// leaves the tables. What was paid and spent stays in the books (RULES §11).

extension RowKey {
    /// Purchases that name a customer who does not hold them are found under this key.
    ///
    /// - Parameter row: the customer's, in one environment.
    init(namedBy row: RowKey) { self.init("named", row.hex) }
}

extension Batch {
    /// The customer's row in each environment.
    func rows(of customer: Customer.ID) -> [RowKey] {
        StoreEnvironment.allCases.map { RowKey(Holder.customer(customer)).inEnvironment($0) }
    }

    /// Whether somebody who was erased holds the purchase.
    func isHeldByErased(_ subject: RowKey) -> Bool {
        purchases[subject]?.posting.rows.contains { customers[$0]?.isErased == true } ?? false
    }

    /// The erased customer who holds the purchase; `nil` where somebody else holds a part of it, since
    /// its payer may be them.
    func erasedHolder(of subject: RowKey) -> RowKey? {
        guard let state = purchases[subject], let holder = state.posting.rows.first,
            state.posting.rows.allSatisfy({ customers[$0]?.isErased == true })
        else { return nil }
        // Applied twice, the environment's mark is gone again.
        return holder.inEnvironment(state.record.key.environment)
    }

    /// Whether facts about a purchase concern somebody who was erased: who holds it, or whom the facts
    /// name.
    private func concernErased(_ facts: [Fact], _ subject: RowKey) -> Bool {
        let environment = facts.first?.purchase.environment ?? .production
        return isHeldByErased(subject)
            || facts.lazy.flatMap(\.names).contains { name in
                guard let key = name.aliasKey, let customer = aliases[key] ?? nil else {
                    return false
                }
                return customers[customer.inEnvironment(environment)]?.isErased == true
            }
    }

    /// Replaces erased customers' names, and unregistered names in their purchases, by hashes.
    ///
    /// A hash leads to the same row as the name. A name that somebody else registered stays. A replay
    /// finds the facts as they were kept.
    ///
    /// - Returns: the facts, and Stripe's customer ids in them that nobody registered: they become the
    ///   erased customer's if nobody else holds a part of the purchase.
    func withoutErased(
        _ facts: [Fact],
        of subject: RowKey
    ) throws -> (facts: [Fact], payers: [RowKey]) {
        guard !isReplay, concernErased(facts, subject) else { return (facts, []) }
        let environment = facts.first?.purchase.environment ?? .production
        let renaming = Renaming { name in
            guard let key = name.aliasKey else { return nil }
            guard let known = aliases[key] ?? nil else { return key.hex }
            return customers[known.inEnvironment(environment)]?.isErased == true ? key.hex : nil
        }
        return (
            try facts.map { try $0.renamed(renaming) },
            unregistered(facts.flatMap(\.payers))
        )
    }

    private func unregistered(_ names: [Holder]) -> [RowKey] {
        Set(names.compactMap(\.aliasKey)).filter { (aliases[$0] ?? nil) == nil }.sorted()
    }

    /// Makes ids of Stripe's names of an erased customer, so that what comes later under them is known
    /// to be of somebody who was erased.
    ///
    /// It is journalled as a registration behind the item, and replayed as one.
    ///
    /// - Throws: `.corrupt` where the database does not know the customer.
    mutating func register(payers: [RowKey], of customer: RowKey, _ index: Int) throws {
        guard !payers.isEmpty else { return }
        let id = try id(of: customer)
        try lockPurchases(under: payers)
        for payer in payers {
            aliases[payer] = .some(customer)
            newAliases.append((payer, customer))
        }
        for payer in payers {
            for environment in StoreEnvironment.allCases {
                try evaluateFound(under: payer.inEnvironment(environment), index)
            }
        }
        registeredPayers[index] = (id, payers)
        try renameRecords(of: id, index)
    }

    /// The id of the customer under this key, from this batch or the database.
    private func id(of customer: RowKey) throws -> Customer.ID {
        for item in items {
            switch item.content {
            case .register(let registration)
            where RowKey(Holder.customer(registration.customer)) == customer:
                return registration.customer
            case .erase(let id) where RowKey(Holder.customer(id)) == customer: return id
            default: continue
            }
        }
        let rows = try connection.query(
            "SELECT id FROM profile WHERE customer = $1",
            [customer.value]
        )
        guard let id = try rows.first?.text(0) else {
            throw StorageError(.corrupt, "an erased customer has no profile row")
        }
        return Customer.ID(id)
    }

    /// The purchases that a customer holds, and those that only name them.
    private func purchases(of customer: Customer.ID) -> (held: [RowKey], all: [RowKey]) {
        let rows = Set(rows(of: customer))
        let marks = Set(rows.map { RowKey(namedBy: $0) })
        let held = purchases.filter { !rows.isDisjoint(with: $0.value.posting.rows) }
        let named = purchases.filter { !marks.isDisjoint(with: $0.value.posting.index) }
        return (held.keys.sorted(), Set(held.keys).union(named.keys).sorted())
    }

    /// The hash of each name of `customer`; in a purchase that they hold, also of each name that nobody
    /// has registered.
    private func renaming(_ customer: Customer.ID, isHeld: Bool) -> Renaming {
        let own = RowKey(Holder.customer(customer))
        return Renaming { name in
            guard let key = name.aliasKey else { return nil }
            guard let known = aliases[key] ?? nil else { return isHeld ? key.hex : nil }
            return known == own ? key.hex : nil
        }
    }

    /// Ids that Stripe gave who paid for these purchases, and that nobody registered.
    private func payers(of held: [RowKey]) -> [RowKey] {
        unregistered(held.flatMap { purchases[$0]?.record.payers ?? [] })
    }

    /// Locks what else is paid for under these ids.
    mutating func lockPayers(of customer: Customer.ID) throws {
        let held = purchases(of: customer).held
        let names = held.flatMap { purchases[$0]?.record.names ?? [] }
        try loadAliases(Set(names.compactMap(\.aliasKey)).sorted())
        var more: Set<RowKey> = []
        for payer in payers(of: held) {
            for environment in StoreEnvironment.allCases {
                try find(payer.inEnvironment(environment), into: &more)
            }
        }
        try load(more.filter { purchases[$0] == nil }.sorted(), named: [:])
    }

    /// Takes the names of `customer` out of the records, and of those that they are found to hold.
    mutating func rename(_ customer: Customer.ID, _ index: Int) throws {
        // A replay finds the registration behind the erasure.
        if !isReplay {
            let own = RowKey(Holder.customer(customer))
            let held = purchases(of: customer).held.filter { erasedHolder(of: $0) != nil }
            try register(payers: payers(of: held), of: own, index)
        }
        try renameRecords(of: customer, index)
    }

    private mutating func renameRecords(of customer: Customer.ID, _ index: Int) throws {
        let (held, all) = purchases(of: customer)
        for key in all {
            guard var state = purchases[key] else { continue }
            let before = state.record
            try state.record.rename(renaming(customer, isHeld: held.contains(key)))
            guard state.record != before else { continue }
            purchases[key] = state
            try evaluate(key, index)
        }
    }

    /// Removes what names a person or was said by one: the profile, the sessions, the receipts, the
    /// replies, and the bodies of everything that was stated of them and of purchases that are theirs
    /// or name them.
    ///
    /// Facts stay, with hashes in the place of names, and so do digests.
    mutating func forget(_ customer: Customer.ID) throws {
        connection.erases()
        let name = RowKey(Holder.customer(customer))
        try connection.execute(
            "UPDATE profile SET body = $1 WHERE customer = $2",
            [.blob([]), name.value]
        )
        for statement in [
            "DELETE FROM session WHERE customer = $1",
            "DELETE FROM profile_email WHERE customer = $1",
            "DELETE FROM idempotency WHERE customer = $1",
            "DELETE FROM access_finding WHERE customer = $1",
        ] {
            try connection.execute(statement, [name.value])
        }
        try connection.execute(
            "DELETE FROM receipt WHERE customer = $1",
            [.text(customer.rawValue)]
        )
        try connection.executeMany(
            "DELETE FROM opinion WHERE customer = $1",
            rows(of: customer).map { [$0.value] }
        )
        let (held, subjects) = purchases(of: customer)
        for subject in subjects {
            try forget(customer, in: subject, isHeld: held.contains(subject))
        }
        try connection.executeMany(
            "UPDATE journal SET body = NULL WHERE subject = $1",
            ([name] + subjects).map { [$0.value] }
        )
        let aliases = try connection.query(
            "SELECT key FROM alias WHERE customer = $1",
            [name.value]
        ).map { try RowKey(bytes: $0.bytes(0)) }
        try connection.executeMany(
            "UPDATE journal SET body = NULL, person = NULL WHERE person = $1",
            (aliases + subjects).map { [$0.value] }
        )
        let names = NamesInText(Set(aliases))
        try names.removeQuestions(connection)
        try names.removeParked(connection)
    }

    /// Takes the names of `customer` out of the facts of one purchase.
    private mutating func forget(
        _ customer: Customer.ID,
        in subject: RowKey,
        isHeld: Bool
    ) throws {
        let rows = try connection.query(
            "SELECT id, facts FROM journal WHERE subject = $1",
            [subject.value]
        )
        var kept: [(id: Int64, facts: [Fact])] = []
        for row in rows {
            guard case .facts(let facts) = try JournalContent(kept: row.bytes(1)) else { continue }
            kept.append((try row.int64(0), facts))
        }
        let unknown = Set(kept.flatMap(\.facts).flatMap(\.names).compactMap(\.aliasKey))
            .filter { aliases[$0] == nil }
        try loadAliases(unknown.sorted())
        let renaming = renaming(customer, isHeld: isHeld)
        try connection.executeMany(
            "UPDATE journal SET facts = $2 WHERE id = $1",
            try kept.compactMap { row in
                let facts = try row.facts.map { try $0.renamed(renaming) }
                guard facts != row.facts else { return nil }
                return [.integer(row.id), .blob(try JournalContent.facts(facts).kept())]
            }
        )
    }
}

// MARK: - Erasures by earlier programs

extension RecordStore {
    /// Programs that wrote `erasures_complete` gave names to erased customers and journalled nothing of
    /// it, so that a replay forgot them.
    private static let completed = "erasures_complete_2"

    /// Takes out what earlier programs had left of customers who were erased: the names by which stores
    /// knew them, and messages without facts.
    ///
    /// Once for a database.
    static func completeErasures(_ driver: any StorageDriver) async throws {
        let erased = try await driver.read { connection -> [Customer.ID]? in
            let isComplete = try !connection.query(
                "SELECT 1 FROM meta WHERE name = $1",
                [.text(completed)]
            ).isEmpty
            guard !isComplete else { return nil }
            return try connection.query("SELECT id FROM profile WHERE length(body) = 0").map {
                Customer.ID(try $0.text(0))
            }
        }
        guard let erased else { return }
        try await notePersons(driver)
        for customer in erased {
            try await driver.write { connection in
                var batch = Batch(
                    connection,
                    history: try CatalogHistory(reading: connection),
                    items: [
                        JournalItem(
                            dedupeKey: RowKey("complete erasure", customer.rawValue),
                            subject: subject(of: customer),
                            kind: .command,
                            stated: Instant(milliseconds: 0),
                            content: .erase(customer)
                        )
                    ]
                )
                try batch.completeErasure(of: customer)
            }
        }
        try await driver.write { connection in
            _ = try connection.execute(
                "INSERT INTO meta (name, value) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING",
                [.text(completed), .blob([1])]
            )
        }
    }

    /// Notes whom messages without facts are about, where an earlier program kept them.
    private static func notePersons(_ driver: any StorageDriver) async throws {
        let nothing = try JournalContent.facts([]).kept()
        var last: Int64 = 0
        while true {
            let rows = try await driver.read { [last] connection in
                try connection.query(
                    """
                    SELECT id, body FROM journal
                    WHERE id > $1 AND facts = $2 AND person IS NULL AND body IS NOT NULL
                    ORDER BY id LIMIT 500
                    """,
                    [.integer(last), .blob(nothing)]
                ).map { (id: try $0.int64(0), body: try $0.bytes(1)) }
            }
            guard let end = rows.last?.id else { return }
            let persons: [[SQLValue]] = rows.compactMap { row in
                // Those of the App Store have segments and name nobody of Stripe's.
                guard let body = try? SignedBody.expand(row.body, segment: { _ in nil }),
                    let person = NamesInText.payer(in: body)
                else { return nil }
                return [person.value, .integer(row.id)]
            }
            try await driver.write { connection in
                try connection.executeMany("UPDATE journal SET person = $1 WHERE id = $2", persons)
            }
            last = end
        }
    }
}
