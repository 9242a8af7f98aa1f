import TollgateCore

extension Planting {
    static func alterOfStripe(_ fact: Fact, _ bug: PlantedBug) -> [Fact] {
        var fact = fact
        switch fact.statement {
        case .subscription(let subscription):
            guard let altered = alter(subscription, stated: fact.stated, bug) else { return [] }
            fact.statement = .subscription(altered)
        case .payment(let payment): return alter(payment, of: fact, bug)
        case .invoice(var invoice):
            invoice.lines = invoice.lines.compactMap { alter($0, bug) }
            fact.statement = .invoice(invoice)
        case .refund(var refund):
            switch bug {
            case .partialRefundTakesAll: refund.amount = 1_000_000_000
            case .refundIgnored: return []
            case .onlyOneRefundCounts: refund.id = "re_1"
            case .refundTakenPerEvent: refund.id += fact.source
            case .failedRefundStands where refund.status == "failed": refund.status = "succeeded"
            default: break
            }
            fact.statement = .refund(refund)
        case .dispute(var dispute):
            switch bug {
            case .disputeIgnored: return []
            case .wonDisputeIsLost where dispute.status == "won": dispute.status = "lost"
            case .disputeCutsWhenLost:
                (dispute.created, dispute.withdrawn) = (fact.stated.instant, fact.stated.instant)
            default: break
            }
            fact.statement = .dispute(dispute)
        default: break
        }
        return [fact]
    }

    private static func alter(
        _ subscription: StripeSubscription,
        stated: Stated,
        _ bug: PlantedBug
    ) -> StripeSubscription? {
        var subscription = subscription
        switch (bug, subscription.status) {
        case (.cancellationIgnored, "canceled"): return nil
        case (.pastDueIsActive, "past_due"), (.unpaidIsActive, "unpaid"),
            (.unpaidIsActive, "incomplete"), (.unpaidIsActive, "incomplete_expired"):
            subscription.status = "active"
        case (.pastDueTakesPaid, "past_due"):
            let began = subscription.items.map(\.start).max() ?? stated.instant
            if began.advanced(by: 3 * 86_400_000) < stated.instant { subscription.status = "unpaid" }
        case (.farEndTakesLeeway, _):
            if subscription.cancelAt != nil {
                subscription.cancelAt = subscription.items.map(\.end).min()
            }
        default: break
        }
        return subscription
    }

    private static func alter(
        _ payment: StripePayment,
        of fact: Fact,
        _ bug: PlantedBug
    ) -> [Fact] {
        var (fact, payment) = (fact, payment)
        var more: [Fact] = []
        switch bug {
        case .unpaidSessionGrants: payment.isPaid = true
        case .quantityIgnored:
            payment.lines = payment.lines?.map { .init(price: $0.price, quantity: 1) }
        case .passRunsFromPage:
            guard payment.isPaid else { break }
            var opened = payment
            opened.paidBy = payment.created
            var read = fact
            read.stated = Stated(fact.stated.instant, isRead: true)
            read.statement = .payment(opened)
            more = [read]
        case .freeSaleCountsTwice:
            if payment.session.hasPrefix("in_") { fact.purchase.id = payment.session }
        default: break
        }
        fact.statement = .payment(payment)
        return [fact] + more
    }

    /// - Returns: `nil`: the line is overlooked.
    private static func alter(
        _ line: StripeInvoice.Line,
        _ bug: PlantedBug
    ) -> StripeInvoice.Line? {
        var line = line
        switch bug {
        case .prorationCredits: line.isProration = false
        case .creditKeepsCoins: if line.amount < 0 { return nil }
        case .extrasGiveNothing: if line.item == nil, !line.isProration { return nil }
        case .otherPricesForgotten: line.item = nil
        default: break
        }
        return line
    }
}
