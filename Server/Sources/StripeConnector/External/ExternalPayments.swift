internal import Reports
internal import Storage
public import Stores
public import TollgateCore

extension StripeConnector {
    /// The payments of a purchase, in the form in which they are reported to the store whose app led here.
    ///
    /// - Parameter percent: the tax that prices include, where no invoice states it.
    /// - Returns: the first payment first, the payer's country where Stripe knows it, and whether it is a
    ///   plan.
    public func externalPayments(
        of record: Purchase,
        includedTax percent: Double
    ) -> (payments: [ExternalPurchase.Payment], country: String?, isSubscription: Bool) {
        var found = Reports.PurchaseRows()
        StripeRows().add(record, in: context.records.history, { _ in "" }, to: &found)
        let paid = PaidOutside(found.sales)
        let payments = paid.payments.map { $0.reported(of: record, includedTax: percent) }
        return (payments, paid.country, record.subscription != nil)
    }
}

/// The payments in the sales of one purchase.
private struct PaidOutside {
    /// The first one first.
    private(set) var payments: [Payment] = []
    /// The payer's country; `nil` where Stripe does not know it.
    private(set) var country: String?

    struct Payment {
        var id: String
        var currency: String
        var paid: Instant
        /// Milliunits, with tax.
        var amount: Int64 = 0
        var refunds: [(id: String, amount: Int64, at: Instant)] = []
    }

    init(_ sales: [Reports.Sale]) {
        let sorted = sales.sorted {
            ($0.purchased, $0.at, $0.payment ?? "", $0.refund ?? "")
                < ($1.purchased, $1.at, $1.payment ?? "", $1.refund ?? "")
        }
        for sale in sorted {
            let id = sale.payment ?? sale.purchase.id
            if country == nil, !sale.country.isEmpty { country = sale.country }
            switch sale.kind {
            case .charge:
                let index = index(of: id, sale)
                payments[index].amount &+= sale.amount
            case .refund, .chargeback:
                let index = index(of: id, sale)
                let refund = sale.refund ?? "\(id)-\(sale.at.milliseconds)"
                if let known = payments[index].refunds.firstIndex(where: { $0.id == refund }) {
                    payments[index].refunds[known].amount &+= sale.amount
                } else {
                    payments[index].refunds.append((refund, sale.amount, sale.at))
                }
            }
        }
    }

    private mutating func index(of id: String, _ sale: Reports.Sale) -> Int {
        if let index = payments.firstIndex(where: { $0.id == id }) { return index }
        payments.append(Payment(id: id, currency: sale.currency, paid: sale.purchased))
        return payments.count - 1
    }
}

extension PaidOutside.Payment {
    /// The payment with its tax apart, in millionths.
    fileprivate func reported(
        of record: Purchase,
        includedTax percent: Double
    ) -> ExternalPurchase.Payment {
        let tax = min(amount, tax(of: record, percent))
        func micros(_ milliunits: Int64) -> Int64 { Int64(clamping: Int128(milliunits) * 1000) }
        // Together they are exactly what all that went back was without tax.
        var (back, told): (Int64, Int64) = (0, 0)
        let refunds = refunds.map { refund in
            back &+= refund.amount
            let share =
                amount > 0 ? Int128(back) * Int128(amount - tax) / Int128(amount) : 0
            let part = Int64(clamping: share) &- told
            told &+= part
            return ExternalPurchase.Refund(id: refund.id, preTax: micros(part), at: refund.at)
        }
        return ExternalPurchase.Payment(
            id: id,
            currency: currency,
            preTax: micros(amount - tax),
            tax: micros(tax),
            paid: paid,
            refunds: refunds
        )
    }

    /// The tax in the amount, in milliunits: as the invoice states it on top of the price, else what
    /// the price includes.
    private func tax(of record: Purchase, _ percent: Double) -> Int64 {
        let invoice = record.invoices.first { $0.value.id == id }?.value
        let onTop = (invoice?.lines ?? []).reduce(Int128(0)) { $0 + Int128(max(0, $1.tax ?? 0)) }
        let total = Int128(invoice.map { $0.total ?? $0.amount } ?? 0)
        guard onTop == 0 || total <= 0 else {
            return Int64(clamping: Int128(amount) * min(onTop, total) / total)
        }
        return Int64((Double(amount) * percent / (100 + percent)).rounded())
    }
}
