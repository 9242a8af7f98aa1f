internal import TollgateCore

extension Reports {
    static func addStripe(
        _ purchase: Purchase,
        in history: CatalogHistory,
        _ customer: (HolderNames) throws -> String,
        to rows: inout PurchaseRows
    ) rethrows {
        let buyer = try customer(purchase.stripeBuyer)
        if let payment = purchase.payment, payment.isComplete, payment.isPaid {
            rows.sales += sales(of: payment, purchase, in: history, buyer)
        }
        let invoices = purchase.invoices.map(\.self).filter(\.value.isPaid).sorted {
            ($0.charged, $0.value.id) < ($1.charged, $1.value.id)
        }
        var periods: [PaidPeriod] = []
        for (index, invoice) in invoices.enumerated() {
            let charges = charges(
                of: invoice,
                purchase,
                in: history,
                buyer,
                isRenewal: index > 0
            )
            for (line, sale, price) in charges {
                guard line.start < line.end else { continue }
                periods.append(period(line, sale, price, purchase, invoice.value, in: history))
            }
            rows.sales += charges.map(\.sale)
            rows.sales += takenBack(
                charges.map(\.sale),
                of: invoice.value.amount,
                currency: invoice.value.currency,
                paying: invoice.value.id,
                purchase
            )
        }
        if let subscription = purchase.subscription?.value {
            periods += uncovered(subscription, purchase, in: history, buyer, beside: periods)
            periods = ended(periods, subscription, invoices.map(\.value), in: history)
        }
        rows.periods += periods
    }

    // MARK: - One-time payments

    private static func sales(
        of record: PaymentRecord,
        _ purchase: Purchase,
        in history: CatalogHistory,
        _ buyer: String
    ) -> [Sale] {
        let payment = record.payment
        // What was bought is read later; the money counts at once.
        let lines = record.lines ?? [StripePayment.Line(price: "", quantity: 1)]
        let known = lines.map { product($0.price, of: .stripe, at: payment.created, in: history) }
        let weights = zip(lines, known).map { line, known in
            let price = max(1, min(known.known?.price?.amount ?? 1, 1_000_000))
            return price * max(1, min(line.quantity, 1_000_000))
        }
        let currency = payment.currency.uppercased()
        let amount = Currency.milliunits(minor: max(0, payment.amount), currency: currency)
        let parts = parts(of: amount, by: weights)
        let sales = lines.indices.map { index in
            Sale(
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
                country: record.payment.country ?? "",
                currency: currency,
                amount: parts[index],
                quantity: lines[index].quantity,
                offer: .none,
                purchased: payment.created,
                at: payment.created,
                isRenewal: false,
                isAfterOneYear: false,
                isFamilyShared: false,
                customer: buyer
            )
        }
        return sales
            + takenBack(
                sales,
                of: payment.amount,
                currency: currency,
                paying: nil,
                purchase
            )
    }

    // MARK: - Invoices

    /// The lines of an invoice that something was charged for, or that begin a trial, with what
    /// was really paid for each, and its price.
    ///
    /// The two differ where a change of plan gave something back, or where the customer's balance
    /// paid: that is cash, and the plan costs what it costs.
    private static func charges(
        of invoice: Newest<StripeInvoice>,
        _ purchase: Purchase,
        in history: CatalogHistory,
        _ buyer: String,
        isRenewal: Bool
    ) -> [(line: StripeInvoice.Line, sale: Sale, price: Int64)] {
        let currency = invoice.value.currency.uppercased()
        let lines = invoice.value.lines.filter {
            $0.amount > 0 || isTrial($0, of: invoice, in: history)
        }
        let isCorrected = invoice.value.lines.contains { $0.amount < 0 }
        let paid = Currency.milliunits(minor: max(0, invoice.value.amount), currency: currency)
        let parts = parts(of: paid, by: lines.map(\.amount))
        let full = lines.map { Currency.milliunits(minor: $0.amount, currency: currency) }
        let prices = isCorrected ? full : discounted(full, to: invoice.value, currency)
        return lines.indices.map { index in
            let (line, amount) = (lines[index], parts[index])
            let product = product(line.price, of: .stripe, at: line.start, in: history)
            let offer: Offer =
                line.amount == 0 ? .trial : prices[index] < full[index] ? .discount : .none
            return (
                line,
                Sale(
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
                    country: invoice.value.country ?? "",
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
                ),
                prices[index]
            )
        }
    }

    /// What lines cost after a discount of the whole invoice; taxes beside the price are not among
    /// it.
    private static func discounted(
        _ full: [Int64],
        to invoice: StripeInvoice,
        _ currency: String
    ) -> [Int64] {
        let sum = full.reduce(Int64(0)) { sum, price in
            let (value, overflow) = sum.addingReportingOverflow(price)
            return overflow ? Int64.max : value
        }
        let total = Currency.milliunits(
            minor: max(0, invoice.total ?? invoice.amount),
            currency: currency
        )
        return total < sum ? parts(of: total, by: full) : full
    }

    /// Whether a line that costs nothing begins a trial.
    ///
    /// One lies ahead of its invoice. A month in which nothing was used is over by then, and a plan
    /// that is free is never paid for.
    private static func isTrial(
        _ line: StripeInvoice.Line,
        of invoice: Newest<StripeInvoice>,
        in history: CatalogHistory
    ) -> Bool {
        line.amount == 0 && !line.isProration && line.end > invoice.charged
            && product(line.price, of: .stripe, at: line.start, in: history).known?.price?.amount
                != 0
    }

