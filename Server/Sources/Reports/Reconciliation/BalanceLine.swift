public import TollgateCore

extension Finance {
    /// A balance transaction of Stripe's: what one charge, refund, dispute or fee did to the balance.
    public struct BalanceLine: Hashable, Codable, Sendable {
        /// What moved the balance.
        public enum Kind: String, Hashable, Codable, Sendable {
            case charge, refund, dispute
            /// Stripe's own fees that belong to no charge.
            case fee
            /// Taxes that Stripe collected or withheld beside a charge.
            case tax
            /// Money on its way to the bank, or back from it.
            case payout
            /// A correction of something booked before.
            case correction
            /// Whatever else Stripe books: transfers, top-ups, reserves.
            case other
        }

        /// `txn_…`.
        public var id: String
        /// Whose money it is, where that is known.
        public var environment: StoreEnvironment?
        public var kind: Kind
        /// Stripe's word for it: its reporting category.
        public var category: String
        /// `ch_…`, `re_…`, `dp_…`, `po_…`.
        public var source: String?
        /// The payment intent behind it.
        public var payment: String?
        /// The invoice that it paid.
        public var invoice: String?
        /// The payout with which it went to the bank.
        public var payout: String?
        public var created: Instant
        /// When the bank can have it.
        public var available: Instant
        /// What it did to the balance before fees; negative where it took.
        public var amount: Money
        public var fee: Money
        /// The part of the fee that is tax on it.
        public var feeTax: Money
        public var net: Money
        /// By what the customer's amount was multiplied; nil where it was in this currency.
        public var exchangeRate: Ratio?
        public var description: String?

        public init(
            id: String,
            environment: StoreEnvironment? = nil,
            kind: Kind,
            category: String,
            source: String? = nil,
            payment: String? = nil,
            invoice: String? = nil,
            payout: String? = nil,
            created: Instant,
            available: Instant,
            amount: Money,
            fee: Money,
            feeTax: Money? = nil,
            net: Money,
            exchangeRate: Ratio? = nil,
            description: String? = nil
        ) {
            self.id = id
            self.environment = environment
            self.kind = kind
            self.category = category
            self.source = source
            self.payment = payment
            self.invoice = invoice
            self.payout = payout
            self.created = created
            self.available = available
            self.amount = amount
            self.fee = fee
            self.feeTax = feeTax ?? .zero(fee.currency)
            self.net = net
            self.exchangeRate = exchangeRate
            self.description = description
        }

        /// The day on which Stripe booked it, in UTC.
        public var day: Day { Day(utc: created) }

        /// The ids under which the record may have it, the likeliest first.
        package var references: [String] {
            switch kind {
            case .charge: [invoice, payment, source].compactMap(\.self)
            case .refund, .dispute: [source].compactMap(\.self)
            default: []
            }
        }

        enum CodingKeys: String, CodingKey {
            case id, environment, kind, category, source, payment, invoice, payout, created,
                available, amount
            case fee
            case feeTax = "fee_tax"
            case net
            case exchangeRate = "exchange_rate"
            case description
        }
    }

    /// Money that a store has sent to the bank, or will.
    public struct Payout: Hashable, Codable, Sendable {
        public var store: Store
        /// `po_…`; of the App Store the fiscal month.
        public var id: String
        /// What it is for; of a payout by Stripe nil where nobody said.
        public var first: Day?
        public var last: Day?
        /// When the bank has it, or should.
        public var arrival: Day
        /// Stripe's word: `paid`, `in_transit`, …; of the App Store `reported` or `estimated`.
        public var status: String
        public var amount: Money

        public init(
            store: Store,
            id: String,
            first: Day? = nil,
            last: Day? = nil,
            arrival: Day,
            status: String,
            amount: Money
        ) {
            self.store = store
            self.id = id
            self.first = first
            self.last = last
            self.arrival = arrival
            self.status = status
            self.amount = amount
        }
    }
}
