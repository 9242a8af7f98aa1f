public import TollgateCore

extension RecordStore {
    /// The customers who hold a part of a purchase; names that nobody registered are left out.
    public func holders(of key: Purchase.Key) async throws -> [StoredProfile] {
        try await driver.read { connection in
            let rows = try connection.query(
                "SELECT holder FROM holding WHERE purchase = $1 ORDER BY holder",
                [RowKey(key).value]
            )
            // A row's key in an environment leads back to the name.
            let names = try rows.map {
                try RowKey(bytes: $0.bytes(0)).inEnvironment(key.environment)
            }
            return try names.flatMap { name in
                try connection.query(
                    "SELECT id, body FROM profile WHERE customer = $1",
                    [name.value]
                ).map {
                    StoredProfile(customer: Customer.ID(try $0.text(0)), body: try $0.bytes(1))
                }
            }
        }
    }

    /// The name under which the coins of a period are posted.
    public static func lot(_ id: String, of key: Purchase.Key) -> RowKey {
        RowKey("lot", key.canonical, id)
    }

    /// Whether `customer` holds a part of `purchase`.
    public func holds(_ customer: Customer.ID, _ purchase: Purchase.Key) async throws -> Bool {
        let row = RowKey(Holder.customer(customer)).inEnvironment(purchase.environment)
        let rows = try await driver.readNow(
            "SELECT 1 FROM holding WHERE holder = $1 AND purchase = $2",
            [row.value, RowKey(purchase).value]
        )
        return !rows.isEmpty
    }

    /// The registered customers whose rows in one environment these are.
    public func customers(
        ofRows rows: [RowKey],
        in environment: StoreEnvironment
    ) async throws -> [RowKey: Customer.ID] {
        guard !rows.isEmpty else { return [:] }
        return try await driver.read { connection in
            let found = try connection.queryMany(
                "SELECT id FROM profile WHERE customer = $1",
                // A row's key in an environment leads back to the name.
                rows.map { [$0.inEnvironment(environment).value] }
            )
            var customers: [RowKey: Customer.ID] = [:]
            for (row, profiles) in zip(rows, found) {
                if let id = try profiles.first?.text(0) { customers[row] = Customer.ID(id) }
            }
            return customers
        }
    }

    /// The key under which a purchase's journal rows are found.
    public static func subject(of key: Purchase.Key) -> RowKey { RowKey(key) }

    /// The key under which a customer's commands are found in the journal.
    public static func subject(of customer: Customer.ID) -> RowKey {
        RowKey(Holder.customer(customer))
    }
}
