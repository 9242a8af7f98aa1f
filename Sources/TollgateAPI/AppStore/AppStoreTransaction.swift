import Foundation

extension API {
    /// The body of `POST /v1/app_store/transactions`.
    public struct AppStoreTransactionRequest: Hashable, Codable, Sendable {
        /// StoreKit's `jwsRepresentation`.
        public var signedTransaction: String
        public var mode: SubmissionMode

        public init(signedTransaction: String, mode: SubmissionMode) {
            self.signedTransaction = signedTransaction
            self.mode = mode
        }

        private enum CodingKeys: String, CodingKey {
            case mode
            case signedTransaction = "signed_transaction"
        }
    }

    /// How the app came by a transaction; decides whether posting it claims ownership.
    public enum SubmissionMode: String, Hashable, Codable, Sendable, CaseIterable {
        /// The customer has just bought it.
        case purchased
        /// The customer asked to restore.
        case restored
        /// StoreKit showed it; claims only what nobody owns.
        case observed
    }

    /// The answer once the transaction is on disk; only then may the app call `finish()`.
    public struct AppStoreTransactionReply: Hashable, Codable, Sendable {
        public var environment: Environment
        /// The key of the purchase that it belongs to; nil while the catalog lacks its product.
        public var purchase: String?
        /// Who holds the purchase now: the session's customer, or another one.
        public var customer: String?
        /// Whether this statement was new to the journal.
        public var new: Bool

        public init(environment: Environment, purchase: String?, customer: String?, new: Bool) {
            self.environment = environment
            self.purchase = purchase
            self.customer = customer
            self.new = new
        }

        private enum CodingKeys: String, CodingKey { case environment, purchase, customer, new }

        public func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(environment, forKey: .environment)
            try container.encode(purchase, forKey: .purchase)
            try container.encode(customer, forKey: .customer)
            try container.encode(new, forKey: .new)
        }
    }

    /// The body of `POST /v1/app_store/receipts`.
    public struct AppStoreReceiptRequest: Hashable, Codable, Sendable {
        /// The app receipt of the original StoreKit, base64.
        public var receiptData: String
        public init(receiptData: String) { self.receiptData = receiptData }
        private enum CodingKeys: String, CodingKey { case receiptData = "receipt_data" }
    }
}
