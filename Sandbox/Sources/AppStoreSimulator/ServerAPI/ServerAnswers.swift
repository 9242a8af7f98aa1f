/// The App Store Server API's answers from the store as it is at one instant
/// (<https://developer.apple.com/documentation/appstoreserverapi>).
struct ServerAnswers {
    let world: World
    let signer: StoreSigner
    let now: Int64

    var environment: SimulatedAppStore.Environment { signer.environment }

    /// Stated in production only.
    var appAppleID: Int64? { environment == .production ? world.appAppleID : nil }

    /// The app's retention messaging, empty until something of it is set up.
    var retention: Retention { world.retention ?? Retention() }

    func signed(_ transaction: Transaction) throws -> String {
        try signer.sign(transaction, in: world, at: now)
    }

    // MARK: - Transactions

    func transactionInfo(_ id: String) throws -> TransactionInfoResponse {
        TransactionInfoResponse(
            signedTransactionInfo: try signed(try world.transaction(requested: id))
        )
    }

    func lookUp(order: String) throws -> OrderLookupResponse {
        let found = world.transactions.values.filter { $0.orderID == order }
            .sorted { $0.modification < $1.modification }
        guard !found.isEmpty else { return OrderLookupResponse(status: 1) }
        return OrderLookupResponse(
            status: 0,
            signedTransactions: try found.map { try signed($0) }
        )
    }

    // MARK: - Histories

    func history(
        of id: String,
        _ query: HistoryQuery,
        withFinishedConsumables: Bool
    ) throws -> HistoryResponse {
        let customer = try world.customer(requested: id)
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
            appAppleId: appAppleID,
            environment: environment.rawValue,
            signedTransactions: try page.map { try signed($0) }
        )
    }

    func refundHistory(of id: String, revision: String?) throws -> RefundHistoryResponse {
        let customer = try world.customer(requested: id)
        let after = try revision.map { text throws(APIError) in
            try HistoryQuery.position(ofRevision: text)
        }
        let refunded = world.transactionsOf(customer.id)
            .filter { $0.revocation != nil && $0.modification > after ?? 0 }
            .sorted { $0.modification < $1.modification }
        let page = refunded.prefix(HistoryQuery.pageSize)
        return RefundHistoryResponse(
            signedTransactions: try page.map { try signed($0) },
            revision: HistoryQuery.revision(at: page.last?.modification ?? after ?? 0),
            hasMore: refunded.count > page.count
        )
    }

    // MARK: - Subscriptions

    func statuses(of id: String, only statuses: Set<Int>) throws -> StatusResponse {
        let customer = try world.customer(requested: id)
        var groups: [StatusResponse.Group] = []
        var seen: Set<String> = []
        for transaction in world.transactionsOf(customer.id)
        where seen.insert(transaction.originalID).inserted {
            guard let subscription = world.subscriptions[transaction.originalID],
                let latest = world.transactions[subscription.latestTransactionID],
                statuses.isEmpty || statuses.contains(subscription.state.rawValue)
            else { continue }
            let item = StatusResponse.Item(
                originalTransactionId: subscription.originalTransactionID,
                status: subscription.state.rawValue,
                signedTransactionInfo: try signed(latest),
                signedRenewalInfo: try signer.sign(subscription, in: world, at: now)
            )
            if let index = groups.firstIndex(where: {
                $0.subscriptionGroupIdentifier == subscription.group
            }) {
                groups[index].lastTransactions.append(item)
            } else {
                groups.append(
                    .init(subscriptionGroupIdentifier: subscription.group, lastTransactions: [item])
                )
            }
        }
        return StatusResponse(
            environment: environment.rawValue,
            bundleId: world.bundleID,
            appAppleId: appAppleID,
            data: groups
        )
    }
}
