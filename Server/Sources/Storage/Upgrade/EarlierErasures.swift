internal import TollgateCore

extension RecordStore {
    /// Programs that wrote `erasures_complete` gave names to erased customers and journalled nothing of
    /// it, so that a replay forgot them; those that wrote `erasures_complete_2` kept what they read from
    /// Stripe without its payer.
    private static let completed = "erasures_complete_3"

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
        try await driver.execute(
            "INSERT INTO meta (name, value) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING",
            [.text(completed), .blob([1])]
        )
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
