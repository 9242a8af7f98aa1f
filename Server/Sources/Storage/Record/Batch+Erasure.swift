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

    /// The same facts with hashes in the place of names of customers who were erased.
    ///
    /// What is said of their purchases may name them by a customer's id of Stripe's that nobody has
    /// registered yet: it goes too. Names of somebody else stay.
    func withoutErased(_ facts: [Fact], of subject: RowKey) throws -> [Fact] {
        func customer(_ name: Holder, _ environment: StoreEnvironment) -> CustomerState? {
            guard let key = name.aliasKey, let customer = aliases[key] ?? nil else { return nil }
            return customers[customer.inEnvironment(environment)]
        }
        let isOfErased =
            isHeldByErased(subject)
            || facts.contains { fact in
                fact.names.contains { customer($0, fact.purchase.environment)?.isErased == true }
            }
        guard isOfErased else { return facts }
        return try facts.map { fact in
            try fact.renamed(
                Renaming { name in
                    guard let key = name.aliasKey else { return nil }
                    if let known = customer(name, fact.purchase.environment) {
                        return known.isErased ? key.hex : nil
                    }
                    return name.isOfStripe ? key.hex : nil
                }
            )
        }
    }

    /// The purchases that a customer holds, and those that only name them.
    private func purchases(of customer: Customer.ID) -> (held: [RowKey], all: [RowKey]) {
        let rows = Set(rows(of: customer))
        let marks = Set(rows.map { RowKey(namedBy: $0) })
        let held = purchases.filter { !rows.isDisjoint(with: $0.value.posting.rows) }
        let named = purchases.filter { !marks.isDisjoint(with: $0.value.posting.index) }
        return (held.keys.sorted(), Set(held.keys).union(named.keys).sorted())
    }

    /// The hash of each name of `customer`.
    private func renaming(_ customer: Customer.ID) -> Renaming {
        let own = RowKey(Holder.customer(customer))
        return Renaming { name in
            guard let key = name.aliasKey, aliases[key] == .some(own) else { return nil }
            return key.hex
        }
    }

    /// Ids that Stripe gave who paid for purchases of `customer`, and that nobody registered.
    private func payers(of customer: Customer.ID) -> [RowKey] {
        let names = purchases(of: customer).held.flatMap { purchases[$0]?.record.names ?? [] }
        return Set(names.filter(\.isOfStripe).compactMap(\.aliasKey))
            .filter { aliases[$0] == .some(nil) }
            .sorted()
    }

    /// Locks what else is paid for under these ids.
    mutating func lockPayers(of customer: Customer.ID) throws {
        let names = purchases(of: customer).held.flatMap { purchases[$0]?.record.names ?? [] }
        try loadAliases(Set(names.compactMap(\.aliasKey)).sorted())
        var more: Set<RowKey> = []
        for payer in payers(of: customer) {
            for environment in StoreEnvironment.allCases {
                try find(payer.inEnvironment(environment), into: &more)
            }
        }
        try load(more.filter { purchases[$0] == nil }.sorted(), named: [:])
    }

    /// Takes the names of `customer` out of the records.
    ///
    /// Ids of Stripe's by which they paid become names of theirs, so that what comes later under
    /// these is known to be of somebody who was erased.
    mutating func rename(_ customer: Customer.ID, _ index: Int) throws {
        let own = RowKey(Holder.customer(customer))
        let payers = payers(of: customer)
        for payer in payers {
            aliases[payer] = .some(own)
            newAliases.append((payer, own))
        }
        for payer in payers {
            for environment in StoreEnvironment.allCases {
                try evaluateFound(under: payer.inEnvironment(environment), index)
            }
        }
        let renaming = renaming(customer)
        for key in purchases(of: customer).all {
            guard var state = purchases[key] else { continue }
            let before = state.record
            try state.record.rename(renaming)
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
        let subjects = purchases(of: customer).all
        for subject in subjects { try forget(customer, in: subject) }
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
    private mutating func forget(_ customer: Customer.ID, in subject: RowKey) throws {
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
        let renaming = renaming(customer)
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
    private static let completed = "erasures_complete"

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
                            dedupeKey: RowKey("erase", customer.rawValue),
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

extension Holder {
    /// Whether it is an id of Stripe's, or what an erasure left of one.
    fileprivate var isOfStripe: Bool {
        switch self {
        case .stripeCustomer, .erased: true
        default: false
        }
    }
}
