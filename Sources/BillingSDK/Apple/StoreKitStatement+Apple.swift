#if canImport(StoreKit)
    import Foundation
    import StoreKit

    extension StoreKitStatement {
        /// What StoreKit holds and has verified on this device, with the state of its subscriptions.
        @Sendable static func ofThisDevice() async -> [StoreKitStatement] {
            var statements: [StoreKitStatement] = []
            var groups: Set<String> = []
            for await result in StoreKit.Transaction.currentEntitlements {
                guard case .verified(let transaction) = result else { continue }
                statements.append(
                    StoreKitStatement(
                        transaction: transaction.jsonRepresentation,
                        signedTransaction: result.jwsRepresentation
                    )
                )
                if let group = transaction.subscriptionGroupID { groups.insert(group) }
            }
            for group in groups.sorted() {
                let all = (try? await Product.SubscriptionInfo.status(for: group)) ?? []
                for status in all {
                    guard case .verified(let transaction) = status.transaction,
                        case .verified(let renewal) = status.renewalInfo
                    else { continue }
                    statements.append(
                        StoreKitStatement(
                            transaction: transaction.jsonRepresentation,
                            renewalInfo: renewal.jsonRepresentation,
                            status: status.state.rawValue
                        )
                    )
                }
            }
            return statements
        }
    }
#endif
