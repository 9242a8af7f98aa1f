internal import Reports

/// Google Play's expected fee.
struct GooglePlayTerms: Hashable, Sendable {
    /// Hundredths of a percent of the price without tax.
    ///
    /// 10 % of auto-renewing subscriptions and of the first million a year, and 5 % for Google Play's
    /// billing.
    var share: Int64 = 1_500

    var fee: Finance.Terms.StoreFee {
        Finance.Terms.StoreFee(left: 10_000 - share, isReturned: true)
    }

    /// The expected fee of a price without tax.
    func fee(of price: Finance.Money) -> Finance.Money {
        price.scaled(by: Finance.Ratio(basisPoints: share)).rounded
    }

    /// The split of a sale or refund that no earnings report has yet: as its order states it, else by the
    /// usual fee.
    ///
    /// - Parameter tax: the tax in the estimated sales; `nil`: unknown. The order's counts before it, and
    ///   without either none is taken off.
    func estimate(_ movement: Finance.Movement, taxed tax: Finance.Money?) -> Finance.Settlement {
        let gross = movement.gross
        func signed(_ money: Finance.Money?) -> Finance.Money? {
            guard let money, money.currency == gross.currency else { return nil }
            return movement.kind == .charge ? money : -money
        }
        let deducted = signed(movement.tax) ?? signed(tax)
        let price = deducted.map { gross - $0 } ?? gross
        guard let stated = signed(movement.proceeds)?.rounded else {
            let net = price.scaled(by: Finance.Ratio(basisPoints: 10_000 - share)).rounded
            return Finance.Settlement(net: net, tax: deducted, commission: price - net)
        }
        // In some countries the tax is paid out, for the developer to pay it on.
        let isPaidOut =
            stated.millionths.magnitude > price.millionths.magnitude
            && stated.millionths.magnitude <= gross.millionths.magnitude
        return Finance.Settlement(
            net: stated,
            tax: isPaidOut ? .zero(gross.currency) : deducted,
            commission: (isPaidOut ? gross : price) - stated
        )
    }

    /// The split of a sale or refund as the earnings report has it.
    ///
    /// Tax is what neither Google nor we keep: it never was in the charge, or was taken out of it.
    func settlement(
        of movement: Finance.Movement,
        reportedBy booking: GooglePlayEarnings,
        payout: String?
    ) -> Finance.Settlement? {
        guard let net = booking.earned else { return nil }
        let gross = movement.gross
        var settlement = Finance.Settlement(
            net: net,
            line: booking.place,
            payout: payout,
            country: booking.country
        )
        guard let split = booking.split, split.price.currency == gross.currency else {
            return settlement
        }
        settlement.commission = -split.fee
        settlement.tax = gross - split.price - split.tax
        return settlement
    }
}
