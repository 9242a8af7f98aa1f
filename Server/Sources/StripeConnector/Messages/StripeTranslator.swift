public import Stores
public import StripeAPI
public import TollgateCore

/// Turns what Stripe sent, or answered to a read, into facts.
public enum StripeTranslator {
    /// The key under which a Checkout Session of ours carries what it sells, so that its
    /// completion needs no read: `price:quantity,…`.
    public static let linesKey = "tollgate_lines"

    /// The facts of an event whose signature was verified.
    ///
    /// One that is written in another version of the API than ours is a hint (RULES §4.4), and so
    /// is one that we cannot read although it should be ours.
    public static func message(_ event: Stripe.Event) -> Translation.Meaning {
        guard event.isInPinnedVersion else {
            return hint(
                reads(for: event),
                livemode: event.livemode,
                reason: "\(event.type) in API version \(event.apiVersion ?? "unknown")"
            )
        }
        let subject: Stripe.Event.Subject
        do {
            subject = try event.subject()
        } catch {
            let reads = reads(for: event)
            let reason = "\(event.type): \(error)"
            guard !reads.isEmpty else { return .parked(reason: reason) }
            return hint(reads, livemode: event.livemode, reason: reason)
        }
        // A list that goes on elsewhere is no statement about the whole.
        let reads = isWhole(subject) ? [] : reads(for: event)
        guard reads.isEmpty else {
            return hint(reads, livemode: event.livemode, reason: "\(event.type) with more pages")
        }
        let stated = Stated(Instant(seconds: event.created))
        return message(
            subject,
            source: event.id,
            stated: stated,
            livemode: event.livemode,
            type: event.type.rawValue
        )
    }

    static func lines(_ items: [Stripe.LineItem]) -> [StripePayment.Line]? {
        let lines = items.compactMap { item in
            item.price.map { StripePayment.Line(price: $0.id, quantity: item.quantity ?? 1) }
        }
        return lines.isEmpty ? nil : lines
    }

    static func message(
        _ subject: Stripe.Event.Subject,
        source: String,
        stated: Stated,
        livemode: Bool,
        type: String
    ) -> Translation.Meaning {
        func facts(_ id: String, _ statement: Statement) -> Translation.Meaning {
            let key = key(id, livemode: livemode)
            let fact = Fact(purchase: key, source: source, stated: stated, statement: statement)
            return .facts([fact], about: key)
        }
        switch subject {
        case .checkoutSession(let session):
            return message(
                session,
                hasFailed: type == Stripe.Event.Kind.checkoutSessionAsyncPaymentFailed.rawValue,
                facts
            )
        case .subscription(let subscription):
            guard let statement = statement(subscription, items: subscription.items.data) else {
                return .parked(reason: "subscription \(subscription.id) without its periods")
            }
            return facts(subscription.id, .subscription(statement))
        case .invoice(let invoice):
            guard invoice.isSettled else { return .nothing(reason: type) }
            guard let subscription = invoice.subscription?.id else {
                guard invoice.status == .paid else { return .nothing(reason: type) }
                // What it sold stands in its lines; which payment paid it, it does not say.
                guard invoice.lines.data.contains(where: { $0.price != nil }) else {
                    return .nothing(reason: type)
                }
                return hint(
                    [Wanted(kind: .invoice, object: invoice.id)],
                    livemode: livemode,
                    reason: "\(type) of no subscription"
                )
            }
            return facts(
                subscription,
                .invoice(statement(invoice, lines: invoice.lines.data))
            )
        case .refund(let refund):
            guard let payment = refund.paymentIntent?.id else {
                return .parked(reason: "refund \(refund.id) names no payment intent")
            }
            return facts(payment, .refund(statement(refund)))
        case .dispute(let dispute):
            guard let payment = dispute.paymentIntent?.id else {
                return .parked(reason: "dispute \(dispute.id) names no payment intent")
            }
            return facts(payment, .dispute(statement(dispute)))
        case .paymentIntent(let intent):
            guard let payment = payment(intent) else { return .nothing(reason: type) }
            return facts(intent.id, .payment(payment))
        case .customer, .product, .price, .invoicePayment, .charge, .activeEntitlementSummary,
            .deleted, .other:
            return .nothing(reason: type)
        }
    }

    private static func statement(_ refund: Stripe.Refund) -> StripeRefund {
        StripeRefund(
            id: refund.id,
            amount: refund.amount,
            status: refund.status?.rawValue ?? "succeeded",
            created: Instant(seconds: refund.created)
        )
    }

    private static func statement(_ dispute: Stripe.Dispute) -> StripeDispute {
        StripeDispute(
            id: dispute.id,
            amount: dispute.amount,
            status: dispute.status.rawValue,
            created: Instant(seconds: dispute.created),
            withdrawn: dispute.withdrawnAt.map { Instant(seconds: $0) }
        )
    }

    /// Whether an object shows all of itself; of entitlements never, since Stripe's summary is
    /// compared with what Stripe says now.
    private static func isWhole(_ subject: Stripe.Event.Subject) -> Bool {
        switch subject {
        case .subscription(let subscription): !subscription.items.hasMore
        case .invoice(let invoice): !invoice.lines.hasMore
        case .activeEntitlementSummary: false
        default: true
        }
    }

