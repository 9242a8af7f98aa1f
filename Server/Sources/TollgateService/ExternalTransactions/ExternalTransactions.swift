internal import GooglePlayConnector
internal import Reports
internal import Storage
internal import Stores
internal import StripeConnector
public import TollgateAPI
internal import TollgateCore

/// Reports to Google what Stripe sold to people whom an Android app led there.
///
/// https://developer.android.com/google/play/billing/outside-gpb-backend
public struct ExternalTransactions: Sendable {
    let records: RecordStore
    let googlePlay: GooglePlayConnector

    /// Reports every payment and refund of a purchase that Google does not have yet.
    ///
    /// - Throws: refusals 400 `parameter_missing`, `parameter_invalid`; 404 `resource_missing`,
    ///   `app_unknown`; 409 `nothing_paid`; 429 `rate_limited`; 502 and 503 `store_unavailable`.
    public func report(
        _ request: API.GooglePlayExternalTransactionsRequest
    ) async throws -> API.GooglePlayExternalTransactions {
        let record = try await record(request.purchase)
        let percent = request.includedTaxPercent ?? 0
        guard percent >= 0, percent < 100 else {
            throw Refusal.invalid("included_tax_percent", "A tax is 0 to less than 100 per cent.")
        }
        var rows = Reports.PurchaseRows()
        StripeRows().add(record, in: records.history, { _ in "" }, to: &rows)
        let paid = PaidOutside(rows.sales)
        guard !paid.payments.isEmpty else {
            throw Refusal.conflict(
                "nothing_paid",
                "Nothing was paid for this purchase yet; report it once it is.",
                param: "purchase"
            )
        }
        guard let region = request.regionCode ?? paid.country else {
            throw Refusal.missingParameter("region_code")
        }
        guard region.utf8.count == 2, region.utf8.allSatisfy({ (0x41...0x5A).contains($0) }) else {
            throw Refusal.invalid("region_code", "A country is two capitals: 'FR'.")
        }
        let reports = try await googlePlay.report(
            ExternalPurchase(
                payments: paid.payments.map { $0.reported(of: record, includedTax: percent) },
                isSubscription: record.subscription != nil,
                token: request.externalTransactionToken,
                region: region,
                administrativeArea: request.administrativeArea
            ),
            in: request.packageName
        )
        return API.GooglePlayExternalTransactions(
            purchase: record.key.canonical,
            externalTransactions: reports.map { report in
                .init(id: report.id, state: report.state, new: report.isNew)
            }
        )
    }

    /// The purchase at Stripe of this key.
    private func record(_ canonical: String) async throws -> Purchase {
        guard let key = Purchase.Key(canonical: canonical) else {
            throw Refusal.invalid(
                "purchase",
                "A purchase is named as entitlements name it: stripe/production/-/sub_1."
            )
        }
        switch key.store {
        case .stripe: break
        case .appStore, .googlePlay, .tollgate:
            throw Refusal.invalid(
                "purchase",
                "Only purchases at Stripe are reported to Google as external transactions."
            )
        }
        guard let record = try await records.record(of: key) else {
            throw Refusal.missing("purchase", canonical, param: "purchase")
        }
        return record
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
    /// The payment in the form that Google wants: millionths, with the tax apart.
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
