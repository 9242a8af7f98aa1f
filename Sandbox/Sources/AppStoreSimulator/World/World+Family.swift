extension SimulatedAppStore.World {
    /// Gives the buyer's family what was bought, if it can be shared.
    mutating func share(_ bought: Transaction, at now: Int64) {
        guard bought.ownership == .purchased, !bought.isRevoked,
            let product = products[bought.productID], product.isFamilyShareable,
            let family = customers[bought.customer]?.family
        else { return }
        let members = customers.values
            .filter { $0.family == family && $0.id != bought.customer }
            .map(\.id).sorted()
        for member in members {
            if let source = subscriptions[bought.originalID] {
                shareSubscription(source, with: member, at: now)
            } else if !transactionsOf(member).contains(where: {
                $0.productID == bought.productID && !$0.isRevoked
            }) {
                let id = nextTransactionID()
                record(shared(bought, id: id, originalID: id, member: member), at: now)
                announce("ONE_TIME_CHARGE", transaction: id)
            }
        }
    }

    /// - Parameter ownership: how the member has it: by their family, or as an assigned seat.
    /// - Returns: the original transaction id of the member's part; `nil`: they have one already.
    @discardableResult
    mutating func shareSubscription(
        _ source: Subscription,
        with member: String,
        as ownership: Transaction.Ownership = .familyShared,
        at now: Int64
    ) -> String? {
        guard source.state == .active || source.state == .billingGrace,
            let latest = period(of: source).first
        else { return nil }
        let held = subscriptions(of: member, in: source.group)
        if held.contains(where: { $0.state == .active || $0.state == .billingGrace }) { return nil }
        let previous = held.first
        let id = nextTransactionID()
        let own = previous?.sharedFrom == nil ? nil : previous?.originalTransactionID
        let transaction = shared(
            latest,
            id: id,
            originalID: own ?? id,
            member: member,
            as: ownership
        )
        record(transaction, at: now)
        var share = source
        share = Subscription(
            originalTransactionID: own ?? id,
            customer: member,
            group: source.group,
            productID: source.productID,
            autoRenewProductID: source.nextProductID,
            latestTransactionID: id,
            renewalDate: source.renewalDate,
            renewalPrice: 0,
            recentStart: now,
            sharedFrom: source.originalTransactionID,
            anchor: now
        )
        share.autoRenews = source.autoRenews
        record(share)
        announce(
            "SUBSCRIBED",
            previous == nil ? "INITIAL_BUY" : "RESUBSCRIBE",
            subscription: share.originalTransactionID
        )
        return share.originalTransactionID
    }

    private mutating func shared(
        _ source: Transaction,
        id: String,
        originalID: String,
        member: String,
        as ownership: Transaction.Ownership = .familyShared
    ) -> Transaction {
        var transaction = Transaction(
            id: id,
            originalID: originalID,
            customer: member,
            webOrderLineItemID: source.webOrderLineItemID == nil ? nil : nextLineItemID(),
            orderID: nextOrderID(),
            productID: source.productID,
            kind: source.kind,
            subscriptionGroup: source.subscriptionGroup,
            purchaseDate: source.purchaseDate,
            originalPurchaseDate: transactions[originalID]?.originalPurchaseDate
                ?? source.purchaseDate,
            expiresDate: source.expiresDate,
            quantity: source.quantity,
            ownership: ownership,
            reason: source.reason
        )
        // With Apple-hosted invitations, members have the same seat information as the buyer.
        if ownership == .assigned { transaction.revokedSeats = source.revokedSeats }
        return transaction
    }

    /// Brings the family's shares to the buyer's state after it changed.
    mutating func followShares(of originalID: String, at now: Int64) {
        guard let source = subscriptions[originalID] else { return }
        for share in shares(of: originalID) where share.state != .revoked {
            follow(source, share, at: now)
        }
        for id in source.seatHolders ?? [] {
            guard let share = subscriptions[id], share.state != .revoked else { continue }
            follow(source, share, at: now)
        }
    }

    private mutating func follow(_ source: Subscription, _ share: Subscription, at now: Int64) {
        // Added seats are no new period.
        guard let latest = period(of: source).first,
            let own = transactions[share.latestTransactionID]
        else { return }
        var changed = share
        changed.productID = source.productID
        changed.autoRenewProductID = source.nextProductID
        changed.autoRenews = source.autoRenews
        changed.renewalDate = source.renewalDate
        changed.state = source.state
        changed.gracePeriodExpiresDate = source.gracePeriodExpiresDate
        changed.expirationIntent = source.expirationIntent
        if latest.purchaseDate > own.purchaseDate {
            if latest.reason == .purchase {
                var replaced = own
                replaced.isUpgraded = true
                record(replaced, at: now)
            }
            let id = nextTransactionID()
            record(
                shared(
                    latest,
                    id: id,
                    originalID: share.originalTransactionID,
                    member: share.customer,
                    as: own.ownership
                ),
                at: now
            )
            changed.latestTransactionID = id
            record(changed)
            announce(
                latest.reason == .purchase ? "DID_CHANGE_RENEWAL_PREF" : "DID_RENEW",
                latest.reason == .purchase
                    ? "UPGRADE" : share.state == .active ? nil : "BILLING_RECOVERY",
                subscription: share.originalTransactionID
            )
            return
        }
        if own.expiresDate != latest.expiresDate {
            var extended = own
            extended.expiresDate = latest.expiresDate
            record(extended, at: now)
        }
        record(changed)
        announceState(of: changed, was: share)
    }

    private mutating func announceState(of share: Subscription, was: Subscription) {
        let id = share.originalTransactionID
        switch share.state {
        case .expired where was.state != .expired:
            announce(
                "EXPIRED",
                share.expirationIntent.flatMap { Self.expirySubtypes[$0] },
                subscription: id
            )
        case .billingGrace where was.state == .active:
            announce("DID_FAIL_TO_RENEW", "GRACE_PERIOD", subscription: id)
        case .billingRetry where was.state == .billingGrace:
            announce("GRACE_PERIOD_EXPIRED", subscription: id)
        case .billingRetry where was.state == .active:
            announce("DID_FAIL_TO_RENEW", subscription: id)
        case .active where share.renewalDate != was.renewalDate:
            announce("RENEWAL_EXTENDED", subscription: id)
        default:
            break
        }
    }

    /// A member loses what was shared: the buyer stopped sharing, left, or was refunded.
    mutating func revokeFamilyShare(_ originalID: String, at now: Int64) throws(Refusal) {
        var changed = try subscription(originalID)
        guard changed.sharedFrom != nil else {
            throw .notPossible("It is not a family member's share, and no assigned seat.")
        }
        guard changed.state != .revoked else { return }
        var latest = try transaction(changed.latestTransactionID)
        latest.revocation = .init(
            date: now,
            reason: 0,
            type: latest.ownership == .assigned ? "ASSIGNMENT_REVOKE" : "FAMILY_REVOKE"
        )
        record(latest, at: now)
        changed.state = .revoked
        changed.autoRenews = false
        changed.gracePeriodExpiresDate = nil
        record(changed)
        announce("REVOKE", subscription: originalID)
    }

    /// Who leaves a family loses what it shares with them, and it loses what they share.
    ///
    /// https://developer.apple.com/documentation/storekit/supporting-family-sharing-in-your-app
    mutating func endShares(of id: String, in family: String, at now: Int64) throws(Refusal) {
        let members = customers.values.filter { $0.family == family }.map(\.id).sorted()
        for member in members {
            for held in transactionsOf(member)
            where held.ownership == .familyShared && !held.isRevoked {
                guard let share = subscriptions[held.originalID] else {
                    let isTheirs = transactionsOf(id).contains {
                        $0.productID == held.productID && $0.ownership == .purchased
                    }
                    if member == id || isTheirs { revoke(held, at: now) }
                    continue
                }
                let owner = share.sharedFrom.flatMap { subscriptions[$0]?.customer }
                guard share.latestTransactionID == held.id, share.state != .expired,
                    member == id || owner == id
                else { continue }
                try revokeFamilyShare(share.originalTransactionID, at: now)
            }
        }
    }

    private mutating func revoke(_ shared: Transaction, at now: Int64) {
        var share = shared
        share.revocation = .init(date: now, reason: 0, type: "FAMILY_REVOKE", percentage: nil)
        record(share, at: now)
        announce("REVOKE", transaction: share.id)
    }

    /// The family loses a one-time purchase that was refunded.
    mutating func revokeShares(of refunded: Transaction, at now: Int64) {
        guard let family = customers[refunded.customer]?.family else { return }
        for member in customers.values.filter({ $0.family == family }).map(\.id).sorted() {
            for share in transactionsOf(member)
            where share.ownership == .familyShared && share.productID == refunded.productID
                && !share.isRevoked
            {
                revoke(share, at: now)
            }
        }
    }
}
