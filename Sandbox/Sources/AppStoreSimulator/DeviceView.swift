extension SimulatedAppStore {
    /// The transaction that StoreKit hands to the app after a purchase.
    public struct SignedTransaction: Codable, Hashable, Sendable {
        public var transactionID: String
        public var originalTransactionID: String
        /// `jwsRepresentation`.
        public var jws: String

        enum CodingKeys: String, CodingKey {
            case transactionID = "transaction_id"
            case originalTransactionID = "original_transaction_id"
            case jws = "signed_transaction"
        }

        init(
            _ transaction: Transaction,
            in world: World,
            by signer: StoreSigner,
            at now: Int64
        ) throws {
            transactionID = transaction.id
            originalTransactionID = transaction.originalID
            jws = try signer.sign(transaction, in: world, at: now)
        }
    }

    /// The signed transactions that StoreKit on the customer's device would show.
    public struct DeviceView: Codable, Hashable, Sendable {
        /// Signed transactions of `Transaction.currentEntitlements`.
        public var currentEntitlements: [String]
        /// Signed transactions of `Transaction.unfinished`.
        public var unfinished: [String]
        /// The signed app transaction.
        public var appTransaction: String

        enum CodingKeys: String, CodingKey {
            case currentEntitlements = "current_entitlements"
            case unfinished
            case appTransaction = "app_transaction"
        }

        /// - Throws: `Refusal.notPossible` where the app was never downloaded.
        init(of id: String, in world: inout World, by signer: StoreSigner, at now: Int64) throws {
            let customer = try world.customer(id)
            guard customer.downloaded != nil else {
                throw Refusal.notPossible("\(id) has not downloaded the app.")
            }
            let all = world.transactionsOf(id)
            currentEntitlements = try all.filter { Purchases.isCurrent(world, $0) }
                .map { try signer.sign($0, in: world, at: now) }
            unfinished = try all.filter { !$0.isFinished }
                .map { try signer.sign($0, in: world, at: now) }
            appTransaction = try signer.sign(appTransactionOf: customer, in: &world, at: now)
        }
    }
}
