import Foundation

/// A transaction as StoreKit gives it, without StoreKit.
struct SignedTransaction: Sendable {
    let id: UInt64
    let jwsRepresentation: String
    var productID: String?
    /// Whether it was bought with an offer code, outside the app.
    var isCodeRedemption = false
    /// Tells StoreKit that the app has delivered what was bought.
    let finish: @Sendable () async -> Void

    init(
        id: UInt64,
        jwsRepresentation: String,
        productID: String? = nil,
        isCodeRedemption: Bool = false,
        finish: @escaping @Sendable () async -> Void
    ) {
        self.id = id
        self.jwsRepresentation = jwsRepresentation
        self.productID = productID
        self.isCodeRedemption = isCodeRedemption
        self.finish = finish
    }

    /// Tells this statement from others about the same transaction, such as its refund.
    var signature: String { String(jwsRepresentation.suffix(86)) }
}

/// The transactions that this process has taken, or is taking, to the server.
struct TransactionDeliveries: Sendable {
    struct Key: Hashable, Sendable {
        let transactionID: UInt64
        let signature: String
        let mode: AppStoreSubmission.Mode
    }

    var underWay: [Key: Task<AppStoreSubmission, any Error>] = [:]
    /// By signature: StoreKit shows one transaction in several sequences at a time.
    var done: [String: AppStoreSubmission] = [:]

    /// The delivery of the same statement that claims it: it says all that observing would.
    func claiming(_ key: Key) -> Task<AppStoreSubmission, any Error>? {
        underWay.first {
            $0.key.transactionID == key.transactionID && $0.key.signature == key.signature
        }?.value
    }
}

extension BillingClient {
    /// Takes a transaction to the server and finishes it once it is on disk there; never before.
    ///
    /// What throws stays unfinished, so StoreKit shows it again at the next launch. One statement
    /// that arrives in two ways is sent once, unless it claims the purchase.
    @discardableResult
    func deliver(
        _ transaction: SignedTransaction,
        mode: AppStoreSubmission.Mode
    ) async throws -> AppStoreSubmission {
        do {
            return try await deliverShared(transaction, mode)
        } catch BillingSDKError.unauthenticated {
            // It began for nobody; somebody may have signed in meanwhile and joined it in vain.
            guard guarded.withLock({ $0.state.customer }) != nil else {
                throw BillingSDKError.unauthenticated
            }
            return try await deliverShared(transaction, mode)
        }
    }

    /// Takes it to the server together with whoever else is about to.
    private func deliverShared(
        _ transaction: SignedTransaction,
        _ mode: AppStoreSubmission.Mode
    ) async throws -> AppStoreSubmission {
        let key = TransactionDeliveries.Key(
            transactionID: transaction.id,
            signature: transaction.signature,
            mode: mode
        )
        if mode == .observed, let done = deliveries.withLock({ $0.done[key.signature] }) {
            return done
        }
        if transaction.isCodeRedemption, let productID = transaction.productID {
            // Bought outside the app: it is seen in the inbox until the server has it.
            inbox.addUnderWay(
                productID: productID,
                origin: .code,
                reference: String(transaction.id)
            )
        }
        let task = deliveries.withLock { deliveries in
            if let task = deliveries.underWay[key] { return task }
            // It was being done when we looked first.
            if mode == .observed, let done = deliveries.done[key.signature] { return Task { done } }
            if mode == .observed, let task = deliveries.claiming(key) { return task }
            // It outlives a caller that is cancelled: what was paid for goes on.
            let task = Task { try await self.deliverOnce(transaction, key) }
            deliveries.underWay[key] = task
            return task
        }
        return try await task.value
    }

    private func deliverOnce(
        _ transaction: SignedTransaction,
        _ key: TransactionDeliveries.Key
    ) async throws -> AppStoreSubmission {
        do {
            // Without an owner it would be finished for nobody; it waits until somebody signs in.
            guard try await session() != nil else { throw BillingSDKError.unauthenticated }
            let submission = try await submit(
                signedTransaction: transaction.jwsRepresentation,
                mode: key.mode
            )
            await transaction.finish()
            inbox.finishUnderWay(
                productID: transaction.productID,
                reference: String(transaction.id)
            )
            deliveries.withLock { deliveries in
                deliveries.underWay[key] = nil
                deliveries.done[key.signature] = submission
            }
            return submission
        } catch {
            deliveries.withLock { $0.underWay[key] = nil }
            throw error
        }
    }

    /// Asks the server again if somebody is known to be signed in; failures wait for the next read.
    func refreshIfSignedIn() async {
        guard guarded.withLock({ $0.state.customer }) != nil else { return }
        _ = try? await activeEntitlements(forceRefresh: true)
    }
}