    private static func message(
        _ session: Stripe.CheckoutSession,
        hasFailed: Bool,
        _ facts: (String, Statement) -> Translation.Meaning
    ) -> Translation.Meaning {
        let reference = session.clientReferenceID.flatMap {
            Holder.reference(in: $0, ofOurSession: session.metadata[linesKey] != nil)
        }
        switch session.mode {
        case .payment:
            let payment = StripePayment(
                session: session.id,
                status: session.status?.rawValue ?? "open",
                isPaid: session.paymentStatus != .unpaid,
                customer: session.customer?.id,
                reference: reference,
                lines: lines(of: session),
                amount: session.amountTotal ?? 0,
                currency: session.currency ?? "",
                created: Instant(seconds: session.created),
                country: session.customerCountry,
                hasFailed: hasFailed
            )
            return facts(session.paymentIntent?.id ?? session.id, .payment(payment))
        case .subscription:
            guard let subscription = session.subscription?.id, let reference else {
                return .nothing(reason: "checkout of a subscription, which speaks for itself")
            }
            return facts(
                subscription,
                .buyer(StripeBuyer(reference: reference, country: session.customerCountry))
            )
        default:
            return .nothing(reason: "checkout in mode \(session.mode)")
        }
    }

    /// What the session sells, if it says so: by the line items that were read, or by the words we
    /// put on it ourselves.
    private static func lines(of session: Stripe.CheckoutSession) -> [StripePayment.Line]? {
        if let items = session.lineItems, !items.hasMore { return lines(items.data) }
        guard let words = session.metadata[linesKey] else { return nil }
        var lines: [StripePayment.Line] = []
        for word in words.split(separator: ",") {
            guard let separator = word.lastIndex(of: ":"),
                let quantity = Int64(word[word.index(after: separator)...]), quantity > 0
            else { return nil }
            lines.append(StripePayment.Line(price: String(word[..<separator]), quantity: quantity))
        }
        return lines.isEmpty ? nil : lines
    }

    static func statement(
        _ subscription: Stripe.Subscription,
        items shown: [Stripe.SubscriptionItem]
    ) -> StripeSubscription? {
        let isSent = subscription.collectionMethod == "send_invoice"
        var items: [StripeSubscription.Item] = []
        for item in shown {
            guard let period = subscription.currentPeriod(of: item) else { return nil }
            items.append(
                StripeSubscription.Item(
                    id: item.id,
                    price: item.price.id,
                    quantity: item.quantity ?? 1,
                    start: Instant(seconds: period.lowerBound),
                    end: Instant(seconds: period.upperBound),
                    isBilledInArrears: item.price.recurring?.usageType == "metered",
                    created: isSent ? item.created.map { Instant(seconds: $0) } : nil
                )
            )
        }
        return StripeSubscription(
            status: subscription.status.rawValue,
            customer: subscription.customer.id,
            items: items,
            cancelAt: subscription.cancelAt.map { Instant(seconds: $0) },
            cancelsAtPeriodEnd: subscription.cancelAtPeriodEnd,
            endedAt: subscription.endedAt.map { Instant(seconds: $0) },
            daysUntilDue: isSent ? subscription.daysUntilDue : nil
        )
    }

    static func statement(
        _ invoice: Stripe.Invoice,
        lines shown: [Stripe.InvoiceLine]
    ) -> StripeInvoice {
        let lines = shown.compactMap { line in
            line.price.map { price in
                StripeInvoice.Line(
                    id: line.id,
                    price: price,
                    quantity: line.quantity ?? 1,
                    amount: line.amount,
                    start: Instant(seconds: line.period.lowerBound),
                    end: Instant(seconds: line.period.upperBound),
                    isProration: line.isProration,
                    item: line.subscriptionItem,
                    discount: line.discountAmount,
                    tax: line.exclusiveTax == 0 ? nil : line.exclusiveTax
                )
            }
        }
        let isPaid = invoice.status == .paid
        let voided = invoice.voidedAt ?? invoice.markedUncollectibleAt ?? invoice.created
        return StripeInvoice(
            id: invoice.id,
            isPaid: isPaid,
            amount: invoice.amountPaid,
            total: invoice.total,
            currency: invoice.currency,
            lines: lines,
            paid: invoice.paidAt.map { Instant(seconds: $0) },
            country: invoice.customerCountry,
            voided: isPaid ? nil : Instant(seconds: voided)
        )
    }

    /// The record of a Stripe object.
    public static func key(_ id: String, livemode: Bool) -> Purchase.Key {
        Purchase.Key(
            store: .stripe,
            environment: livemode ? .production : .sandbox,
            application: "-",
            id: id
        )
    }
}

extension Stripe.Invoice {
    /// Whether it is known what became of it: it was paid, or it was voided or written off, so that
    /// what it bills is not paid for.
    public var isSettled: Bool {
        status == .paid || status == .void || status == .uncollectible
    }
}
