public import Reports
public import TollgateCore

/// The sales and periods of what Stripe sold.
public struct StripeRows: StoreRows {
    public let store = Store.stripe

    public init() {}

    public func add(
        _ purchase: Purchase,
        in history: CatalogHistory,
        _ customer: (HolderNames) throws -> String,
        to rows: inout Reports.PurchaseRows
    ) rethrows {
        let buyer = try customer(purchase.stripeBuyer)
        if let payment = purchase.payment, payment.isComplete, payment.isPaid {
            rows.sales += Self.sales(of: payment, purchase, in: history, buyer)
        }
        let invoices = purchase.invoices.filter(\.value.isPaid).sorted {
            ($0.charged, $0.value.id) < ($1.charged, $1.value.id)
        }
        var periods = StripePeriods(purchase, in: history, buyer)
        for (index, invoice) in invoices.enumerated() {
            let charges = Self.charges(
                of: invoice,
                purchase,
                in: history,
                buyer,
                isRenewal: index > 0
            )
            for charge in charges { periods.add(charge, of: invoice) }
            rows.sales += charges.map(\.sale)
            rows.sales += Self.takenBack(
                charges.map(\.sale),
                of: invoice.value.amount,
                currency: invoice.value.currency,
                paying: invoice.value.id,
                purchase
            )
        }
        rows.periods += periods.rows
    }

    // MARK: - One-time payments

    private static func sales(
        of record: PaymentRecord,
        _ purchase: Purchase,
        in history: CatalogHistory,
        _ buyer: String
    ) -> [Reports.Sale] {
        let payment = record.payment
        // What was bought is read later; the money counts at once.
        let lines = record.lines ?? [StripePayment.Line(price: "", quantity: 1)]
        let known = lines.map {
            Reports.product($0.price, of: .stripe, at: payment.created, in: history)
        }
        let weights = zip(lines, known).map { line, known in
            let price = max(1, min(known.known?.price?.amount ?? 1, 1_000_000))
            return price * max(1, min(line.quantity, 1_000_000))
        }
        let currency = payment.currency.uppercased()
        let amount = Reports.Currency.milliunits(minor: max(0, payment.amount), currency: currency)
        let parts = Reports.parts(of: amount, by: weights)
        // The page may have been opened a day before it was paid, and a bank debit takes days.
        let paid = record.paid ?? payment.created
        let sales = lines.indices.map { index in
            Reports.Sale(
                kind: .charge,
                store: .stripe,
                environment: purchase.key.environment,
                purchase: purchase.key,
                transaction: lines[index].price,
                lot: lines[index].price,
                payment: purchase.key.id,
                product: known[index].id,
                storeProduct: lines[index].price,
                productKind: known[index].known?.kind,
                country: record.country ?? "",
                currency: currency,
                amount: parts[index],
                quantity: lines[index].quantity,
                offer: .none,
                purchased: paid,
                at: paid,
                isRenewal: false,
                isAfterOneYear: false,
                isFamilyShared: false,
                customer: buyer
            )
        }
        return sales
            + takenBack(sales, of: payment.amount, currency: currency, paying: nil, purchase)
    }

    // MARK: - Invoices

    /// A line of a paid invoice: what was really paid for it, and its price.
    ///
    /// The two differ where a change of plan gave something back, where the customer's balance paid
    /// and where a tax came on top: that is cash, and the plan costs what it costs.
    struct StripeCharge {
        var line: StripeInvoice.Line
        var sale: Reports.Sale
        var price: Int64
    }

    /// The lines of an invoice that something was charged for, or that begin a trial.
    private static func charges(
        of invoice: Newest<StripeInvoice>,
        _ purchase: Purchase,
        in history: CatalogHistory,
        _ buyer: String,
        isRenewal: Bool
    ) -> [StripeCharge] {
        let currency = invoice.value.currency.uppercased()
        let lines = invoice.value.lines.filter {
            $0.amount > 0 || isTrial($0, of: invoice, in: history)
        }
        let paid = Reports.Currency.milliunits(
            minor: max(0, invoice.value.amount),
            currency: currency
        )
        let parts = Reports.parts(of: paid, by: owed(for: lines, of: invoice.value))
        let full = lines.map { Reports.Currency.milliunits(minor: $0.amount, currency: currency) }
        let prices = prices(of: lines, invoice.value, currency)
        return lines.indices.map { index in
            let (line, amount) = (lines[index], parts[index])
            let product = Reports.product(line.price, of: .stripe, at: line.start, in: history)
            let offer: Reports.Offer =
                line.amount == 0 ? .trial : prices[index] < full[index] ? .discount : .none
            let sale = Reports.Sale(
                kind: .charge,
                store: .stripe,
                environment: purchase.key.environment,
                purchase: purchase.key,
                transaction: line.id,
                lot: line.id,
                payment: invoice.value.id,
                product: product.id,
                storeProduct: line.price,
                productKind: product.known?.kind,
                country: invoice.value.country ?? purchase.buyer?.value.country ?? "",
                currency: currency,
                amount: amount,
                quantity: max(0, line.quantity),
                offer: offer,
                purchased: invoice.charged,
                at: invoice.charged,
                isRenewal: isRenewal,
                isAfterOneYear: false,
                isFamilyShared: false,
                customer: buyer
            )
            return StripeCharge(line: line, sale: sale, price: prices[index])
        }
    }

