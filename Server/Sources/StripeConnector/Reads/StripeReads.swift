internal import Storage
internal import Stores
public import StripeAPI
internal import StrictJSON
internal import TollgateAPI
public import TollgateCore

/// What Stripe's events do not say is read: an object at a time, always the whole of it.
public struct StripeReads: Sendable {
    let context: StoreContext
    /// Speaks to Stripe; `nil` where no secret key is configured.
    let client: Stripe.Client?
    private let readOrder = ReadOrder()

    init(_ context: StoreContext, _ client: Stripe.Client?) {
        self.context = context
        self.client = client
    }

    /// - Throws: a refusal 503 where Stripe is not configured.
    public func configured() throws -> Stripe.Client {
        guard let client else {
            throw Refusal(
                503,
                .storeUnavailable,
                "Stripe is not configured: set TOLLGATE_STRIPE_SECRET_KEY."
            )
        }
        return client
    }

    /// Reads a subscription with all of its items.
    ///
    /// - Returns: as of when the read speaks.
    func read(subscription id: String) async throws -> Instant {
        let stripe = try configured()
        let answer = try await stripe.subscription(id)
        let instant = try await instantOfRead(answer.date, testClock: answer.value.testClock?.id)
        try await record(answer.value, at: instant)
        return instant
    }

    /// Records a subscription that Stripe has just told us.
    ///
    /// - Returns: whether it said anything new.
    @discardableResult
    public func record(_ subscription: Stripe.Subscription, at instant: Instant) async throws
        -> Bool
    {
        var items: [Stripe.SubscriptionItem]?
        if subscription.items.hasMore, let stripe = client {
            items = []
            for try await item in stripe.lists.items(ofSubscription: subscription.id) {
                items?.append(item)
            }
        }
        return try await journal(
            read: StripeTranslator.message(
                reading: subscription,
                items: items,
                at: instant,
                livemode: subscription.livemode
            ),
            of: subscription.id,
            at: instant,
            body: subscription.json
        )
    }

    /// Reads an invoice with all of its lines.
    ///
    /// - Returns: as of when the read speaks.
    func read(invoice id: String) async throws -> Instant {
        let stripe = try configured()
        let answer = try await stripe.invoice(id)
        let instant = await instantOfRead(answer.date)
        try await record(answer.value, at: instant)
        return instant
    }

    /// Records an invoice that Stripe has just told us; nothing unless it is settled.
    ///
    /// - Returns: whether it said anything new.
    @discardableResult
    func record(_ invoice: Stripe.Invoice, at instant: Instant) async throws -> Bool {
        guard invoice.isSettled else { return false }
        guard invoice.subscription != nil else {
            return invoice.status == .paid ? try await record(sale: invoice, instant) : false
        }
        var lines: [Stripe.InvoiceLine]?
        if invoice.lines.hasMore, let stripe = client {
            lines = []
            for try await line in stripe.lists.lines(ofInvoice: invoice.id) { lines?.append(line) }
        }
        return try await journal(
            read: StripeTranslator.message(
                reading: invoice,
                lines: lines,
                at: instant,
                livemode: invoice.livemode
            ),
            of: invoice.id,
            at: instant,
            body: invoice.json
        )
    }

    /// Records a paid invoice that is no plan's, under the payment that paid it or the session that
    /// made it.
    private func record(sale invoice: Stripe.Invoice, _ instant: Instant) async throws -> Bool {
        guard let stripe = client, invoice.lines.data.contains(where: { $0.price != nil }) else {
            return false
        }
        var lines = invoice.lines.data
        if invoice.lines.hasMore {
            lines = []
            for try await line in stripe.lists.lines(ofInvoice: invoice.id) { lines.append(line) }
        }
        var payment = try await payment(of: invoice.id, with: stripe)
        if payment == nil { payment = try await session(thatMade: invoice) }
        return try await journal(
            read: StripeTranslator.message(
                readingSale: invoice,
                lines: lines,
                paidBy: payment,
                at: instant
            ),
            of: invoice.id,
            at: instant,
            body: invoice.json
        )
    }

    /// The payment under which an invoice's sale is recorded.
    ///
    /// Of several, always the same one: the record must not depend on the list's order.
    private func payment(of invoice: String, with stripe: Stripe.Client) async throws -> String? {
        var least: String?
        for try await link in stripe.lists.invoicePayments(ofInvoice: invoice) {
            guard let id = link.paymentIntent?.id else { continue }
            least = min(least ?? id, id)
        }
        return least
    }

