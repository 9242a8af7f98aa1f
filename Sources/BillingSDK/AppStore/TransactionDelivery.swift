import Foundation

/// One transaction of the App Store on its way to the server.
struct TransactionDelivery: Hashable, Sendable {
    /// StoreKit's transaction id.
    let transactionID: UInt64
    let mode: AppStoreSubmission.Mode
}

/// A transaction as StoreKit gives it, without StoreKit.
struct SignedTransaction: Sendable {
    let id: UInt64
    let jwsRepresentation: String
    /// Tells StoreKit that the app has delivered what was bought.
    let finish: @Sendable () async -> Void
}

extension BillingClient {
    /// Takes a transaction to the server and finishes it once it is on disk there; never before.
    ///
    /// What throws stays unfinished, so StoreKit shows it again at the next launch. One transaction
    /// that arrives twice at a time is sent once.
    @discardableResult
    func deliver(
        _ transaction: SignedTransaction,
        mode: AppStoreSubmission.Mode
    ) async throws -> AppStoreSubmission {
        let delivery = TransactionDelivery(transactionID: transaction.id, mode: mode)
        let task = deliveries.withLock { deliveries in
            if let task = deliveries[delivery] { return task }
            // It outlives a caller that is cancelled: what was paid for goes on.
            let task = Task { try await self.deliverOnce(transaction, delivery) }
            deliveries[delivery] = task
            return task
        }
        return try await task.value
    }

    private func deliverOnce(
        _ transaction: SignedTransaction,
        _ delivery: TransactionDelivery
    ) async throws -> AppStoreSubmission {
        defer { deliveries.withLock { _ = $0.removeValue(forKey: delivery) } }
        // Without an owner it would be finished for nobody; it waits until somebody signs in.
        guard try await session() != nil else { throw BillingSDKError.unauthenticated }
        let submission = try await submit(
            signedTransaction: transaction.jwsRepresentation,
            mode: delivery.mode
        )
        await transaction.finish()
        return submission
    }

    /// Asks the server again if somebody is known to be signed in; failures wait for the next read.
    func refreshIfSignedIn() async {
        guard guarded.withLock({ $0.state.customer }) != nil else { return }
        _ = try? await activeEntitlements(forceRefresh: true)
    }
}
