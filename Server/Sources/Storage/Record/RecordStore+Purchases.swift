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
}
