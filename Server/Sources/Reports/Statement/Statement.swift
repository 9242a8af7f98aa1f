public import TollgateCore

extension Finance {
    /// What a calendar month brought, and what of it the stores have paid or will pay.
    public struct Statement: Hashable, Sendable {
        /// All payments of one store in one currency.
        public struct Total: Hashable, Codable, Sendable {
            public var store: Store
            /// The currency that customers paid in.
            public var currency: String
            /// The currency of the payout.
            public var netCurrency: String
            public var charges = 0
            public var gross: Money
            public var refunds = 0
            public var refunded: Money
            public var disputes = 0
            public var disputed: Money
            /// The sum over payments whose tax is known; `nil` where it is known of none, since the
            /// reports pay in another currency.
            public var tax: Money?
            public var commission: Money?
            public var net: Money
            /// The number of payments that no report covers yet.
            public var estimated = 0

            enum CodingKeys: String, CodingKey {
                case store, currency
                case netCurrency = "net_currency"
                case charges, gross, refunds, refunded, disputes, disputed, tax, commission, net
                case estimated
            }
        }

        /// The movements of a store's balance in one currency; opening and movements make the closing.
        public struct Balance: Hashable, Codable, Sendable {
            public var currency: String
            /// Whether the opening balance is the store's own, or the sum of the transactions that are
            /// here.
            public var basis: Payment.Basis
            public var opening: Money
            public var charges: Money
            public var refunds: Money
            public var disputes: Money
            public var fees: Money
            /// Corrections, taxes and whatever else the store books.
            public var other: Money
            public var payouts: Money
            public var closing: Money
        }

        /// One store's payouts, and the movements of its balance.
        public struct StoreMonth: Hashable, Sendable {
            public var store: Store
            /// Payouts that arrive in the month, or pay for a time that ends in it.
            public var payouts: [Payout]
            /// `nil` for a store that keeps no balance, but pays for each month.
            public var balances: [Balance]?

            public init(store: Store, payouts: [Payout], balances: [Balance]? = nil) {
                self.store = store
                self.payouts = payouts
                self.balances = balances
            }
        }

        /// `YYYY-MM`.
        public var month: String
        public var environment: StoreEnvironment
        public var totals: [Total]
        public var stores: [StoreMonth]

        /// - Parameters:
        ///   - month: any day of it.
        ///   - payments: of this and other months.
        ///   - stores: with payouts of this and other months.
        public init(
            month: Day,
            environment: StoreEnvironment,
            payments: [Payment],
            stores: [StoreMonth]
        ) {
            self.month = month.month
            self.environment = environment
            let name = month.month
            totals = Self.totals(
                payments.filter {
                    $0.environment == environment && Day(utc: $0.at).month == name
                }
            )
            self.stores = stores.map { store in
                var store = store
                store.payouts = store.payouts.filter {
                    $0.arrival.month == name || $0.last?.month == name
                }.sorted {
                    ($0.arrival, $0.id, $0.amount.currency) < (
                        $1.arrival, $1.id, $1.amount.currency
                    )
                }
                return store
            }
        }

        private static func totals(_ payments: [Payment]) -> [Total] {
            var totals: [String: Total] = [:]
            for payment in payments where payment.store.isSelling {
                // What cost nothing in no currency is no payment.
                guard !payment.gross.currency.isEmpty, !payment.gross.isZero else { continue }
                let key =
                    "\(payment.store.rawValue) \(payment.gross.currency) \(payment.net.currency)"
                var total = totals[key] ?? Total(payment)
                total.add(payment)
                totals[key] = total
            }
            return totals.sorted { $0.key < $1.key }.map(\.value)
        }
    }
}

extension Finance.Statement: Encodable {
    public func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: NameKey.self)
        try fields.encode(month, forKey: NameKey("month"))
        try fields.encode(environment, forKey: NameKey("environment"))
        try fields.encode(totals, forKey: NameKey("totals"))
        for part in stores {
            try fields.encode(part.payouts, forKey: NameKey("\(part.store.rawValue)_payouts"))
            try fields.encodeIfPresent(
                part.balances,
                forKey: NameKey("\(part.store.rawValue)_balances")
            )
        }
    }
}

extension Finance.Statement.Total {
    fileprivate init(_ payment: Finance.Payment) {
        let zero = Finance.Money.zero(payment.gross.currency)
        store = payment.store
        currency = payment.gross.currency
        netCurrency = payment.net.currency
        gross = zero
        refunded = zero
        disputed = zero
        net = .zero(payment.net.currency)
    }

    fileprivate mutating func add(_ payment: Finance.Payment) {
        switch payment.kind {
        case .charge:
            charges += 1
            gross = gross + payment.gross
        case .refund:
            refunds += 1
            refunded = refunded + payment.gross
        case .dispute:
            disputes += 1
            disputed = disputed + payment.gross
        }
        tax = Self.sum(tax, payment.tax)
        commission = Self.sum(commission, payment.commission)
        net = net + payment.net
        if payment.basis == .estimated { estimated += 1 }
    }

    private static func sum(_ left: Finance.Money?, _ right: Finance.Money?) -> Finance.Money? {
        guard let left, let right else { return left ?? right }
        return left.currency == right.currency ? left + right : left
    }
}

extension Finance.Statement.Balance {
    /// The movements of a store's balance in each currency.
    ///
    /// - Parameters:
    ///   - month: `YYYY-MM`.
    ///   - opening: the balance at the start of the month, in each currency; `nil`: unknown, and the sum
    ///     of all earlier `lines` stands for it.
    ///   - lines: the balance's transactions up to the end of the month: all of them, or those of the
    ///     month where `opening` is known.
    public static func balances(
        of month: String,
        opening: [Finance.Money]?,
        lines: [Finance.BalanceLine]
    ) -> [Self] {
        let basis: Finance.Payment.Basis = opening == nil ? .estimated : .reported
        var balances: [String: Self] = [:]
        for amount in opening ?? [] {
            balances[amount.currency] = Self(amount, basis)
        }
        for line in lines where line.day.month <= month {
            let isBefore = line.day.month < month
            guard !isBefore || opening == nil else { continue }
            let currency = line.net.currency
            var balance = balances[currency] ?? Self(.zero(currency), basis)
            balance.add(line, isBefore: isBefore)
            balances[currency] = balance
        }
        return balances.sorted { $0.key < $1.key }.map(\.value)
    }

    fileprivate init(_ opening: Finance.Money, _ basis: Finance.Payment.Basis) {
        let zero = Finance.Money.zero(opening.currency)
        self.init(
            currency: opening.currency,
            basis: basis,
            opening: opening,
            charges: zero,
            refunds: zero,
            disputes: zero,
            fees: zero,
            other: zero,
            payouts: zero,
            closing: opening
        )
    }

    fileprivate mutating func add(_ line: Finance.BalanceLine, isBefore: Bool) {
        closing = closing + line.net
        guard !isBefore else {
            opening = opening + line.net
            return
        }
        if line.fee.currency == currency { fees = fees - line.fee }
        switch line.kind {
        case .charge: charges = charges + line.amount
        case .refund: refunds = refunds + line.amount
        case .dispute: disputes = disputes + line.amount
        case .fee: fees = fees + line.amount
        case .payout: payouts = payouts + line.amount
        case .tax, .correction, .other: other = other + line.amount
        }
    }
}
