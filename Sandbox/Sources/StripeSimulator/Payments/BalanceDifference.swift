extension StripeSimulator {
    /// Something on the balance that a payment alone would not lead one to expect: a conversion, a
    /// correction, a settlement that takes days.
    public struct BalanceDifference: Codable, Hashable, Sendable {
        /// What happens to the balance transaction.
        public enum Kind: String, Codable, Hashable, Sendable, CaseIterable {
            /// The charge is booked `days` later.
            case settlementDate = "settlement_date"
            /// It is booked in `currency`, at `rate`.
            case exchangeRate = "exchange_rate"
            /// `amount` of tax is added to the fee.
            case tax
            /// The fee is `amount`.
            case commissionRate = "commission_rate"
            /// The refund is booked `days` later.
            case refundTiming = "refund_timing"
            /// Stripe corrects something by `amount`.
            case lateCorrection = "late_correction"
            /// The transaction is missing.
            case missing
            /// There is a charge of `amount` that nobody made.
            case unknown
            /// `amount` more, or less, is booked.
            case amount
        }

        public var kind: Kind
        /// The charge or refund that it is about.
        public var source: String?
        public var days: Int?
        /// Ten-thousandths: 10832 books 1.0832 for each unit of the customer's currency.
        public var rate: Int?
        public var currency: String?
        /// Minor units.
        public var amount: Int?

        public init(
            _ kind: Kind,
            source: String? = nil,
            days: Int? = nil,
            rate: Int? = nil,
            currency: String? = nil,
            amount: Int? = nil
        ) {
            self.kind = kind
            self.source = source
            self.days = days
            self.rate = rate
            self.currency = currency
            self.amount = amount
        }
    }

    /// Books something otherwise than it was.
    /// - Throws: `Refusal`, if there is no such transaction.
    public func inject(_ difference: BalanceDifference) async throws {
        try await act { try Balance.inject(&$0, difference) }
    }

    /// Sends everything that is available to the bank.
    public func payOut() async throws {
        try await act { Balance.payOut(&$0) }
    }
}

extension Balance {
    static func inject(
        _ world: inout World,
        _ difference: StripeSimulator.BalanceDifference
    ) throws {
        switch difference.kind {
        case .lateCorrection:
            addUnrelated(
                &world,
                amount: difference.amount ?? -100,
                fee: 0,
                type: "adjustment",
                category: "other_adjustment",
                currency: difference.currency,
                description: "Correction of an earlier transaction"
            )
        case .unknown:
            let amount = difference.amount ?? 1_000
            addUnrelated(
                &world,
                amount: amount,
                fee: Charges.fee(of: amount),
                type: "charge",
                category: "charge",
                currency: difference.currency,
                source: world.newID(.charge)
            )
        default:
            let source = difference.source ?? ""
            guard
                let found = world.all(.balanceTransaction).first(where: {
                    $0["source"].string == source
                })
            else { throw APIError.noSuch("balance_transaction", source) }
            if difference.kind == .missing {
                _ = world.delete(.balanceTransaction, found["id"].text)
            } else {
                world.change(.balanceTransaction, found["id"].text) {
                    book(difference, &$0)
                }
            }
        }
    }

    private static func book(
        _ difference: StripeSimulator.BalanceDifference,
        _ transaction: inout JSON
    ) {
        let amount = transaction["amount"].count
        func set(amount: Int, fee: Int) {
            transaction["amount"] = .int(amount)
            transaction["fee"] = .int(fee)
            transaction["net"] = .int(amount - fee)
        }
        switch difference.kind {
        case .settlementDate, .refundTiming:
            let later = (difference.days ?? 3) * 86_400
            for name in ["created", "available_on"] {
                transaction[name] = .int(transaction[name].count + later)
            }
        case .exchangeRate:
            let rate = difference.rate ?? 9_234
            let converted = (amount * rate + 5_000) / 10_000
            transaction["currency"] = .string(difference.currency ?? "eur")
            transaction["exchange_rate"] = .double(Double(rate) / 10_000)
            let fee = amount > 0 ? Charges.fee(of: converted) : 0
            set(amount: converted, fee: fee)
            setFeeDetails(&transaction, fee)
        case .tax:
            let tax = difference.amount ?? 10
            let detail = JSON.object(
                nulls: "application",
                [
                    "amount": .int(tax), "currency": transaction["currency"],
                    "description": "Tax on processing fees", "type": "tax",
                ]
            )
            transaction["fee_details"] = .array(transaction["fee_details"].elements + [detail])
            set(amount: amount, fee: transaction["fee"].count + tax)
        case .commissionRate:
            let fee = difference.amount ?? transaction["fee"].count + 25
            set(amount: amount, fee: fee)
            setFeeDetails(&transaction, fee)
        case .amount:
            let other = amount + (difference.amount ?? -100)
            let fee = other > 0 ? Charges.fee(of: other) : transaction["fee"].count
            set(amount: other, fee: fee)
            setFeeDetails(&transaction, fee)
        case .lateCorrection, .missing, .unknown: break
        }
    }

    private static func setFeeDetails(_ transaction: inout JSON, _ fee: Int) {
        var details = transaction["fee_details"].elements
        guard !details.isEmpty else { return }
        details[0]["amount"] = .int(fee)
        details[0]["currency"] = transaction["currency"]
        transaction["fee_details"] = .array(details)
    }

    private static func addUnrelated(
        _ world: inout World,
        amount: Int,
        fee: Int,
        type: String,
        category: String,
        currency: String?,
        source: String? = nil,
        description: String? = nil
    ) {
        let made = addTransaction(
            &world,
            amount: amount,
            fee: fee,
            type: type,
            source: ["id": JSON(source), "currency": .string(currency ?? "usd")],
            category: category
        )
        world.change(.balanceTransaction, made["id"].text) { $0["description"] = JSON(description) }
    }
}
