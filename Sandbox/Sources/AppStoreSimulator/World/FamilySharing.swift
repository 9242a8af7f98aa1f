/// Family Sharing: what a buyer's family gets, and loses
/// (<https://developer.apple.com/documentation/storekit/supporting-family-sharing-in-your-app>).
enum FamilySharing {
    /// The account becomes a member of a family, and gets what its members share.
    static func join(_ world: inout World, family: String?, _ id: String, at now: Int64)
        throws(Refusal)
    {
        var customer = try world.customer(id)
        if let former = customer.family, former != family {
            try endShares(&world, of: id, in: former, at: now)
        }
        customer.family = family
        world.customers[id] = customer
        guard let family else { return }
        for member in world.customers.values.filter({ $0.family == family }).map(\.id).sorted() {
            for transaction in world.transactionsOf(member)
            where transaction.ownership == .purchased {
                share(&world, transaction, at: now)
            }
        }
    }

    /// Gives the buyer's family what was bought, if it can be shared.
    static func share(_ world: inout World, _ bought: Transaction, at now: Int64) {
        guard bought.ownership == .purchased, !bought.isRevoked,
            let product = world.products[bought.productID], product.isFamilyShareable,
            let family = world.customers[bought.customer]?.family
        else { return }
        let members = world.customers.values
            .filter { $0.family == family && $0.id != bought.customer }
            .map(\.id).sorted()
        for member in members {
            if let source = world.subscriptions[bought.originalID] {
                shareSubscription(&world, source, with: member, at: now)
            } else if !world.transactionsOf(member).contains(where: {
                $0.productID == bought.productID && !$0.isRevoked
            }) {
                let id = world.nextTransactionID()
                world.record(
                    shared(&world, bought, id: id, originalID: id, member: member),
                    at: now
                )
                world.announce("ONE_TIME_CHARGE", transaction: id)
            }
        }
    }

    /// - Parameter ownership: how the member has it: by their family, or as an assigned seat.
    /// - Returns: the original transaction id of the member's part; `nil`: they have one already.
    @discardableResult
    static func shareSubscription(
        _ world: inout World,
        _ source: Subscription,
        with member: String,
        as ownership: Transaction.Ownership = .familyShared,
        at now: Int64
    ) -> String? {
        guard source.state == .active || source.state == .billingGrace,
            let latest = world.period(of: source).first
        else { return nil }
        let held = world.subscriptions(of: member, in: source.group)
        if held.contains(where: { $0.state == .active || $0.state == .billingGrace }) { return nil }
        let previous = held.first
        let id = world.nextTransactionID()
        let own = previous?.sharedFrom == nil ? nil : previous?.originalTransactionID
        let transaction = shared(
            &world,
            latest,
            id: id,
            originalID: own ?? id,
            member: member,
            as: ownership
        )
        world.record(transaction, at: now)
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
        world.record(share)
        world.announce(
            "SUBSCRIBED",
            previous == nil ? "INITIAL_BUY" : "RESUBSCRIBE",
            subscription: share.originalTransactionID
        )
        return share.originalTransactionID
    }

    private static func shared(
        _ world: inout World,
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
            webOrderLineItemID: source.webOrderLineItemID == nil ? nil : world.nextLineItemID(),
            orderID: world.nextOrderID(),
            productID: source.productID,
            kind: source.kind,
            subscriptionGroup: source.subscriptionGroup,
            purchaseDate: source.purchaseDate,
            originalPurchaseDate: world.transactions[originalID]?.originalPurchaseDate
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
    static func followShares(_ world: inout World, of originalID: String, at now: Int64) {
        guard let source = world.subscriptions[originalID] else { return }
        for share in world.shares(of: originalID) where share.state != .revoked {
            follow(&world, source, share, at: now)
        }
        for id in source.seatHolders ?? [] {
            guard let share = world.subscriptions[id], share.state != .revoked else { continue }
            follow(&world, source, share, at: now)
        }
    }

    private static func follow(
        _ world: inout World,
        _ source: Subscription,
        _ share: Subscription,
        at now: Int64
    ) {
        // Added seats are no new period.
        guard let latest = world.period(of: source).first,
            let own = world.transactions[share.latestTransactionID]
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
                world.record(replaced, at: now)
            }
            let id = world.nextTransactionID()
            world.record(
                shared(
                    &world,
                    latest,
                    id: id,
                    originalID: share.originalTransactionID,
                    member: share.customer,
                    as: own.ownership
                ),
                at: now
            )
            changed.latestTransactionID = id
            world.record(changed)
            world.announce(
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
            world.record(extended, at: now)
        }
        world.record(changed)
        announceState(&world, of: changed, was: share)
    }

