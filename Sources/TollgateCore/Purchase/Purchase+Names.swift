extension Fact {
    /// Everybody whom this fact may make a holder.
    public var names: [Holder] {
        switch statement {
        case .period(let period): period.token.map { [Holder.name(ofToken: $0)] } ?? []
        case .subscription(let subscription):
            [Holder.name(ofStripeCustomer: subscription.customer)]
        case .payment(let payment):
            (payment.customer.map { [Holder.name(ofStripeCustomer: $0)] } ?? [])
                + (payment.reference.map { Holder.names(ofReference: $0) } ?? [])
        case .buyer(let buyer): Holder.names(ofReference: buyer.reference)
        case .googlePlaySubscription(let subscription):
            [subscription.account, subscription.resubscription?.account].compactMap { account in
                account.map { .name(ofToken: $0) }
            }
        case .googlePlayPurchase(let purchase):
            purchase.account.map { [Holder.name(ofToken: $0)] } ?? []
        case .claim(let claim): [.customer(claim.customer)]
        case .assignment(let assignment): [.customer(assignment.customer)]
        case .grant(let grant): [.customer(grant.customer)]
        case .freeSubscription(let subscription): [.customer(subscription.customer)]
        case .coins(let coins): [.customer(coins.customer)]
        case .renewal, .status, .refundReversed, .invoice, .refund, .dispute, .googlePlayOrder,
            .googlePlayVoid, .googlePlayUnreadable:
            []
        }
    }
}

extension Fact {
    /// Who paid, as Stripe calls its customers.
    public var payers: [Holder] {
        switch statement {
        case .subscription(let subscription):
            [.name(ofStripeCustomer: subscription.customer)]
        case .payment(let payment):
            payment.customer.map { [.name(ofStripeCustomer: $0)] } ?? []
        default: []
        }
    }
}

extension Purchase {
    /// Everybody whom this record may make a holder.
    public var names: [Holder] {
        var names = record.names
        names += claims.map { .customer($0.customer) }
        if let assignment { names.append(.customer(assignment.value.customer)) }
        return names
    }

    /// Who paid, as Stripe calls its customers.
    public var payers: [Holder] {
        [subscription?.value.customer, payment?.customer].compactMap { text in
            text.map { .name(ofStripeCustomer: $0) }
        }
    }
}