    /// Refunds and disputes of a payment, spread over what it paid for, at most what was paid.
    private static func takenBack(
        _ charges: [Sale],
        of amount: Int64,
        currency: String,
        paying invoice: String?,
        _ purchase: Purchase
    ) -> [Sale] {
        struct Movement {
            var kind: Sale.Kind
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
                    at: $0.value.created ?? $0.stated.instant
                )
            }
        var rest = max(0, amount)
        var refunded: Set<String> = []
        var rows: [Sale] = []
        for movement in movements.sorted(by: { ($0.at, $0.id) < ($1.at, $1.id) }) {
            let back = max(0, min(movement.amount, rest))
            guard back > 0 else { continue }
            rest -= back
            let milliunits = Currency.milliunits(minor: back, currency: currency.uppercased())
            let parts = parts(of: milliunits, by: charges.map(\.amount))
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

    // MARK: - Periods

    private static func period(
        _ line: StripeInvoice.Line,
        _ sale: Sale,
        _ price: Int64,
        _ purchase: Purchase,
        _ invoice: StripeInvoice,
        in history: CatalogHistory
    ) -> PaidPeriod {
        let cut =
            invoice.amount > 0
            ? purchase.takenBack(of: invoice.amount, paying: invoice.id).cut : nil
        let paidUntil = max(line.start, min(line.end, cut ?? line.end))
        let known = history.product(StoreProduct(.stripe, line.price), at: line.start)
        var period = PaidPeriod(
            sale,
            id: line.id,
            end: line.end,
            paidUntil: paidUntil,
            effectiveEnd: paidUntil,
            refunded: cut,
            retriedSince: nil,
            duration: known?.duration?.iso8601
        )
        period.start = line.start
        period.amount = price
        period.isProration = line.isProration ? true : nil
        return period
    }

    /// What a subscription shows as current and no invoice that we know covers: imported ones.
    private static func uncovered(
        _ subscription: StripeSubscription,
        _ purchase: Purchase,
        in history: CatalogHistory,
        _ buyer: String,
        beside periods: [PaidPeriod]
    ) -> [PaidPeriod] {
        guard subscription.status == "active" || subscription.status == "trialing" else {
            return []
        }
        func covers(_ period: PaidPeriod, _ item: StripeSubscription.Item) -> Bool {
            period.start <= item.start && item.start < period.end
        }
        var rest = subscription.items.filter { item in
            !periods.contains { $0.storeProduct == item.price && covers($0, item) }
        }
        // After a change of plan an item has its new price, and no line of an invoice has it until
        // the next cycle: what was paid for at the price before covers it.
        let prices = Set(subscription.items.map(\.price))
        for period in periods where !prices.contains(period.storeProduct) {
            if let index = rest.firstIndex(where: { covers(period, $0) }) { rest.remove(at: index) }
        }
        return rest.compactMap { item in
            guard item.start < item.end else { return nil }
            let product = product(item.price, of: .stripe, at: item.start, in: history)
            // What costs nothing is not paid for.
            guard product.known?.price?.amount != 0 else { return nil }
            return PaidPeriod(
                store: .stripe,
                environment: purchase.key.environment,
                purchase: purchase.key,
                id: item.id,
                transaction: item.id,
                product: product.id,
                storeProduct: item.price,
                country: "",
                currency: "",
                amount: 0,
                offer: subscription.status == "trialing" ? .trial : .none,
                isFamilyShared: false,
                start: item.start,
                end: item.end,
                paidUntil: item.end,
                effectiveEnd: item.end,
                refunded: nil,
                retriedSince: nil,
                duration: product.known?.duration?.iso8601,
                customer: buyer
            )
        }
    }

    /// Periods with the ends that a change of plan, the next period, the subscription's own end or
    /// a grace gives them.
    private static func ended(
        _ periods: [PaidPeriod],
        _ subscription: StripeSubscription,
        _ invoices: [StripeInvoice],
        in history: CatalogHistory
    ) -> [PaidPeriod] {
        var periods = periods.sorted { ($0.start, $0.id) < ($1.start, $1.id) }
        let credits = invoices.flatMap(\.lines).filter { $0.isProration && $0.amount < 0 }
        let isSingle = subscription.items.count == 1
        for index in periods.indices {
            let period = periods[index]
            var ends = periods.dropFirst(index + 1)
                .filter { $0.start > period.start }
                // Of one item, whatever follows takes the place of what was.
                .filter { isSingle || $0.storeProduct == period.storeProduct }
                .map(\.start)
            ends += credits.filter {
                $0.price == period.storeProduct && period.start < $0.start
                    && $0.start < period.end
            }.map(\.start)
            if subscription.isFinal, let ended = subscription.endedAt { ends.append(ended) }
            let end = max(period.start, ends.reduce(period.paidUntil, min))
            periods[index].paidUntil = end
            periods[index].effectiveEnd = end
        }
        guard subscription.status == "past_due" else { return periods }
        for item in subscription.items {
            guard
                let last = periods.lastIndex(where: {
                    $0.storeProduct == item.price && $0.refunded == nil
                })
            else { continue }
            let end = periods[last].paidUntil
            let version = history.versions.last { $0.adopted <= end } ?? history.versions.first
            let grace = version?.catalog.pastDueGrace ?? Catalog.defaultPastDueGrace
            periods[last].effectiveEnd = end.advanced(by: grace)
            periods[last].retriedSince = periods[last].effectiveEnd
        }
        return periods
    }
}

extension Newest<StripeInvoice> {
    /// When it was paid; where no message said so, when what it paid for begins.
    fileprivate var charged: Instant {
        value.paid ?? value.lines.map(\.start).max() ?? stated.instant
    }
}
