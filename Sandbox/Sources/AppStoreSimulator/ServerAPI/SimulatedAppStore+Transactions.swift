import Foundation
import SandboxClock

/// The App Store Server API's calls about transactions.
extension SimulatedAppStore {
    /// Finds a transaction by its own id, refusing what cannot be one.
    private func transaction(
        _ id: String,
        orThrow missing: APIError = .transactionIDNotFound
    ) throws(APIError) -> Transaction {
        guard Self.isWellFormed(id) else { throw .invalidTransactionID }
        if let transaction = world.transactions[id] { return transaction }
        if world.customers.values.contains(where: { $0.appTransactionID == id }) {
            throw .appTransactionIDNotSupported
        }
        throw missing
    }

    /// Finds the customer by any transaction, original transaction or app transaction id.
    func customer(byAny id: String) throws(APIError) -> Customer {
        guard Self.isWellFormed(id) else { throw .invalidTransactionID }
        if let transaction = world.transactions[id],
            let customer = world.customers[transaction.customer]
        {
            return customer
        }
        if let customer = world.customers.values.first(where: { $0.appTransactionID == id }) {
            return customer
        }
        throw .transactionIDNotFound
    }

    private static func isWellFormed(_ id: String) -> Bool {
        (1...19).contains(id.utf8.count) && id.utf8.allSatisfy { (48...57).contains($0) }
    }

    func transactionInfo(_ id: String) async throws -> TransactionInfoResponse {
        let now = await clock.now
        return TransactionInfoResponse(
            signedTransactionInfo: try signed(try transaction(id), at: now)
        )
    }

    func appTransactionInfo(_ id: String) async throws -> AppTransactionInfoResponse {
        let now = await clock.now
        let customer = try customer(byAny: id)
        guard customer.downloaded != nil else { throw APIError.appTransactionDoesNotExist }
        return AppTransactionInfoResponse(
            signedAppTransactionInfo: try signedAppTransaction(customer, at: now)
        )
    }

    func setAppAccountToken(_ token: String, of id: String) async throws {
        guard UUID(uuidString: token) != nil else {
            throw APIError(
                4_000_183,
                "Invalid request. The app account token field must be a valid UUID."
            )
        }
        let transaction = try transaction(id, orThrow: .originalTransactionIDNotFound)
        guard transaction.originalID == id else {
            throw APIError.notOriginalTransactionID
        }
        try requirePurchased(transaction)
        try await change { world, now in
            try world.setAppAccountToken(token.lowercased(), of: id, at: now)
        }
    }

    /// <https://developer.apple.com/documentation/appstoreserverapi/invalidassignedtransactionnotsupportederror>.
    private func requirePurchased(_ transaction: Transaction) throws(APIError) {
        switch transaction.ownership {
        case .purchased: break
        case .familyShared: throw .familyTransactionNotSupported
        case .assigned: throw .assignedTransactionNotSupported
        }
    }

    func finishByServer(_ id: String) async throws {
        _ = try transaction(id)
        try await finish(id)
    }

    func receiveConsumption(_ json: Data, version: Int, of id: String) async throws {
        let transaction = try transaction(id)
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
        let answer = ConsumptionAnswer(
            transactionID: id,
            received: await clock.now,
            version: version,
            body: String(decoding: json, as: UTF8.self)
        )
        world.consumptionAnswers.append(answer)
        world.settleConsumptionRequest(id)
        save()
    }

    func lookUp(order: String) async throws -> OrderLookupResponse {
        let now = await clock.now
        let found = world.transactions.values.filter { $0.orderID == order }
            .sorted { $0.modification < $1.modification }
        guard !found.isEmpty else { return OrderLookupResponse(status: 1) }
        return OrderLookupResponse(
            status: 0,
            signedTransactions: try found.map { try signed($0, at: now) }
        )
    }

    // MARK: - Histories

    func history(
        of id: String,
        _ query: HistoryQuery,
        withFinishedConsumables: Bool
    ) async throws -> HistoryResponse {
        let now = await clock.now
        let customer = try customer(byAny: id)
        let isShown: (Transaction) -> Bool = {
            withFinishedConsumables || $0.kind != .consumable || !$0.isFinished
                || $0.revocation != nil
        }
        var matching = world.transactionsOf(customer.id)
            .filter { query.includes($0) && isShown($0) }
            .sorted { $0.modification < $1.modification }
        if query.isDescending { matching.reverse() }
        if let revision = query.revision {
            matching = matching.filter {
                query.isDescending ? $0.modification < revision : $0.modification > revision
            }
        }
        let page = matching.prefix(HistoryQuery.pageSize)
        let position =
            page.last?.modification ?? query.revision ?? (query.isDescending ? Int.max : 0)
        return HistoryResponse(
            revision: HistoryQuery.revision(at: position),
            hasMore: matching.count > page.count,
            bundleId: world.bundleID,
            appAppleId: environment == .production ? world.appAppleID : nil,
            environment: environment.rawValue,
            signedTransactions: try page.map { try signed($0, at: now) }
        )
    }

    func refundHistory(of id: String, revision: String?) async throws -> RefundHistoryResponse {
        let now = await clock.now
        let customer = try customer(byAny: id)
        let after = try revision.map { text throws(APIError) in
            try HistoryQuery.position(ofRevision: text)
        }
        let refunded = world.transactionsOf(customer.id)
            .filter { $0.revocation != nil && $0.modification > after ?? 0 }
            .sorted { $0.modification < $1.modification }
        let page = refunded.prefix(HistoryQuery.pageSize)
        return RefundHistoryResponse(
            signedTransactions: try page.map { try signed($0, at: now) },
            revision: HistoryQuery.revision(at: page.last?.modification ?? after ?? 0),
            hasMore: refunded.count > page.count
        )
    }
}
