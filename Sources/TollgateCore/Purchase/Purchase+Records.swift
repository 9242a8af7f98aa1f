// The parts of a store's record. They are empty where the purchase is another store's.
extension Purchase.Record {
    var appStore: AppStoreRecord? { if case .appStore(let record) = self { record } else { nil } }
    var stripe: StripeRecord? { if case .stripe(let record) = self { record } else { nil } }
    var googlePlay: GooglePlayRecord? {
        if case .googlePlay(let record) = self { record } else { nil }
    }
    var own: OwnRecord? { if case .own(let record) = self { record } else { nil } }
}

extension Purchase {
    public var appStore: AppStoreRecord? { record.appStore }
    public var stripe: StripeRecord? { record.stripe }
    public var googlePlay: GooglePlayRecord? { record.googlePlay }
    public var own: OwnRecord? { record.own }

    // MARK: - The App Store

    public var periods: [PeriodRecord] { appStore?.periods ?? [] }
    public var status: Newest<SubscriptionStatus>? { appStore?.status }
    public var renewal: Newest<RenewalTerms>? { appStore?.renewal }

    /// The periods in the order of their starts, as reports count them: without the renewal window
    /// and the reach of a status, which are mercy and no payment.
    public var effectivePeriods: [EffectivePeriod] {
        appStore?.effectivePeriods(ownership) ?? []
    }

    /// Whether statements disagree about the present, so that the store's answer counts even where it
    /// repeats one of them.
    public var isContested: Bool { appStore?.isContested ?? false }

    /// Whether a newer statement of the same words changes nothing.
    public func repeats(_ period: Period) -> Bool { appStore?.repeats(period) ?? false }

    /// Whom the App Store has to be told to name under the policy `transfer`: whose the purchase is by
    /// staff's word, a restore or a claim; `nil` where its own token says it.
    ///
    /// A period may be known before it begins: who restores until then is about the one before.
    public func ownerToName(at instant: Instant) -> Customer.ID? {
        appStore.flatMap { ownership.ownerToName(in: $0.epochs(), at: instant) }
    }

    // MARK: - Stripe

    public var subscription: Newest<StripeSubscription>? { stripe?.subscription }
    public var isSubscriptionContested: Bool { stripe?.isSubscriptionContested ?? false }
    public var payment: PaymentRecord? { stripe?.payment }
    public var buyer: Newest<StripeBuyer>? { stripe?.buyer }
    public var invoices: [Newest<StripeInvoice>] { stripe?.invoices ?? [] }
    public var refunds: [Newest<StripeRefund>] { stripe?.refunds ?? [] }
    public var disputes: [Newest<StripeDispute>] { stripe?.disputes ?? [] }
    public var contested: [String]? { stripe?.contested }

    /// Who bought in Stripe, by the names under which the facts know them.
    public var stripeBuyer: HolderNames { ownership.owner(named: stripe?.names ?? []) }

    /// - Parameter invoice: which invoice's payment; `nil` for a one-time payment.
    public func takenBack(of amount: Int64, paying invoice: String?) -> StripeRecord.TakenBack {
        (stripe ?? StripeRecord()).takenBack(of: amount, paying: invoice)
    }

    // MARK: - Ours

    public var grant: Newest<StaffGrant>? { own?.grant }
    public var coins: Newest<StaffCoins>? { own?.coins }

    // MARK: - Several

    public var predecessors: [Predecessor]? {
        appStore?.predecessors ?? googlePlay?.predecessors
    }

    public var successors: [Successor]? { appStore?.successors ?? googlePlay?.successors }

    /// Every report about a free subscription, the oldest first; `nil`: it is none.
    public var freeSubscription: [Newest<FreeSubscription>]? {
        (appStore?.freeSubscription ?? own?.freeSubscription)?.reports
    }

    /// What figures about the past need of renewals that failed; `nil`: none did.
    public var failures: BillingFailures? {
        appStore?.failures ?? stripe?.failures ?? googlePlay?.failures
    }
}
