internal import TollgateCore

extension Batch {
    mutating func write() throws {
        let journalIDs = try journal.write(rows)
        try rows.writePurchases()
        try holdings.write(rows.connection)
        try rows.writeCustomers()
        try coins.write(rows.connection, journalIDs)
        try writeNames()
        try writeWanted()
    }

    private mutating func writeNames() throws {
        try rows.connection.executeMany(
            "INSERT INTO alias (key, customer) VALUES ($1, $2) ON CONFLICT (key) DO NOTHING",
            newAliases.map { [$0.0.value, $0.1.value] }
        )
        for index in journal.items.indices {
            switch (journal.contents[index], journal.items[index].content) {
            case (.registered?, .register(let registration)):
                try rows.connection.execute(
                    """
                    INSERT INTO profile (customer, id, body) VALUES ($1, $2, $3)
                    ON CONFLICT (customer) DO UPDATE SET body = $3 WHERE length(profile.body) > 0
                    """,
                    [
                        RowKey(Holder.customer(registration.customer)).value,
                        .text(registration.customer.rawValue), .blob(registration.profile),
                    ]
                )
                try writeEmail(of: registration)
            case (.adopted(let version)?, _):
                try rows.connection.execute(
                    """
                    INSERT INTO catalog_version (id, adopted, body) VALUES ($1, $2, $3)
                    ON CONFLICT (id) DO NOTHING
                    """,
                    [
                        RowKey("catalog", version.id, "\(version.adopted.milliseconds)").value,
                        .integer(version.adopted.milliseconds),
                        .blob(try RecordEncoder.encode(version)),
                    ]
                )
            case (.erased(let customer)?, _): try forget(customer)
            case (.facts?, _):
                // What was found under the new names was kept as it came.
                if let payers = journal.registeredPayers[index] { try forget(payers.customer) }
            default: break
            }
        }
    }

    private func writeWanted() throws {
        try rows.connection.executeMany(
            """
            INSERT INTO wanted (key, kind, object, body, created) VALUES ($1, $2, $3, $4, $5)
            ON CONFLICT (key) DO UPDATE SET created = excluded.created
            WHERE wanted.created < excluded.created
            """,
            wanted.map { wanted, purchase, created in
                [
                    RowKey("wanted", wanted.kind.rawValue, wanted.object, purchase.canonical).value,
                    .text(wanted.kind.rawValue), .text(wanted.object),
                    .blob(Array(purchase.canonical.utf8)), .integer(created.milliseconds),
                ]
            }
        )
    }

    /// Staff search customers by their email, and only by the one they have now.
    private func writeEmail(of registration: Registration) throws {
        guard let email = registration.email else { return }
        let name = RowKey(Holder.customer(registration.customer)).value
        try rows.connection.execute("DELETE FROM profile_email WHERE customer = $1", [name])
        try rows.connection.execute(
            """
            INSERT INTO profile_email (email, customer)
            SELECT $1, customer FROM profile WHERE customer = $2 AND length(body) > 0
            ON CONFLICT (email, customer) DO NOTHING
            """,
            [RowKey(email: email).value, name]
        )
    }
}
