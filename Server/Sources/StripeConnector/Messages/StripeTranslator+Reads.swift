public import Stores
public import StripeAPI
public import TollgateCore

extension StripeTranslator {
    /// The facts of a Checkout Session that we read with its line items.
    ///
    /// - Parameters:
    ///   - items: all of its line items, whatever page they came on; `nil`: as far as it says.
    ///   - instant: as of when the read speaks (RULES §4.2).
    public static func message(
        reading session: Stripe.CheckoutSession,
        items: [Stripe.LineItem]? = nil,
        at instant: Instant,
        livemode: Bool
    ) -> Translation.Meaning {
        let message = message(
            .checkoutSession(session),
            source: "read:\(session.id)",
            stated: Stated(instant, isRead: true),
            livemode: livemode,
            type: "checkout.session"
        )
        guard case .facts(var facts, let key) = message else { return message }
        for index in facts.indices {
            guard case .payment(let payment) = facts[index].statement else { continue }
            // After a capture the session may be behind its payment.
            let intent = try? session.paymentIntent?.object()
            let isPaid = payment.isPaid || intent?.status == .succeeded
            facts[index].statement = .payment(
                StripePayment(
                    session: payment.session,
                    status: payment.status,
                    isPaid: isPaid,
                    customer: payment.customer,
                    reference: payment.reference,
                    lines: items.map { StripePayment.itemLines($0) } ?? payment.lines,
                    amount: payment.amount,
                    currency: payment.currency,
                    created: payment.created,
                    country: payment.country ?? session.paymentIntent?.payerCountry,
                    paidBy: isPaid ? session.paidBy(readAt: instant) : nil
                )
            )
        }
        return .facts(facts, about: key)
    }

    /// The facts of a subscription that we read.
    ///
    /// - Parameter items: all of its items; `nil`: those that it shows are all.
    public static func message(
        reading subscription: Stripe.Subscription,
        items: [Stripe.SubscriptionItem]? = nil,
        at instant: Instant,
        livemode: Bool
    ) -> Translation.Meaning {
        guard
            let statement = StripeSubscription(
                subscription,
                items: items ?? subscription.items.data
            )
        else { return .parked(reason: "subscription \(subscription.id) without its periods") }
        return read(subscription.id, as: .subscription(statement), at: instant, livemode: livemode)
    }

    /// The facts of a settled invoice of a subscription that we read; of no consequence if it is
    /// none.
    ///
    /// - Parameter lines: all of its lines; `nil`: those that it shows are all.
    public static func message(
        reading invoice: Stripe.Invoice,
        lines: [Stripe.InvoiceLine]? = nil,
        at instant: Instant,
        livemode: Bool
    ) -> Translation.Meaning {
        guard let subscription = invoice.subscription?.id, invoice.isSettled else {
            return .nothing(reason: "invoice \(invoice.id) is no settled one of a subscription")
        }
        return read(
            invoice.id,
            about: subscription,
            as: .invoice(StripeInvoice(invoice, lines: lines ?? invoice.lines.data)),
            at: instant,
            livemode: livemode
        )
    }

    /// The fact of a refund that we read.
    ///
    /// - Parameters:
    ///   - payment: the record it belongs to: of the payment intent, or of the subscription whose
    ///     invoice the payment paid.
    ///   - invoice: that invoice.
    public static func message(
        reading refund: Stripe.Refund,
        of payment: String,
        paying invoice: String? = nil,
        at instant: Instant,
        livemode: Bool
    ) -> Translation.Meaning {
        read(
            refund.id,
            about: payment,
            as: .refund(StripeRefund(refund, paying: invoice)),
            at: instant,
            livemode: livemode
        )
    }

    /// The fact of a dispute that we read; the parameters are as for a refund.
    public static func message(
        reading dispute: Stripe.Dispute,
        of payment: String,
        paying invoice: String? = nil,
        at instant: Instant,
        livemode: Bool
    ) -> Translation.Meaning {
        read(
            dispute.id,
            about: payment,
            as: .dispute(StripeDispute(dispute, paying: invoice)),
            at: instant,
            livemode: livemode
        )
    }

    static func read(
        _ id: String,
        about purchase: String? = nil,
        as statement: Statement,
        at instant: Instant,
        livemode: Bool
    ) -> Translation.Meaning {
        let key = key(purchase ?? id, livemode: livemode)
        let fact = Fact(
            purchase: key,
            source: "read:\(id)",
            stated: Stated(instant, isRead: true),
            statement: statement
        )
        return .facts([fact], about: key)
    }
}