    private static func announceState(
        _ world: inout World,
        of share: Subscription,
        was: Subscription
    ) {
        let id = share.originalTransactionID
        switch share.state {
        case .expired where was.state != .expired:
            world.announce(
                "EXPIRED",
                share.expirationIntent.flatMap { Billing.expirySubtypes[$0] },
                subscription: id
            )
        case .billingGrace where was.state == .active:
            world.announce("DID_FAIL_TO_RENEW", "GRACE_PERIOD", subscription: id)
        case .billingRetry where was.state == .billingGrace:
            world.announce("GRACE_PERIOD_EXPIRED", subscription: id)
        case .billingRetry where was.state == .active:
            world.announce("DID_FAIL_TO_RENEW", subscription: id)
        case .active where share.renewalDate != was.renewalDate:
            world.announce("RENEWAL_EXTENDED", subscription: id)
        default:
            break
        }
    }

    /// A member loses what was shared: the buyer stopped sharing, left, or was refunded.
    static func revokeShare(_ world: inout World, _ originalID: String, at now: Int64)
        throws(Refusal)
    {
        var changed = try world.subscription(originalID)
        guard changed.sharedFrom != nil else {
            throw .notPossible("It is not a family member's share, and no assigned seat.")
        }
        guard changed.state != .revoked else { return }
        var latest = try world.transaction(changed.latestTransactionID)
        latest.revocation = .init(
            date: now,
            reason: 0,
            type: latest.ownership == .assigned ? "ASSIGNMENT_REVOKE" : "FAMILY_REVOKE"
        )
        world.record(latest, at: now)
        changed.state = .revoked
        changed.autoRenews = false
        changed.gracePeriodExpiresDate = nil
        world.record(changed)
        world.announce("REVOKE", subscription: originalID)
    }

    /// Who leaves a family loses what it shares with them, and it loses what they share.
    static func endShares(_ world: inout World, of id: String, in family: String, at now: Int64)
        throws(Refusal)
    {
        let members = world.customers.values.filter { $0.family == family }.map(\.id).sorted()
        for member in members {
            for held in world.transactionsOf(member)
            where held.ownership == .familyShared && !held.isRevoked {
                guard let share = world.subscriptions[held.originalID] else {
                    let isTheirs = world.transactionsOf(id).contains {
                        $0.productID == held.productID && $0.ownership == .purchased
                    }
                    if member == id || isTheirs { revoke(&world, held, at: now) }
                    continue
                }
                let owner = share.sharedFrom.flatMap { world.subscriptions[$0]?.customer }
                guard share.latestTransactionID == held.id, share.state != .expired,
                    member == id || owner == id
                else { continue }
                try revokeShare(&world, share.originalTransactionID, at: now)
            }
        }
    }

    private static func revoke(_ world: inout World, _ shared: Transaction, at now: Int64) {
        var share = shared
        share.revocation = .init(date: now, reason: 0, type: "FAMILY_REVOKE", percentage: nil)
        world.record(share, at: now)
        world.announce("REVOKE", transaction: share.id)
    }

    /// The family loses a one-time purchase that was refunded.
    static func revokeShares(_ world: inout World, of refunded: Transaction, at now: Int64) {
        guard let family = world.customers[refunded.customer]?.family else { return }
        for member in world.customers.values.filter({ $0.family == family }).map(\.id).sorted() {
            for share in world.transactionsOf(member)
            where share.ownership == .familyShared && share.productID == refunded.productID
                && !share.isRevoked
            {
                revoke(&world, share, at: now)
            }
        }
    }
}
