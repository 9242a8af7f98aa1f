internal import TollgateCore

// Forgetting a customer: their names leave facts and records, and everything that was said of them
// leaves the tables. What was paid and spent stays in the books (RULES §11).

extension Batch {
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
            rows.aliases[payer] = .some(customer)
            newAliases.append((payer, customer))
        }
        for payer in payers {
            for environment in StoreEnvironment.allCases {
                try evaluateFound(under: payer.inEnvironment(environment), index)
            }
        }
        journal.registeredPayers[index] = (id, payers)
        try renameRecords(of: id, index)
    }

    /// The id of the customer under this key, from this batch or the database.
    private func id(of customer: RowKey) throws -> Customer.ID {
        for item in journal.items {
            switch item.content {
            case .register(let registration)
            where RowKey(Holder.customer(registration.customer)) == customer:
                return registration.customer
            case .erase(let id) where RowKey(Holder.customer(id)) == customer: return id
            default: continue
            }
        }
        let found = try rows.connection.query(
            "SELECT id FROM profile WHERE customer = $1",
            [customer.value]
        )
        guard let id = try found.first?.text(0) else {
            throw StorageError(.corrupt, "an erased customer has no profile row")
        }
        return Customer.ID(id)
    }

    /// Takes the names of `customer` out of the records, and of those that they are found to hold.
    mutating func rename(_ customer: Customer.ID, _ index: Int) throws {
        // A replay finds the registration behind the erasure.
        if !isReplay {
            let own = RowKey(Holder.customer(customer))
            let held = rows.purchases(of: customer).held.filter { rows.erasedHolder(of: $0) != nil }
            try register(payers: rows.payers(of: held), of: own, index)
        }
        try renameRecords(of: customer, index)
    }

    private mutating func renameRecords(of customer: Customer.ID, _ index: Int) throws {
        let (held, all) = rows.purchases(of: customer)
        for key in all {
            guard var state = rows.purchases[key] else { continue }
            let before = state.record
            try state.record.rename(rows.renaming(customer, isHeld: held.contains(key)))
            guard state.record != before else { continue }
            rows.purchases[key] = state
            try evaluate(key, index)
        }
    }

    /// Removes what names a person or was said by one: the profile, the sessions, the receipts, the
    /// replies, and the bodies of everything that was stated of them and of purchases that are theirs
    /// or name them.
    ///
    /// Facts stay, with hashes in the place of names, and so do digests.
    mutating func forget(_ customer: Customer.ID) throws {
        rows.connection.erases()
        let name = RowKey(Holder.customer(customer))
        try rows.connection.execute(
            "UPDATE profile SET body = $1 WHERE customer = $2",
            [.blob([]), name.value]
        )
        for statement in [
            "DELETE FROM session WHERE customer = $1",
            "DELETE FROM profile_email WHERE customer = $1",
            "DELETE FROM idempotency WHERE customer = $1",
            "DELETE FROM access_finding WHERE customer = $1",
            "DELETE FROM letter WHERE customer = $1",
        ] {
            try rows.connection.execute(statement, [name.value])
        }
        try rows.connection.execute(
            "DELETE FROM receipt WHERE customer = $1",
            [.text(customer.rawValue)]
        )
        try rows.connection.executeMany(
            "DELETE FROM opinion WHERE customer = $1",
            rows.rows(of: customer).map { [$0.value] }
        )
        let (held, subjects) = rows.purchases(of: customer)
        for subject in subjects {
            try forget(customer, in: subject, isHeld: held.contains(subject))
        }
        try rows.connection.executeMany(
            "UPDATE journal SET body = NULL WHERE subject = $1",
            ([name] + subjects).map { [$0.value] }
        )
        let aliases = try rows.connection.query(
            "SELECT key FROM alias WHERE customer = $1",
            [name.value]
        ).map { try RowKey(bytes: $0.bytes(0)) }
        // A hint that names no environment is kept as one about production.
        let hinted = subjects.compactMap { subject -> RowKey? in
            guard var key = rows.purchases[subject]?.record.key,
                !key.store.namesEnvironmentInHints, key.environment == .sandbox
            else { return nil }
            key.environment = .production
            return RowKey(key)
        }
        try rows.connection.executeMany(
            "UPDATE journal SET body = NULL, person = NULL WHERE person = $1",
            (aliases + subjects + hinted).map { [$0.value] }
        )
        let names = NamesInText(Set(aliases))
        try names.removeQuestions(rows.connection)
        try names.removeParked(rows.connection)
    }

    /// Takes the names of `customer` out of the facts of one purchase.
    private mutating func forget(_ customer: Customer.ID, in subject: RowKey, isHeld: Bool) throws {
        let found = try rows.connection.query(
            "SELECT id, facts FROM journal WHERE subject = $1",
            [subject.value]
        )
        var kept: [(id: Int64, facts: [Fact])] = []
        for row in found {
            guard case .facts(let facts) = try JournalContent(kept: row.bytes(1)) else { continue }
            kept.append((try row.int64(0), facts))
        }
        let unknown = Set(kept.flatMap(\.facts).flatMap(\.names).compactMap(\.aliasKey))
            .filter { rows.aliases[$0] == nil }
        try rows.loadAliases(unknown.sorted())
        let renaming = rows.renaming(customer, isHeld: isHeld)
        try rows.connection.executeMany(
            "UPDATE journal SET facts = $2 WHERE id = $1 AND subject = $3",
            try kept.compactMap { row in
                let facts = try row.facts.map { try $0.renamed(renaming) }
                guard facts != row.facts else { return nil }
                return [
                    .integer(row.id), .blob(try JournalContent.facts(facts).kept()), subject.value,
                ]
            }
        )
    }
}
