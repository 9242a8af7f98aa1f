/// Stripe's statements about one subscription or one payment.
///
/// Lists are kept sorted and there are no dictionaries, so equal records have equal bytes.
public struct StripeRecord: Hashable, Codable, Sendable {
    public private(set) var subscription: Newest<StripeSubscription>?
    /// Whether two events of the newest second disagree about the subscription: Stripe's `created`
    /// is no order within a second, so it has to be read (RULES §4.3).
    public private(set) var isSubscriptionContested = false
    /// The newest statement that called the subscription active or trialing.
    ///
    /// `nil` while `subscription` is that statement, and for a subscription that is over.
    public private(set) var lastActive: Newest<StripeSubscription>?
    public private(set) var payment: PaymentRecord?
    public private(set) var buyer: Newest<StripeBuyer>?
    /// Sorted by id, like the two lists below.
    public private(set) var invoices: [Newest<StripeInvoice>] = []
    public private(set) var refunds: [Newest<StripeRefund>] = []
    public private(set) var disputes: [Newest<StripeDispute>] = []
    /// Ids of the refunds and disputes about which two events of their newest second disagree, sorted;
    /// `nil`: none.
    ///
    /// They have to be read (RULES §4.3).
    public private(set) var contested: [String]?
    /// What figures about the past need of renewals that failed; `nil`: none did.
    public private(set) var failures: BillingFailures?

    mutating func join(_ fact: Fact) {
        failures.join(fact)
        switch fact.statement {
        case .subscription(let subscription): join(subscription, fact)
        case .payment(let payment): join(payment, fact)
        case .invoice(let invoice): join(invoice, fact)
        case .refund(let refund): join(refund, fact)
        case .dispute(let dispute): join(dispute, fact)
        case .buyer(let buyer): self.buyer.join(fact.newest(buyer))
        case .period, .renewal, .status, .refundReversed, .claim, .assignment, .grant,
            .freeSubscription, .coins, .googlePlaySubscription, .googlePlayPurchase,
            .googlePlayOrder, .googlePlayVoid, .googlePlayUnreadable:
            break
        }
    }

    /// A canceled subscription stays canceled, whatever is stated later, and one that was active is
    /// never again `incomplete` (RULES §4.1).
    private mutating func join(_ subscription: StripeSubscription, _ fact: Fact) {
        let stated = fact.newest(subscription)
        guard let known = self.subscription else { return self.subscription = stated }
        guard known.value.stage == subscription.stage else {
            guard known.value.stage < subscription.stage else { return }
            self.subscription = stated
            isSubscriptionContested = false
            lastActive = nil
            return
        }
        if known.stated < stated.stated {
            isSubscriptionContested = false
        } else if known.stated == stated.stated, known.value != subscription {
            isSubscriptionContested = true
        }
        self.subscription.join(stated)
        if self.subscription?.value.isActive == true {
            lastActive = nil
        } else if known.value.isActive {
            lastActive = known
        } else if subscription.isActive {
            lastActive.join(stated)
        }
    }

    private mutating func join(_ payment: StripePayment, _ fact: Fact) {
        let record = PaymentRecord(fact.newest(payment))
        if self.payment == nil { self.payment = record } else { self.payment?.join(record) }
    }

    private mutating func join(_ invoice: StripeInvoice, _ fact: Fact) {
        let stated = fact.newest(invoice)
        switch invoices.position(of: invoice.id, by: { $0.value.id }) {
        case .missing(let index): invoices.insert(stated, at: index)
        case .found(let index):
            let known = invoices[index]
            guard known.value.isPaid != invoice.isPaid else { return invoices[index].join(stated) }
            if invoice.isPaid { invoices[index] = stated }
        }
    }

    private mutating func join(_ refund: StripeRefund, _ fact: Fact) {
        let stated = fact.newest(refund)
        switch refunds.position(of: refund.id, by: { $0.value.id }) {
        case .missing(let index): refunds.insert(stated, at: index)
        case .found(let index):
            let known = refunds[index].value.rank
            if known < refund.rank {
                refunds[index] = stated
                setContested(refund.id, false)
            } else if known == refund.rank {
                contest(refund.id, refunds[index], stated)
                refunds[index].join(stated)
            }
        }
    }

    private mutating func join(_ dispute: StripeDispute, _ fact: Fact) {
        let stated = fact.newest(dispute)
        switch disputes.position(of: dispute.id, by: { $0.value.id }) {
        case .missing(let index): disputes.insert(stated, at: index)
        case .found(let index):
            let known = disputes[index].value.isClosed
            guard known != dispute.isClosed else {
                contest(dispute.id, disputes[index], stated)
                return disputes[index].join(stated)
            }
            if dispute.isClosed {
                disputes[index] = stated
                setContested(dispute.id, false)
            }
        }
    }

    /// Notes whether the newest second says two things of an object, as for a subscription.
    private mutating func contest<Value>(
        _ id: String,
        _ known: Newest<Value>,
        _ stated: Newest<Value>
    ) {
        if known.stated < stated.stated {
            setContested(id, false)
        } else if known.stated == stated.stated, known.value != stated.value {
            setContested(id, true)
        }
    }

    private mutating func setContested(_ id: String, _ isContested: Bool) {
        var ids = contested ?? []
        switch ids.position(of: id, by: { $0 }) {
        case .found(let index): if !isContested { ids.remove(at: index) }
        case .missing(let index): if isContested { ids.insert(id, at: index) }
        }
        contested = ids.isEmpty ? nil : ids
    }

    mutating func rename(_ renaming: Renaming) throws {
        try subscription?.amend { try $0.rename(renaming) }
        try lastActive?.amend { try $0.rename(renaming) }
        try payment?.rename(renaming)
        try buyer?.amend { try $0.rename(renaming) }
    }

    /// Everybody whom this record may make a holder: who bought, by the names under which the facts
    /// know them.
    var names: HolderNames {
        var names: HolderNames = []
        if let subscription {
            names.append(.name(ofStripeCustomer: subscription.value.customer))
        }
        if let customer = payment?.customer { names.append(.name(ofStripeCustomer: customer)) }
        if let reference = payment?.reference { names += Holder.names(ofReference: reference) }
        if let buyer { names += Holder.names(ofReference: buyer.value.reference) }
        return names
    }
}
