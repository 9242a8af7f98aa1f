public import Reports

/// Stripe's expected fee.
public struct StripeTerms: Hashable, Sendable {
    /// Hundredths of a percent of the charge.
    public var share: Int64
    /// The fixed part of the fee, in millionths of the currency's main unit, by currency; fees of other
    /// currencies are not checked.
    public var fixed: [String: Int64]

    public init(share: Int64 = 290, fixed: [String: Int64] = ["USD": 300_000]) {
        self.share = share
        self.fixed = fixed
    }

    /// Stripe returns nothing of its fee with a refund (https://docs.stripe.com/refunds#refund-processing-fees).
    public var fee: Finance.Terms.StoreFee {
        Finance.Terms.StoreFee(left: 10_000 - share, fixed: fixed, isReturned: false)
    }

    /// The expected fee of one charge; `nil` for a currency whose fee is unknown.
    func fee(of amount: Finance.Money) -> Finance.Money? {
        guard let fixed = fixed[amount.currency], amount.millionths > 0 else { return nil }
        return amount.scaled(by: Finance.Ratio(basisPoints: share)).rounded
            + Finance.Money(millionths: fixed, currency: amount.currency)
    }

    /// Fee and proceeds of a payment, refund or dispute, by its balance transactions or by the usual
    /// fee; `nil` for a currency whose fee is unknown.
    package func settlement(
        of movement: Finance.Movement,
        bookedBy lines: [Finance.BalanceLine]
    ) -> Finance.Settlement? {
        let gross = movement.gross
        guard let first = lines.first,
            lines.allSatisfy({ $0.net.currency == first.net.currency })
        else {
            // A refund costs no further fee, and the charge's fee is not returned.
            // https://docs.stripe.com/refunds#refund-processing-fees
            let fee = movement.kind == .charge ? fee(of: gross) : .zero(gross.currency)
            guard let fee else { return nil }
            return Finance.Settlement(net: gross - fee, tax: .zero(gross.currency), commission: fee)
        }
        let zero = Finance.Money.zero(first.net.currency)
        var settlement = Finance.Settlement(
            net: lines.reduce(zero) { $0 + $1.net },
            line: first.id,
            payout: first.payout
        )
        guard zero.currency == gross.currency else { return settlement }
        settlement.tax = .zero(gross.currency)
        settlement.commission = lines.reduce(zero) { $0 + $1.fee }
        return settlement
    }
}
