#if canImport(StoreKit)
    import Foundation
    import StoreKit

    /// Claims what the Apple account has bought, one purchase after the other.
    struct Restoration: Sendable {
        let client: BillingClient

        func restore() async throws -> [RestoredPurchase] {
            guard try await client.session() != nil else { throw BillingSDKError.unauthenticated }
            try await AppStore.sync()
            var restored: [RestoredPurchase] = []
            for await result in StoreKit.Transaction.currentEntitlements {
                let transaction = SignedTransaction(result)
                let outcome: RestoredPurchase.Outcome
                do {
                    let delivery = TransactionDelivery(client: client)
                    switch try await delivery.deliverAttended(transaction, mode: .restored) {
                    case .taken(let submission): outcome = .taken(submission)
                    case .refused(let refusal): outcome = .refused(refusal)
                    }
                } catch BillingSDKError.unauthenticated {
                    throw BillingSDKError.unauthenticated
                } catch {
                    outcome = .awaitingServer(error)
                }
                restored.append(
                    RestoredPurchase(
                        id: transaction.id,
                        productID: transaction.productID,
                        outcome: outcome
                    )
                )
            }
            await client.deliverUnfinishedTransactions()
            return restored
        }
    }
#endif