    /// The record of the Checkout Session that made an invoice whose payments do not name one.
    ///
    /// The invoice does not name it, but it names the invoice (RULES §5.6).
    private func session(thatMade invoice: Stripe.Invoice) async throws -> String? {
        guard let stripe = client, let customer = invoice.customer?.id else { return nil }
        for try await session in stripe.lists.checkoutSessions(
            customer: customer,
            status: .complete
        ) {
            if session.invoice?.id == invoice.id {
                return session.paymentIntent?.id ?? session.id
            }
            // A session lasts a day at most, and the newest come first.
            guard session.created > invoice.created - 2 * 86_400 else { return nil }
        }
        return nil
    }

    /// Records a payment that says what it paid for; nothing for any other.
    ///
    /// - Parameters:
    ///   - lines: what it paid for, if somebody else says so.
    ///   - shown: when Stripe showed it, where that is later than `instant`.
    /// - Returns: whether it said anything new.
    @discardableResult
    func record(
        _ intent: Stripe.PaymentIntent,
        selling lines: [StripePayment.Line]? = nil,
        at instant: Instant,
        shown: Instant? = nil
    ) async throws -> Bool {
        try await journal(
            read: StripeTranslator.message(
                reading: intent,
                selling: lines,
                at: instant,
                shown: shown
            ),
            of: intent.id,
            at: instant,
            body: intent.json
        )
    }

    /// Reads what was taken back of a payment, and the invoices of plans that it paid.
    ///
    /// A refund names the payment alone, so this is the only way from it to the plan whose coins it
    /// takes back.
    ///
    /// - Returns: as of when the read speaks, and whether it said anything new.
    @discardableResult
    func read(payment id: String) async throws -> (instant: Instant, isNews: Bool) {
        let stripe = try configured()
        let intent = try await stripe.paymentIntent(id)
        let instant = await instantOfRead(intent.date)
        let livemode = intent.value.livemode
        var refunds: [Stripe.Refund] = []
        for try await refund in stripe.lists.refunds(ofPaymentIntent: id) { refunds.append(refund) }
        var disputes: [Stripe.Dispute] = []
        for try await dispute in stripe.lists.disputes(ofPaymentIntent: id) {
            disputes.append(dispute)
        }
        var isNews = try await record(intent.value, at: instant)
        guard !refunds.isEmpty || !disputes.isEmpty else { return (instant, isNews) }
        // The payment's own record, and that of every plan whose invoice it paid.
        var targets: [(payment: String, invoice: String?)] = [(id, nil)]
        for try await link in stripe.lists.invoicePayments(byPaymentIntent: id) {
            let invoice = try await stripe.invoice(link.invoice.id)
            if try await record(invoice.value, at: instant) { isNews = true }
            if let subscription = invoice.value.subscription?.id {
                targets.append((subscription, invoice.value.id))
            } else if let sale = try await self.payment(of: invoice.value.id, with: stripe),
                sale != id
            {
                // The invoice was paid in parts, and its sale is recorded under another of them.
                targets.append((sale, nil))
            }
        }
        for (payment, invoice) in targets {
            for refund in refunds {
                let message = StripeTranslator.message(
                    reading: refund,
                    of: payment,
                    paying: invoice,
                    at: instant,
                    livemode: livemode
                )
                if try await journal(read: message, of: refund.id, at: instant, body: refund.json) {
                    isNews = true
                }
            }
            for dispute in disputes {
                let message = StripeTranslator.message(
                    reading: dispute,
                    of: payment,
                    paying: invoice,
                    at: instant,
                    livemode: livemode
                )
                if try await journal(read: message, of: dispute.id, at: instant, body: dispute.json)
                {
                    isNews = true
                }
            }
        }
        return (instant, isNews)
    }

    /// Journals what a read says, unless the record says it already: sweeps must not grow the
    /// journal by the whole history (RULES §11).
    private func journal(
        read message: Translation.Meaning,
        of id: String,
        at instant: Instant,
        body: JSON
    ) async throws -> Bool {
        var target = ""
        if case .facts(let facts, let key) = message {
            target = key.canonical
            let known = try await context.records.record(of: key)
            if let known, facts.allSatisfy({ known.states($0.statement) }) { return false }
        }
        if case .nothing = message { return false }
        let evidence = Evidence(
            source: "read:\(id)",
            key: RowKey("read", id, target, "\(instant.milliseconds)"),
            stated: instant,
            kind: .fetched,
            body: Array(body.rawBytes)
        )
        return try await context.journal(
            Translation(ofStripe: message, evidence: evidence),
            of: .stripe
        )
            == .recorded
    }

