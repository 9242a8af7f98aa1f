public import StrictJSON

extension Stripe {
    /// What one charge, refund, dispute, fee or payout did to the account's balance.
    ///
    /// https://docs.stripe.com/api/balance_transactions/object
    public struct BalanceTransaction: IdentifiedObject {
        public static let objectName = "balance_transaction"

        public let id: String
        /// When Stripe booked it.
        public let created: Int64
        /// When it can go to the bank.
        public let availableOn: Int64
        /// Before fees; negative where money went.
        public let amount: Int64
        /// ISO 4217 in lower case: the currency of the balance, not always the customer's.
        public let currency: String
        public let fee: Int64
        /// The part of the fee that is tax: `fee_details` of the types `tax` and `withheld_tax`.
        public let feeTax: Int64
        public let net: Int64
        /// The rate from the customer's currency into this one, as it is written.
        public let exchangeRate: String?
        /// `charge`, `refund`, `dispute`, `payout`, …: what accounts go by.
        public let reportingCategory: String
        /// `charge`, `payment`, `adjustment`, `stripe_fee`, …: more of them than categories.
        public let type: String
        /// The charge, refund, dispute or payout, or its id.
        public let source: Source?
        public let description: String?
        public let json: JSON

        public init(_ json: JSON) throws(DecodingError) {
            let fields = try Fields(json, of: Self.self)
            id = try fields.string("id")
            created = try fields.integer("created")
            availableOn = try fields.integer("available_on")
            amount = try fields.integer("amount")
            currency = try fields.string("currency")
            fee = try fields.integer("fee")
            net = try fields.integer("net")
            type = try fields.string("type")
            reportingCategory = try fields.optionalString("reporting_category") ?? type
            exchangeRate = fields.value("exchange_rate")?.number
            source = try fields.value("source").map { value throws(DecodingError) in
                try Source(value)
            }
            description = try fields.optionalString("description")
            var tax: Int64 = 0
            for detail in fields.value("fee_details").map({ Array($0.elements) }) ?? [] {
                let detail = try Fields(detail, of: "balance_transaction.fee_details")
                guard ["tax", "withheld_tax"].contains(try detail.string("type")) else { continue }
                tax = tax.addingReportingOverflow(try detail.integer("amount")).partialValue
            }
            feeTax = tax
            self.json = json
        }

        /// What a balance transaction is about; of many kinds, so only what it says of itself.
        public struct Source: Hashable, Sendable {
            public let id: String
            /// The payment behind a charge, refund or dispute, if the request asked to expand it.
            public let paymentIntent: String?
            /// Whether real money is behind it, if it was expanded and says so.
            public let livemode: Bool?

            init(_ json: JSON) throws(DecodingError) {
                if let id = json.string {
                    self.id = id
                    paymentIntent = nil
                    livemode = nil
                    return
                }
                let fields = try Fields(json, of: "balance_transaction.source")
                id = try fields.string("id")
                livemode = try fields.optionalBool("livemode")
                let intent = fields.value("payment_intent")
                paymentIntent = intent?.string ?? intent?["id"]?.string
            }
        }
    }

    /// Money sent from the balance to the bank.
    ///
    /// https://docs.stripe.com/api/payouts/object
    public struct Payout: IdentifiedObject {
        public static let objectName = "payout"

        public let id: String
        /// When Stripe made it.
        public let created: Int64
        /// When the bank has it, or should.
        public let arrivalDate: Int64
        public let amount: Int64
        /// ISO 4217 in lower case.
        public let currency: String
        public let status: Status
        /// Made by the schedule: then Stripe says which transactions went with it.
        public let automatic: Bool
        public let json: JSON

        public init(_ json: JSON) throws(DecodingError) {
            let fields = try Fields(json, of: Self.self)
            id = try fields.string("id")
            created = try fields.integer("created")
            arrivalDate = try fields.integer("arrival_date")
            amount = try fields.integer("amount")
            currency = try fields.string("currency")
            status = try fields.word("status")
            automatic = try fields.optionalBool("automatic") ?? false
            self.json = json
        }

        /// How far it went.
        public struct Status: OpenEnum {
            public let rawValue: String
            public init(rawValue: String) { self.rawValue = rawValue }
        }
    }
}
