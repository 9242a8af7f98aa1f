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
        case .claim(let claim): [.customer(claim.customer)]
        case .assignment(let assignment): [.customer(assignment.customer)]
        case .grant(let grant): [.customer(grant.customer)]
        case .freeSubscription(let subscription): [.customer(subscription.customer)]
        case .coins(let coins): [.customer(coins.customer)]
        case .renewal, .status, .refundReversed, .invoice, .refund, .dispute: []
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
        var names: [Holder] = periods.compactMap { record in
            record.period.token.map { Holder.name(ofToken: $0) }
        }
        names += (predecessors ?? []).compactMap { $0.token.map { Holder.name(ofToken: $0) } }
        if let subscription {
            names.append(.name(ofStripeCustomer: subscription.value.customer))
        }
        if let customer = payment?.customer { names.append(.name(ofStripeCustomer: customer)) }
        if let reference = payment?.reference { names += Holder.names(ofReference: reference) }
        if let buyer { names += Holder.names(ofReference: buyer.value.reference) }
        names += claims.map { .customer($0.customer) }
        if let assignment { names.append(.customer(assignment.value.customer)) }
        if let grant { names.append(.customer(grant.value.customer)) }
        if let coins { names.append(.customer(coins.value.customer)) }
        names += (freeSubscription ?? []).map { .customer($0.value.customer) }
        return names
    }
    /// Who paid, as Stripe calls its customers.
    public var payers: [Holder] {
        [subscription?.value.customer, payment?.customer].compactMap { text in
            text.map { .name(ofStripeCustomer: $0) }
        }
    }
}
