import Foundation

/// The App Store Server API's calls that change transactions.
enum TransactionRequests {
    /// <https://developer.apple.com/documentation/appstoreserverapi/set-app-account-token>.
    static func setAppAccountToken(
        _ world: inout World,
        _ token: String,
        of id: String,
        at now: Int64
    ) throws {
        guard UUID(uuidString: token) != nil else {
            throw APIError(
                4_000_183,
                "Invalid request. The app account token field must be a valid UUID."
            )
        }
        let transaction = try world.transaction(
            requested: id,
            orThrow: .originalTransactionIDNotFound
        )
        guard transaction.originalID == id else {
            throw APIError.notOriginalTransactionID
        }
        try requirePurchased(transaction)
        try Purchases.setAppAccountToken(&world, token.lowercased(), of: id, at: now)
    }

    /// <https://developer.apple.com/documentation/appstoreserverapi/send-consumption-information>.
    static func receiveConsumption(
        _ world: inout World,
        _ json: Data,
        version: Int,
        of id: String,
        at now: Int64
    ) throws(APIError) {
        let transaction = try world.transaction(requested: id)
        try requirePurchased(transaction)
        if version == 1 {
            try ConsumptionRequestV1.check(json)
            // Since API 1.11, with the description of InvalidTransactionTypeNotSupportedError.
            guard transaction.kind == .consumable || transaction.kind == .autoRenewable else {
                throw APIError(
                    4_000_047,
                    "Invalid request. The transaction id parameter represents an unsupported in-app purchase type."
                )
            }
        } else {
            try ConsumptionRequestV2.check(json, kind: transaction.kind)
        }
        let answer = SimulatedAppStore.ConsumptionAnswer(
            transactionID: id,
            received: now,
            version: version,
            body: String(decoding: json, as: UTF8.self)
        )
        world.consumptionAnswers.append(answer)
        ConsumptionRequests.settle(&world, id)
    }

    /// <https://developer.apple.com/documentation/appstoreserverapi/invalidassignedtransactionnotsupportederror>.
    private static func requirePurchased(_ transaction: Transaction) throws(APIError) {
        switch transaction.ownership {
        case .purchased: break
        case .familyShared: throw .familyTransactionNotSupported
        case .assigned: throw .assignedTransactionNotSupported
        }
    }
}

/// Looking up what a request names.
extension SimulatedAppStore.World {
    /// Finds a transaction by its own id, refusing what cannot be one.
    func transaction(
        requested id: String,
        orThrow missing: APIError = .transactionIDNotFound
    ) throws(APIError) -> Transaction {
        guard Self.isWellFormed(id) else { throw .invalidTransactionID }
        if let transaction = transactions[id] { return transaction }
        if customers.values.contains(where: { $0.appTransactionID == id }) {
            throw .appTransactionIDNotSupported
        }
        throw missing
    }

    /// Finds the customer by any transaction, original transaction or app transaction id.
    func customer(requested id: String) throws(APIError) -> Customer {
        guard Self.isWellFormed(id) else { throw .invalidTransactionID }
        if let transaction = transactions[id],
            let customer = customers[transaction.customer]
        {
            return customer
        }
        if let customer = customers.values.first(where: { $0.appTransactionID == id }) {
            return customer
        }
        throw .transactionIDNotFound
    }

    private static func isWellFormed(_ id: String) -> Bool {
        (1...19).contains(id.utf8.count) && id.utf8.allSatisfy { (48...57).contains($0) }
    }
}
