internal import Reports
internal import TollgateCore

/// The periods of a Stripe subscription: the lines of its paid invoices, with the ends that a change
/// of plan, the next period, a refund, the subscription's own end or a grace gives them.
///
/// They rest on what was paid, item by item, and never on what the subscription is now: so an item
/// that is removed, or a dunning that is over, changes nothing of the past.
struct StripePeriods {
    private struct Piece {
        var row: Reports.PaidPeriod
        /// The subscription item; `nil` in facts that do not tell it.
        var item: String?
        /// The line's, in minor units.
        var amount: Int64
        var quantity: Int64
        var charged: Instant
    }

    private let purchase: Purchase
    private let history: CatalogHistory
    private let buyer: String
    private let subscription: StripeSubscription?
    private let paid: [StripeInvoice]
    /// Whether there was never more than one item, as far as facts without item ids let one tell.
    private let isSingle: Bool
    private var pieces: [Piece] = []

    init(_ purchase: Purchase, in history: CatalogHistory, _ buyer: String) {
        self.purchase = purchase
        self.history = history
        self.buyer = buyer
        subscription = purchase.subscription?.value
        paid = purchase.invoices.map(\.value).filter(\.isPaid)
        isSingle =
            subscription?.items.count ?? 1 == 1
            && paid.allSatisfy { invoice in
                Set(invoice.lines.filter { !$0.isProration && $0.amount > 0 }.map(\.price)).count
                    < 2
            }
    }

    /// Takes in a line that was paid; what is sold once is no period.
    mutating func add(_ charge: StripeRows.StripeCharge, of invoice: Newest<StripeInvoice>) {
        let line = charge.line
        let isPlan = charge.sale.productKind.map { $0 == .autoRenewable } ?? true
        guard isPlan, line.start < line.end else { return }
        let amount = invoice.value.amount
        let cut =
            amount > 0 ? purchase.takenBack(of: amount, paying: invoice.value.id).cut : nil
        let paidUntil = max(line.start, min(line.end, cut ?? line.end))
        let known = history.product(StoreProduct(.stripe, line.price), at: line.start)
        var row = Reports.PaidPeriod(
            charge.sale,
            id: line.id,
            end: line.end,
            paidUntil: paidUntil,
            effectiveEnd: paidUntil,
            refunded: cut,
            retriedSince: nil,
            duration: known?.duration?.iso8601
        )
        row.start = line.start
        row.amount = charge.price
        row.isProration = line.isProration ? true : nil
        pieces.append(
            Piece(
                row: row,
                item: line.item,
                amount: line.amount,
                quantity: line.quantity,
                charged: invoice.charged
            )
        )
    }

    /// All periods in the order of their starts.
    var rows: [Reports.PaidPeriod] {
        var pieces = pieces.sorted { ($0.row.start, $0.row.id) < ($1.row.start, $1.row.id) }
        for index in pieces.indices {
            let end = max(
                pieces[index].row.start,
                ends(of: pieces[index], among: pieces).reduce(pieces[index].row.paidUntil, min)
            )
            pieces[index].row.paidUntil = end
            pieces[index].row.effectiveEnd = end
        }
        for index in pieces.indices {
            pieces[index].row.awaitedUntil = awaitedUntil(pieces[index], among: pieces)
            guard let (due, end) = unpaid(after: pieces[index], among: pieces) else { continue }
            pieces[index].row.paidUntil = due
            pieces[index].row.effectiveEnd = end
            let isRetried =
                subscription?.status == "past_due" && due < end
                && next(after: pieces[index], among: pieces) == nil
            pieces[index].row.retriedSince = isRetried ? end : nil
        }
        return pieces.map(\.row) + trials(beside: pieces.map(\.row))
    }

    // MARK: - Ends

    /// Whether two lines bill the same item.
    ///
    /// A change of plan keeps the item and changes its price. Where facts do not tell the item, the
    /// price does, and whatever a subscription of one item bills.
    private func isSame(_ left: Piece, _ item: String?, _ price: String) -> Bool {
        if let own = left.item, let item { return own == item }
        return isSingle || left.row.storeProduct == price
    }

