internal import Reports
internal import StripeAPI
internal import TollgateCore

extension Finance.BalanceLine {
    /// What a balance transaction says, in the words of accounts.
    ///
    /// - Parameters:
    ///   - invoice: the invoice that its payment paid, where somebody has read it.
    ///   - environment: whose balance it is.
    init(
        _ transaction: Stripe.BalanceTransaction,
        paying invoice: String? = nil,
        in environment: StoreEnvironment?
    ) {
        func money(_ minorUnits: Int64) -> Finance.Money {
            Finance.Money(minorUnits: minorUnits, currency: transaction.currency)
        }
        self.init(
            id: transaction.id,
            environment: environment,
            kind: Kind(
                category: transaction.reportingCategory,
                type: transaction.type,
                source: transaction.source?.id
            ),
            category: transaction.reportingCategory,
            source: transaction.source?.id,
            payment: transaction.source?.paymentIntent,
            invoice: invoice,
            created: Instant(seconds: transaction.created),
            available: Instant(seconds: transaction.availableOn),
            amount: money(transaction.amount),
            fee: money(transaction.fee),
            feeTax: money(transaction.feeTax),
            net: money(transaction.net),
            exchangeRate: transaction.exchangeRate.flatMap { Finance.Ratio(decimal: $0) },
            description: transaction.description
        )
    }
}

extension Finance.BalanceLine.Kind {
    /// By Stripe's reporting categories; an older account's rows say it by type and source.
    ///
    /// https://docs.stripe.com/reports/reporting-categories
    init(category: String, type: String, source: String?) {
        let prefix = source.map { String($0.prefix { $0 != "_" }) } ?? ""
        switch (category, prefix) {
        case (_, "dp"), (_, "du"), ("dispute", _), ("dispute_reversal", _): self = .dispute
        case ("refund", _), ("refund_failure", _), ("partial_capture_reversal", _):
            self = .refund
        case ("charge", _), ("charge_failure", _): self = .charge
        case ("payout", _), ("payout_reversal", _), ("payout_minimum_balance_hold", _):
            self = .payout
        case ("fee", _), ("network_cost", _): self = .fee
        case ("tax", _): self = .tax
        case ("other_adjustment", _): self = .correction
        default: self = Self.byType[type] ?? .other
        }
    }

    private static let byType: [String: Self] = [
        "charge": .charge, "payment": .charge, "refund": .refund, "payment_refund": .refund,
        "refund_failure": .refund, "payment_failure_refund": .refund, "payout": .payout,
        "payout_cancel": .payout, "payout_failure": .payout, "stripe_fee": .fee,
        "network_cost": .fee, "tax_fee": .tax, "adjustment": .correction,
    ]
}