    /// As of when a read speaks: the second before it was sent, by Stripe's `Date`.
    ///
    /// Where the stores live on a clock of their own, or the object on one of Stripe's test clocks,
    /// `Date` is not on it, and the clock stands still while we read, so the read speaks of this very
    /// second (RULES §4.2).
    public func instantOfRead(_ date: Int64?, testClock: String? = nil) async throws -> Instant {
        if let testClock, let stripe = client {
            return readOrder.next(in: try await stripe.testClock(testClock).value.frozenTime)
        }
        return await instantOfRead(date)
    }

    /// As of when a read of something without a test clock speaks.
    func instantOfRead(_ date: Int64?) async -> Instant {
        let now = await context.clocks.now()
        if isOnVirtualClock(now) { return readOrder.next(in: now.milliseconds / 1000) }
        return Instant(seconds: (date ?? context.clocks.wall().milliseconds / 1000) - 1)
    }

    private func isOnVirtualClock(_ now: Instant) -> Bool {
        context.clocks.isVirtual
            || abs(now.milliseconds - context.clocks.wall().milliseconds) > 60_000
    }

    /// The reads that follow `event` although it can be used by itself.
    ///
    /// - A paid Checkout: its metadata, which this server wrote, does not name a product that the buyer added
    ///   on Stripe's page (<https://docs.stripe.com/payments/checkout/cross-sells>).
    /// - A Checkout whose money is held, and the payment that captures it: no event of the session
    ///   says that it is paid
    ///   (<https://docs.stripe.com/payments/place-a-hold-on-a-payment-method>).
    /// - A subscription whose clock stands still: within the second of an earlier read, an event may be
    ///   older or newer than that read.
    func rereads(for event: Stripe.Event) async throws -> [Wanted] {
        if let session = try await session(toReadFor: event) {
            return [Wanted(kind: .checkoutLines, object: session)]
        }
        guard event.objectName == Stripe.Subscription.objectName, let id = event.objectID else {
            return []
        }
        let hasTestClock = event.object["test_clock"].map { !$0.isNull } ?? false
        let now = await context.clocks.now()
        guard hasTestClock || isOnVirtualClock(now) else { return [] }
        let known = try await context.records.record(
            of: StripeTranslator.key(id, livemode: event.livemode)
        )
        guard let stated = known?.subscription?.stated, stated.isRead,
            stated.instant.milliseconds / 1000 == event.created
        else { return [] }
        return [Wanted(kind: .subscription, object: id)]
    }

    /// The Checkout Session in mode `payment` whose read follows `event`.
    private func session(toReadFor event: Stripe.Event) async throws -> String? {
        guard let id = event.objectID else { return nil }
        func payment(_ id: String) async throws -> PaymentRecord? {
            try await context.records.record(
                of: StripeTranslator.key(id, livemode: event.livemode)
            )?.payment
        }
        let object = event.object
        switch event.objectName {
        case Stripe.CheckoutSession.objectName where object["mode"]?.string == "payment":
            let known = try await payment(object["payment_intent"]?.string ?? id)
            switch object["payment_status"]?.string {
            case "paid": return known?.isRead == true ? nil : id
            // What captured it may have come before it.
            case "unpaid" where object["status"]?.string == "complete":
                return known?.isPaid == true ? nil : id
            default: return nil
            }
        case Stripe.PaymentIntent.objectName where object["status"]?.string == "succeeded":
            guard let known = try await payment(id), !known.isPaid else { return nil }
            let session = known.payment.session
            return session == id ? nil : session
        default: return nil
        }
    }
}

extension Purchase {
    /// Whether the record's newest word on an object is exactly `statement`, uncontested.
    fileprivate func states(_ statement: Statement) -> Bool {
        switch statement {
        case .subscription(let value):
            subscription?.value == value && !isSubscriptionContested
        case .invoice(let value): invoices.contains { $0.value == value }
        case .payment(let value):
            payment.map {
                $0.isComplete && $0.isPaid && $0.lines == value.lines
                    && (value.customer == nil || $0.customer == value.customer)
                    && (value.country == nil || $0.country != nil)
            } ?? false
        case .refund(let value):
            refunds.contains { $0.value == value } && contested?.contains(value.id) != true
        case .dispute(let value):
            disputes.contains { $0.value == value } && contested?.contains(value.id) != true
        default: false
        }
    }
}
