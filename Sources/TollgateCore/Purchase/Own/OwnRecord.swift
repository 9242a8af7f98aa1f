/// Grants and corrections by staff, and free subscriptions: a purchase that no store sold.
public struct OwnRecord: Hashable, Codable, Sendable {
    public private(set) var grant: Newest<StaffGrant>?
    /// A correction of coins by staff; `nil`: it is none.
    public private(set) var coins: Newest<StaffCoins>?
    /// Every report about a free subscription, the oldest first; `nil`: it is none.
    public private(set) var freeSubscription: FreeSubscriptionReports?

    mutating func join(_ fact: Fact) {
        switch fact.statement {
        case .grant(let grant): self.grant.join(fact.newest(grant))
        case .coins(let coins): self.coins.join(fact.newest(coins))
        case .freeSubscription(let report): freeSubscription.join(fact.newest(report))
        case .period, .renewal, .status, .refundReversed, .subscription, .payment, .invoice,
            .refund, .dispute, .buyer, .claim, .assignment, .googlePlaySubscription,
            .googlePlayPurchase,
            .googlePlayOrder, .googlePlayVoid, .googlePlayUnreadable:
            break
        }
    }

    /// Everybody whom this record may make a holder.
    var names: [Holder] {
        var names: [Holder] = []
        if let grant { names.append(.customer(grant.value.customer)) }
        if let coins { names.append(.customer(coins.value.customer)) }
        return names + (freeSubscription?.names ?? [])
    }

    func evaluate(_ ownership: Ownership, _ evaluation: inout Evaluation) {
        if let grant { evaluate(grant, &evaluation) }
        if let coins { evaluate(coins, &evaluation) }
        guard let reports = freeSubscription, let newest = reports.newest else { return }
        let intervals = reports.spans(since: reports.reports[0].stated.instant)
            .map { span in
                AccessInterval(
                    product: StoreProduct(catalogProduct: newest.value.product),
                    since: span.since,
                    until: span.until,
                    ground: .grant,
                    evidence: newest.source
                )
            }
        evaluation.add(
            PurchaseAccess(intervals: intervals),
            to: ownership.owner(named: [.customer(newest.value.customer)])
        )
    }

    private func evaluate(_ coins: Newest<StaffCoins>, _ evaluation: inout Evaluation) {
        let owner: HolderNames = [.customer(coins.value.customer)]
        evaluation.add(PurchaseAccess(), to: owner)
        evaluation.lots.append(
            CoinLot(
                id: "staff",
                owner: owner,
                credit: coins.value.amount,
                clawed: 0,
                credited: coins.stated.instant
            )
        )
    }

    private func evaluate(_ grant: Newest<StaffGrant>, _ evaluation: inout Evaluation) {
        let interval = AccessInterval(
            product: StoreProduct(.tollgate, grant.value.lookupKey),
            since: grant.value.since,
            until: grant.value.until,
            ground: .grant,
            evidence: grant.source
        )
        evaluation.add(
            PurchaseAccess(intervals: [interval]),
            to: [.customer(grant.value.customer)]
        )
    }
}