    private func next(after piece: Piece, among pieces: [Piece]) -> Piece? {
        pieces.first {
            $0.row.start > piece.row.start && isSame(piece, $0.item, $0.row.storeProduct)
        }
    }

    /// What ends a period before its time: whatever its item bills next, a credit for the rest of
    /// it, the subscription's own end.
    private func ends(of piece: Piece, among pieces: [Piece]) -> [Instant] {
        let row = piece.row
        var ends = [next(after: piece, among: pieces)?.row.start].compactMap(\.self)
        ends += paid.flatMap(\.lines).filter { credit in
            credit.isProration && credit.amount < 0 && row.start < credit.start
                && credit.start < row.end && credit.price == row.storeProduct
                && isSame(piece, credit.item, credit.price)
        }.map(\.start)
        if isUndone(piece, among: pieces) { ends.append(row.start) }
        if let subscription, subscription.isFinal, let ended = subscription.endedAt {
            ends.append(ended)
        }
        return ends
    }

    /// Whether a change of plan was changed again within its second: then a credit gives back all of it.
    ///
    /// Of several charges for one price and quantity in that second, as many are undone as there are
    /// credits for them. One of the credits is for the rest of a period of that price and quantity that
    /// was running; if that was paid at another price, it is of another amount.
    private func isUndone(_ piece: Piece, among pieces: [Piece]) -> Bool {
        let row = piece.row
        let credits = paid.flatMap(\.lines).filter { credit in
            credit.isProration && credit.amount < 0 && credit.start == row.start
                && credit.end == row.end && credit.price == row.storeProduct
                && credit.quantity == piece.quantity && isSame(piece, credit.item, credit.price)
        }
        var undone = credits.count { $0.amount == -piece.amount }
        guard piece.amount > 0, undone > 0 else { return false }
        let isRest = pieces.contains { former in
            former.row.start < row.start && row.start < former.row.end
                && former.row.end == row.end && former.quantity == piece.quantity
                && former.row.storeProduct == row.storeProduct
                && next(after: former, among: pieces)?.row.start == row.start
                && isSame(former, piece.item, row.storeProduct)
        }
        if isRest, undone == credits.count { undone -= 1 }
        let alike = pieces.filter {
            $0.row.start == row.start && $0.amount == piece.amount
                && $0.quantity == piece.quantity && $0.row.storeProduct == row.storeProduct
                && isSame(piece, $0.item, $0.row.storeProduct)
        }
        return alike.prefix(undone).contains { $0.row.id == row.id }
    }

    // MARK: - Grace

    /// When what follows a period was due, and the end of the grace that it has, because it is not
    /// paid: a renewal whose invoice is a draft or failed, whatever became of it since.
    private func unpaid(
        after piece: Piece,
        among pieces: [Piece]
    ) -> (due: Instant, end: Instant)? {
        let row = piece.row
        // A later refund leaves the grace in the past.
        guard row.paidUntil == row.end, let due = due(after: piece, among: pieces)
        else { return nil }
        var end = due.advanced(by: grace(at: due))
        if let next = next(after: piece, among: pieces) { end = min(end, next.row.start) }
        if let refunded = row.refunded { end = min(end, refunded) }
        if let subscription, subscription.isFinal, let ended = subscription.endedAt {
            end = min(end, ended)
        }
        if let lapse = purchase.failures?.lapse(from: due) { end = min(end, lapse) }
        for invoice in purchase.invoices.map(\.value) {
            guard let voided = invoice.voided, !invoice.isPaid else { continue }
            let bills = invoice.lines.contains {
                $0.start >= row.end && isSame(piece, $0.item, $0.price)
            }
            if bills { end = min(end, voided) }
        }
        return (max(row.end, min(due, end)), max(row.end, end))
    }

