/// `externaltransactions`.
enum ExternalEndpoints {
    static let all = [
        Endpoint(
            id: "externaltransactions.createexternaltransaction",
            method: "POST",
            pattern: "externalTransactions",
            bucket: .external,
            permission: .manageOrders,
            answer: create
        ),
        Endpoint(
            id: "externaltransactions.getexternaltransaction",
            method: "GET",
            pattern: "externalTransactions/{externalTransactionId}",
            bucket: .external,
            answer: get
        ),
        Endpoint(
            id: "externaltransactions.refundexternaltransaction",
            method: "POST",
            pattern: "externalTransactions/{externalTransactionId}:refund",
            bucket: .external,
            permission: .manageOrders,
            answer: refund
        ),
    ]

    private static func find(_ call: Call, _ store: PlayStore) throws -> ExternalTransaction {
        guard let found = store.external[call.parameter("externalTransactionId")] else {
            throw APIError.notFound("The external transaction was not found.")
        }
        return found
    }

    private static func create(_ call: Call, _ store: inout PlayStore) throws -> JSON? {
        guard let id = call.first("externalTransactionId") else {
            throw APIError.required("externalTransactionId")
        }
        let made = try ExternalTransaction(
            id: id,
            body: try call.object,
            at: call.now,
            known: store.external
        )
        store.external[id] = made
        return made.wire(package: store.packageName)
    }

    private static func get(_ call: Call, _ store: inout PlayStore) throws -> JSON? {
        try find(call, store).wire(package: store.packageName)
    }

    private static func refund(_ call: Call, _ store: inout PlayStore) throws -> JSON? {
        var found = try find(call, store)
        try found.refund(try call.object)
        store.external[found.id] = found
        return found.wire(package: store.packageName)
    }
}
