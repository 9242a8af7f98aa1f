public import TollgateCore

extension Finance {
    /// A payment received, or what was taken back of one, with what became of the money.
    ///
    /// Amounts are positive where money came in and negative where it went.
    public struct Payment: Hashable, Codable, Sendable {
        /// Where the figures beside the gross come from.
        public enum Basis: String, Hashable, Codable, Sendable {
            /// The store's own report.
            case reported
            /// The usual commission.
            case estimated
        }

        public var store: Store
        public var environment: StoreEnvironment
        public var kind: Movement.Kind
        /// A transaction, an invoice, a payment intent, a refund, a dispute; unique.
        public var id: String
        /// The id of the charge; of a charge its own.
        public var payment: String
        public var product: String
        /// Who bought it: in the record's rows a key, in answers the customer's id.
        public var customer: String?
        public var country: String?
        /// The app that sold it, by its id in the catalog; absent where that lists no apps.
        public var app: String?
        public var at: Instant
        public var quantity: Int64
        /// What the customer paid, tax included, or got back.
        public var gross: Money
        /// The tax that the store deducted; `nil` where the report does not show it.
        public var tax: Money?
        /// The store's commission or fee.
        public var commission: Money?
        /// What is paid out, maybe in another currency.
        public var net: Money
        public var basis: Basis
        /// The line of the report, or the balance transaction.
        public var line: String?
        /// The payout with which it went to the bank.
        public var payout: String?
        /// Of a charge: what was given back since, and what is disputed or lost.
        public var refunded: Money?
        public var disputed: Money?

        enum CodingKeys: String, CodingKey {
            case store, environment, kind, id, payment, product, customer, country, app
            case at, quantity, gross, tax, commission, net, basis, line, payout
            case refunded, disputed
        }
    }

    /// The split of one movement's money: tax, the store's commission, and what is paid out.
    public struct Settlement: Hashable, Sendable {
        /// What is paid out, maybe in another currency; negative where money goes back.
        public var net: Money
        /// The tax that the store deducted; `nil`: unknown.
        public var tax: Money?
        /// The store's commission; `nil`: unknown.
        public var commission: Money?
        /// The line of the store's report; `nil`: an estimate by the usual commission.
        public var line: String?
        /// The payout with which it went to the bank.
        public var payout: String?
        /// The country of the sale in the store's report.
        public var country: String?

        public init(
            net: Money,
            tax: Money? = nil,
            commission: Money? = nil,
            line: String? = nil,
            payout: String? = nil,
            country: String? = nil
        ) {
            self.net = net
            self.tax = tax
            self.commission = commission
            self.line = line
            self.payout = payout
            self.country = country
        }
    }

    /// The payments of the record with what became of their money.
    ///
    /// - Parameters:
    ///   - movements: the record's.
    ///   - settlement: what the store's report says of a movement, else what it usually keeps; nil
    ///     where nobody knows.
    public static func payments(
        _ movements: [Movement],
        settled settlement: (Movement) -> Settlement?
    ) -> [Payment] {
        var back: [String: (refunded: Money?, disputed: Money?)] = [:]
        for movement in movements where movement.kind != .charge {
            let key = "\(movement.environment.rawValue) \(movement.payment)"
            var sums = back[key] ?? (nil, nil)
            if movement.kind == .refund {
                sums.refunded = sums.refunded.map { $0 + movement.amount } ?? movement.amount
            } else {
                sums.disputed = sums.disputed.map { $0 + movement.amount } ?? movement.amount
            }
            back[key] = sums
        }
        return movements.filter { !$0.isFamilyShared }.map { movement in
            var payment = Payment(movement)
            if let settlement = settlement(movement) { payment.settle(settlement) }
            if movement.kind == .charge {
                let sums = back["\(movement.environment.rawValue) \(movement.payment)"]
                payment.refunded = sums?.refunded
                payment.disputed = sums?.disputed
            }
            return payment
        }.sorted { ($0.at, $0.id, $0.kind.rawValue) < ($1.at, $1.id, $1.kind.rawValue) }
    }
}

extension Finance.Movement {
    /// The amount, negative where it went back.
    package var gross: Finance.Money { kind == .charge ? amount : -amount }
}

extension Finance.Payment {
    fileprivate init(_ movement: Finance.Movement) {
        self.init(
            store: movement.store,
            environment: movement.environment,
            kind: movement.kind,
            // The App Store knows a refund by the transaction that it takes back.
            id: movement.kind != .charge && movement.id == movement.payment
                ? movement.id + ".refund" : movement.id,
            payment: movement.payment,
            product: movement.product,
            customer: movement.customer,
            country: movement.country,
            app: movement.app,
            at: movement.at,
            quantity: movement.quantity,
            gross: movement.gross,
            net: movement.gross,
            basis: .estimated
        )
    }

    fileprivate mutating func settle(_ settlement: Finance.Settlement) {
        net = settlement.net
        tax = settlement.tax
        commission = settlement.commission
        basis = settlement.line == nil ? .estimated : .reported
        line = settlement.line
        payout = settlement.payout
        country = settlement.country ?? country
    }
}