    /// What was owed for each of `lines`, in minor units: its amount without its discounts, with the
    /// tax on top, and less what its own item was credited; other credits lower all in proportion.
    private static func owed(
        for lines: [StripeInvoice.Line],
        of invoice: StripeInvoice
    ) -> [Int64] {
        var owed = lines.map { max(0, $0.net) }
        var rest: Int64 = 0
        for credit in invoice.lines where credit.amount < 0 {
            var left = 0 &- credit.net
            for index in lines.indices where credit.item != nil && credit.item == lines[index].item
            {
                let taken = max(0, min(left, owed[index]))
                owed[index] -= taken
                left -= taken
            }
            rest = sum([rest, max(0, left)])
        }
        guard rest < sum(owed) else { return lines.map(\.amount) }
        return zip(owed, Reports.parts(of: rest, by: owed)).map { max(0, $0 - $1) }
    }

    /// What lines cost a period in milliunits: without their discounts, and without taxes on top.
    private static func prices(
        of lines: [StripeInvoice.Line],
        _ invoice: StripeInvoice,
        _ currency: String
    ) -> [Int64] {
        let isStated = lines.allSatisfy { $0.discount != nil }
        guard !isStated else {
            return lines.map { line in
                let price = line.amount - min(line.amount, max(0, line.discount ?? 0))
                return Reports.Currency.milliunits(minor: price, currency: currency)
            }
        }
        // A fact that is older than this says only what the whole invoice came to.
        let full = lines.map { Reports.Currency.milliunits(minor: $0.amount, currency: currency) }
        guard invoice.lines.allSatisfy({ $0.amount >= 0 }) else { return full }
        let total = Reports.Currency.milliunits(
            minor: max(0, invoice.total ?? invoice.amount),
            currency: currency
        )
        return total < sum(full) ? Reports.parts(of: total, by: full) : full
    }

    private static func sum(_ amounts: [Int64]) -> Int64 {
        amounts.reduce(0) { sum, amount in
            let (value, overflow) = sum.addingReportingOverflow(amount)
            return overflow ? .max : value
        }
    }

    /// Whether a line that costs nothing begins a trial.
    ///
    /// One lies ahead of its invoice. A month in which nothing was used is over by then, a plan
    /// that is free is never paid for, and a tier that is free stands beside others of its item.
    private static func isTrial(
        _ line: StripeInvoice.Line,
        of invoice: Newest<StripeInvoice>,
        in history: CatalogHistory
    ) -> Bool {
        line.amount == 0 && !line.isProration && line.end > invoice.charged
            && !invoice.value.lines.contains {
                $0.item != nil && $0.item == line.item && $0.start == line.start && $0.amount > 0
            }
            && Reports.product(line.price, of: .stripe, at: line.start, in: history).known?.price?
                .amount
                != 0
    }

    // MARK: - What went back

    /// Refunds and disputes of a payment, spread over what it paid for.
    ///
    /// Refunds together are at most what was paid, and so are disputes. Both together may be more:
    /// whoever was refunded can dispute too, and then the money is gone twice.
    private static func takenBack(
        _ charges: [Reports.Sale],
        of amount: Int64,
        currency: String,
        paying invoice: String?,
        _ purchase: Purchase
    ) -> [Reports.Sale] {
        struct Movement {
            var kind: Reports.Sale.Kind
            var id: String
            var amount: Int64
            var at: Instant
        }
        let movements =
            purchase.refunds.filter { $0.value.takesBack && $0.value.invoice == invoice }.map {
                Movement(
                    kind: .refund,
                    id: $0.value.id,
                    amount: $0.value.amount,
                    at: $0.value.created ?? $0.stated.instant
                )
            }
            + purchase.disputes.filter { $0.value.takesBack && $0.value.invoice == invoice }.map {
                Movement(
                    kind: .chargeback,
                    id: $0.value.id,
                    amount: $0.value.amount,
                    at: $0.value.withdrawn ?? $0.value.created ?? $0.stated.instant
                )
            }
        var rest: [Reports.Sale.Kind: Int64] = [:]
        var refunded: Set<String> = []
        var rows: [Reports.Sale] = []
        for movement in movements.sorted(by: { ($0.at, $0.id) < ($1.at, $1.id) }) {
            let left = rest[movement.kind] ?? max(0, amount)
            let back = max(0, min(movement.amount, left))
            guard back > 0 else { continue }
            rest[movement.kind] = left - back
            let milliunits = Reports.Currency.milliunits(
                minor: back,
                currency: currency.uppercased()
            )
            let parts = Reports.parts(of: milliunits, by: charges.map(\.amount))
            for (charge, part) in zip(charges, parts) where part > 0 {
                rows.append(
                    charge.takenBack(
                        movement.kind,
                        part,
                        at: movement.at,
                        refund: movement.id,
                        isFirst: refunded.insert(charge.transaction).inserted
                    )
                )
            }
        }
        return rows
    }
}

extension StripeInvoice.Line {
    /// What it adds to what is to be paid: without its discounts, with the tax on top.
    fileprivate var net: Int64 { amount &- (discount ?? 0) &+ (tax ?? 0) }
}

extension Newest<StripeInvoice> {
    /// When it was paid; where no message said so, when what it paid for begins.
    var charged: Instant {
        value.paid ?? value.lines.map(\.start).max() ?? stated.instant
    }
}