    /// `true` if an invoice that was never paid bills the period after this one.
    private func hasUnpaidRenewalInvoice(_ piece: Piece) -> Bool {
        purchase.invoices.map(\.value).contains { invoice in
            !invoice.isPaid
                && invoice.lines.contains {
                    $0.start >= piece.row.end && $0.amount > 0 && !$0.isProration
                        && isSame(piece, $0.item, $0.price)
                }
        }
    }

    /// When the period after this one was to be paid; `nil` if none was: the item had been removed, or the
    /// subscription ended with this one.
    private func due(after piece: Piece, among pieces: [Piece]) -> Instant? {
        let end = piece.row.end
        let next = next(after: piece, among: pieces)?.row.start
        // What cost nothing is settled.
        let isSettled = paid.flatMap(\.lines).contains { line in
            end <= line.start && line.amount == 0 && next.map { line.start < $0 } ?? true
                && isSame(piece, line.item, line.price)
        }
        guard !isSettled else { return nil }
        if next != nil { return end }
        guard let subscription else { return nil }
        let item = subscription.items.first { isSame(piece, $0.id, $0.price) }
        guard item != nil || hasUnpaidRenewalInvoice(piece) else { return nil }
        if subscription.isFinal { return subscription.endedAt ?? end > end ? end : nil }
        guard let item else { return end }
        guard item.start >= end, subscription.status != "paused" else { return nil }
        // Usage is billed when its period is over.
        guard item.isBilledInArrears == true else { return end }
        let (length, overflow) = item.end.milliseconds.subtractingReportingOverflow(
            item.start.milliseconds
        )
        return overflow ? end : end.advanced(by: length)
    }

    /// How long the catalog of the time lets somebody use what is not paid.
    private func grace(at instant: Instant) -> Int64 {
        let version =
            history.versions.last { $0.adopted <= instant } ?? history.versions.first
        return version?.catalog.pastDueGrace ?? Catalog.defaultPastDueGrace
    }

    /// Until when a renewal that was paid late was in grace.
    private func awaitedUntil(_ piece: Piece, among pieces: [Piece]) -> Instant? {
        let row = piece.row
        // Usage is billed when its period is over, and so is never late by this.
        guard row.isProration != true, row.start < piece.charged, piece.charged < row.end else {
            return nil
        }
        let isRenewal = pieces.contains {
            $0.row.end == row.start && $0.row.isPaid
                && isSame($0, piece.item, row.storeProduct)
        }
        guard isRenewal else { return nil }
        var until = min(piece.charged, row.start.advanced(by: grace(at: row.start)))
        if let lapse = purchase.failures?.lapse(from: row.start) { until = min(until, lapse) }
        return until > row.start ? until : nil
    }

    // MARK: - Trials

    /// A trial whose invoice, which costs nothing, has not come yet.
    private func trials(beside rows: [Reports.PaidPeriod]) -> [Reports.PaidPeriod] {
        guard let subscription, subscription.status == "trialing" else { return [] }
        return subscription.items.compactMap { item in
            let isCovered = rows.contains { $0.start <= item.start && item.start < $0.end }
            guard item.start < item.end, !isCovered else { return nil }
            let product = Reports.product(item.price, of: .stripe, at: item.start, in: history)
            // What costs nothing anyway is tried by nobody.
            guard product.known?.price?.amount != 0 else { return nil }
            let trial = Reports.Sale(
                kind: .charge,
                store: .stripe,
                environment: purchase.key.environment,
                purchase: purchase.key,
                transaction: item.id,
                lot: item.id,
                product: product.id,
                storeProduct: item.price,
                productKind: product.known?.kind,
                country: purchase.buyer?.value.country ?? "",
                currency: "",
                amount: 0,
                quantity: 1,
                offer: .trial,
                purchased: item.start,
                at: item.start,
                isRenewal: false,
                isAfterOneYear: false,
                isFamilyShared: false,
                customer: buyer
            )
            return Reports.PaidPeriod(
                trial,
                id: item.id,
                end: item.end,
                paidUntil: item.end,
                effectiveEnd: item.end,
                refunded: nil,
                retriedSince: nil,
                duration: product.known?.duration?.iso8601
            )
        }
    }
}
