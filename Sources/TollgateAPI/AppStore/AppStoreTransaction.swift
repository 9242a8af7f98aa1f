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
        /// Whose it is; only with the secret key, a session names its customer itself.
        public var customer: String?
        /// How the app came by it; `observed` if left out.
        public var mode: SubmissionMode?

        public init(
            receiptData: String,
            customer: String? = nil,
            mode: SubmissionMode? = nil
        ) {
            self.receiptData = receiptData
            self.customer = customer
            self.mode = mode
        }

        private enum CodingKeys: String, CodingKey {
            case customer, mode
            case receiptData = "receipt_data"
        }
    }

    /// The answer once everything that the App Store says of a receipt is on disk.
    public struct AppStoreReceiptReply: Hashable, Codable, Sendable {
        /// Where the purchases were made; nil for a receipt without any.
        public var environment: Environment?
        /// The keys of the purchases, sorted.
        public var purchases: [String]
        /// How many statements were new to the journal.
        public var new: Int

        public init(environment: Environment?, purchases: [String], new: Int) {
            self.environment = environment
            self.purchases = purchases
            self.new = new
        }

        private enum CodingKeys: String, CodingKey { case environment, purchases, new }

        public func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(environment, forKey: .environment)
            try container.encode(purchases, forKey: .purchases)
            try container.encode(new, forKey: .new)
        }
    }
}
