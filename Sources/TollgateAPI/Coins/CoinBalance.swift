import Foundation

extension API {
    /// The answer of `GET /v1/customers/{id}/coins`.
    public struct CoinBalance: Hashable, Codable, Sendable {
        /// Credited − clawed back − spent; negative after a refund of spent coins.
        public var balance: Int64
        /// `max(0, balance)`.
        public var spendable: Int64
        /// `max(0, −balance)`.
        public var debt: Int64

        public init(balance: Int64, spendable: Int64, debt: Int64) {
            self.balance = balance
            self.spendable = spendable
            self.debt = debt
        }

        /// The two other figures follow from the balance.
        public init(balance: Int64) {
            let clamped = max(balance, -Int64.max)  // the negation below must not trap
            self.init(balance: clamped, spendable: max(0, clamped), debt: max(0, -clamped))
        }
    }

    /// The body of `POST /v1/customers/{id}/coins/spend`; comes with an `Idempotency-Key`.
    public struct SpendRequest: Hashable, Codable, Sendable {
        /// How many coins; positive.
        public var amount: Int64
        /// What for; kept and shown.
        public var reason: String?

        public init(amount: Int64, reason: String? = nil) {
            self.amount = amount
            self.reason = reason
        }
    }

    /// The answer to an accepted spend; the same one for every repetition of its key.
    public struct SpendReply: Hashable, Codable, Sendable, Identifiable {
        public var id: String
        public var amount: Int64
        public var reason: String?
        /// The balance after this spend.
        public var balance: Int64
        public var spendable: Int64
        public var debt: Int64

        public init(id: String, amount: Int64, reason: String?, after: CoinBalance) {
            self.id = id
            self.amount = amount
            self.reason = reason
            balance = after.balance
            spendable = after.spendable
            debt = after.debt
        }

        private enum CodingKeys: String, CodingKey {
            case id, amount, reason, balance, spendable, debt
        }

        public func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(id, forKey: .id)
            try container.encode(amount, forKey: .amount)
            try container.encode(reason, forKey: .reason)
            try container.encode(balance, forKey: .balance)
            try container.encode(spendable, forKey: .spendable)
            try container.encode(debt, forKey: .debt)
        }
    }
}
