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
            /// What the store usually keeps.
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
        public var at: Instant
        public var quantity: Int64
        /// What the customer paid, tax included, or got back.
        public var gross: Money
        /// The tax that the store took out of it; nil where the report does not let one tell.
        public var tax: Money?
        /// What the store kept: commission or fee.
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
            case store, environment, kind, id, payment, product, customer, country
            case at, quantity, gross, tax, commission, net, basis, line, payout
            case refunded, disputed
        }
    }

    /// The payments of the record with what the stores' reports say of them.
    ///
    /// - Parameters:
    ///   - movements: the record's.
    ///   - reported: what was matched, of the App Store's reports the more binding one last.
    public static func payments(
        _ movements: [Movement],
        appStore reported: [AppStoreMatching.Pair],
        stripe balance: [StripeMatching.Pair],
        terms: Terms = Terms()
    ) -> [Payment] {
        var lines: [Movement: AppStoreLine] = [:]
        for pair in reported where pair.isSamePrice { lines[pair.movement] = pair.line }
        var balances: [Movement: [BalanceLine]] = [:]
        for pair in balance { balances[pair.movement] = pair.lines }
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
            switch movement.store {
            case .appStore: payment.settle(movement, lines[movement], terms)
            case .stripe: payment.settle(movement, balances[movement] ?? [], terms)
            case .tollgate: break
            }
            if movement.kind == .charge {
                let sums = back["\(movement.environment.rawValue) \(movement.payment)"]
                payment.refunded = sums?.refunded
                payment.disputed = sums?.disputed
            }
            return payment
        }.sorted { ($0.at, $0.id, $0.kind.rawValue) < ($1.at, $1.id, $1.kind.rawValue) }
    }
}

extension Finance.Payment {
    fileprivate init(_ movement: Finance.Movement) {
        let gross = movement.kind == .charge ? movement.amount : -movement.amount
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
            at: movement.at,
            quantity: movement.quantity,
            gross: gross,
            net: gross,
            basis: .estimated
        )
    }

    /// What Apple keeps of it, by the report's line or by the usual shares.
    fileprivate mutating func settle(
        _ movement: Finance.Movement,
        _ line: Finance.AppStoreLine?,
        _ terms: Finance.Terms
    ) {
        guard let line else {
            let share = Finance.Ratio(basisPoints: terms.fee(of: movement).left)
            net = gross.scaled(by: share).rounded
            tax = .zero(gross.currency)
            commission = gross - net
            return
        }
        basis = .reported
        self.line = line.place
        country = line.country.isEmpty ? country : line.country
        let sign: Int64 = movement.kind == .charge ? 1 : -1
        net = line.proceeds.times(movement.quantity * sign)
        guard net.currency == gross.currency else { return }
        let taxed = terms.net(line.price, of: line.country)
        let shares = [Finance.Terms.fullRate, Finance.Terms.reducedRate].map {
            Finance.Ratio(basisPoints: $0)
        }
        if shares.contains(where: { line.price.scaled(by: $0).isAbout(line.proceeds) }) {
            tax = .zero(gross.currency)
        } else if shares.contains(where: { taxed.scaled(by: $0).isAbout(line.proceeds) }) {
            tax = gross - terms.net(gross, of: line.country).rounded
        }
        commission = tax.map { gross - $0 - net }
    }

    /// What Stripe keeps of it, by its balance transactions or by the usual fee.
    fileprivate mutating func settle(
        _ movement: Finance.Movement,
        _ lines: [Finance.BalanceLine],
        _ terms: Finance.Terms
    ) {
        guard let first = lines.first,
            lines.allSatisfy({ $0.net.currency == first.net.currency })
        else {
            // Of what goes back Stripe keeps nothing more, and returns nothing of its fee.
            // https://docs.stripe.com/refunds#refund-processing-fees
            let fee = movement.kind == .charge ? terms.stripeFee(of: gross) : .zero(gross.currency)
            guard let fee else { return }
            commission = fee
            tax = .zero(gross.currency)
            net = gross - fee
            return
        }
        basis = .reported
        line = first.id
        payout = first.payout
        let zero = Finance.Money.zero(first.net.currency)
        net = lines.reduce(zero) { $0 + $1.net }
        let fees = lines.reduce(zero) { $0 + $1.fee }
        guard zero.currency == gross.currency else { return }
        tax = .zero(gross.currency)
        commission = fees
    }
}
