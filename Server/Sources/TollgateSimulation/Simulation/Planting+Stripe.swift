import TollgateCore

/// Mistakes about what Stripe says, planted into the facts that are made of it.
enum StripePlanting {
    private static let grace: Int64 = 3 * 86_400_000

    /// A fact as the bug makes it.
    static func alter(_ fact: Fact, _ bug: PlantedBug) -> Fact {
        var fact = fact
        switch fact.statement {
        case .subscription(let subscription):
            fact.statement = .subscription(alter(subscription, of: fact, bug))
        case .invoice(let invoice): fact.statement = .invoice(alter(invoice, bug))
        case .payment(var payment):
            if bug == .passRunsFromOpening, payment.isPaid {
                payment.paidBy = payment.created
                fact.stated = Stated(payment.created, isRead: fact.stated.isRead)
            }
            if bug == .addedProductIgnored {
                payment.lines = payment.lines.map { Array($0.prefix(1)) }
            }
            fact.statement = .payment(payment)
        case .refund(var refund):
            if bug == .refundCutsAtNewestClock { refund.created = fact.stated.instant }
            fact.statement = .refund(refund)
        case .dispute(var dispute):
            if bug == .refundCutsAtNewestClock {
                dispute.created = fact.stated.instant
                dispute.withdrawn = fact.stated.instant
            }
            if bug == .inquiryCountsWhenOpened { dispute.withdrawn = nil }
            fact.statement = .dispute(dispute)
        default: break
        }
        return fact
    }

    private static func alter(
        _ subscription: StripeSubscription,
        of fact: Fact,
        _ bug: PlantedBug
    ) -> StripeSubscription {
        var subscription = subscription
        switch bug {
        case .pastDueTakesWhatIsPaid:
            let isOver = subscription.items.allSatisfy {
                $0.start.milliseconds + grace <= fact.stated.instant.milliseconds
            }
            if subscription.status == "past_due", isOver { subscription.status = "unpaid" }
        case .farCancelAtHasNoLeeway:
            guard let end = subscription.items.map(\.end).min(), let stop = subscription.cancelAt
            else { break }
            subscription.cancelAt = min(stop, end)
        default: break
        }
        return subscription
    }

    private static func alter(_ invoice: StripeInvoice, _ bug: PlantedBug) -> StripeInvoice {
        var invoice = invoice
        switch bug {
        case .oneTimeLineGrantsNothing: invoice.lines.removeAll { $0.item == nil }
        case .creditKeepsCoins: invoice.lines.removeAll { $0.isProration && $0.amount < 0 }
        case .voidedInvoiceIsPaid:
            guard let voided = invoice.voided else { break }
            (invoice.isPaid, invoice.paid, invoice.voided) = (true, voided, nil)
        case .saleDayIsThePeriods:
            if invoice.isPaid { invoice.paid = invoice.lines.map(\.start).min() ?? invoice.paid }
        case .discountByInvoice:
            let sum = invoice.lines.reduce(0) { $0 + ($1.discount ?? 0) }
            let charged = invoice.lines.reduce(0) { $0 + max(0, $1.amount) }
            guard sum > 0, charged > 0 else { break }
            for index in invoice.lines.indices {
                invoice.lines[index].discount = sum * max(0, invoice.lines[index].amount) / charged
            }
        default: break
        }
        return invoice
    }
}
