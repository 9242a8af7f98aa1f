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
                StripeHints.reads(for: event),
                livemode: event.livemode,
                reason: "\(event.type) in API version \(event.apiVersion ?? "unknown")"
            )
        }
        let subject: Stripe.Event.Subject
        do {
            subject = try event.subject()
        } catch {
            let reads = StripeHints.reads(for: event)
            let reason = "\(event.type) cannot be read: \(error)"
            guard !reads.isEmpty else { return .parked(reason: reason) }
            return hint(reads, livemode: event.livemode, reason: reason)
        }
        // A list that goes on elsewhere is no statement about the whole.
        let reads = isWhole(subject) ? [] : StripeHints.reads(for: event)
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

    /// A message that only says that something has to be read.
    static func hint(_ reads: [Wanted], livemode: Bool, reason: String) -> Translation.Meaning {
        guard let first = reads.first else { return .nothing(reason: reason) }
        return .hint(reads, about: key(first.object, livemode: livemode), reason: reason)
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
            guard
                let statement = StripeSubscription(subscription, items: subscription.items.data)
            else {
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
                .invoice(StripeInvoice(invoice, lines: invoice.lines.data))
            )
        case .refund(let refund):
            guard let payment = refund.paymentIntent?.id else {
                return .parked(reason: "refund \(refund.id) names no payment intent")
            }
            return facts(payment, .refund(StripeRefund(refund)))
        case .dispute(let dispute):
            guard let payment = dispute.paymentIntent?.id else {
                return .parked(reason: "dispute \(dispute.id) names no payment intent")
            }
            return facts(payment, .dispute(StripeDispute(dispute)))
        case .paymentIntent(let intent):
            guard let payment = StripePayment(intent) else { return .nothing(reason: type) }
            return facts(intent.id, .payment(payment))
        case .customer, .other: return .nothing(reason: type)
        }
    }

    /// Whether an object shows all of itself; of entitlements never, since Stripe's summary is
    /// compared with what Stripe says now.
    private static func isWhole(_ subject: Stripe.Event.Subject) -> Bool {
        switch subject {
        case .subscription(let subscription): !subscription.items.hasMore
        case .invoice(let invoice): !invoice.lines.hasMore
        case .other(let name): name != StripeHints.entitlementSummary
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
                lines: StripePayment.checkoutLines(of: session),
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
