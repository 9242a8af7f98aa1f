internal import TollgateCore

extension Batch {
    static let messageSQL = """
        INSERT INTO message (customer, environment, sequence, kind, created, body)
        VALUES ($1, $2, $3, $4, $5, $6)
        """

    static func message(
        _ kind: FeedMessage.Kind,
        of key: RowKey,
        in environment: StoreEnvironment,
        sequence: Int64,
        at created: Instant,
        _ active: [ActiveEntitlement],
        balance: Int64,
        purchases: [FeedMessage.PurchaseNews] = []
    ) throws -> [SQLValue] {
        let body = FeedMessage.Body(
            entitlements: active.map { FeedMessage.Entitlement($0) },
            balance: balance,
            purchases: purchases.isEmpty ? nil : purchases
        )
        return [
            key.value, .integer(environment.number), .integer(sequence), .text(kind.rawValue),
            .integer(created.milliseconds), .blob(try RecordEncoder.encode(body)),
        ]
    }
}
