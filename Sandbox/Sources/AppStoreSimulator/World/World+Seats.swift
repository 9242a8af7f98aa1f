// Multiseat purchases (API 1.23): seats of one subscription, added, refunded and assigned.
extension SimulatedAppStore.World {
    /// The transactions that represent the running period, the first one first.
    ///
    /// What restoring made of them is left out.
    func period(of subscription: Subscription) -> [Transaction] {
        guard let latest = transactions[subscription.latestTransactionID] else { return [] }
        guard latest.additionalReason != nil else { return [latest] }
        let all = transactionsOf(subscription.customer).filter {
            $0.originalID == latest.originalID && $0.expiresDate == latest.expiresDate
                && $0.productID == latest.productID && $0.additionalReason != nil
        }
        var seen: Set<Int64> = []
        return all.filter { seen.insert($0.purchaseDate).inserted }
    }

    /// How many seats a subscription renews with: those of its running period that are left.
    func seats(of subscription: Subscription) -> Int {
        let left = period(of: subscription).filter { !$0.isRevoked }
            .reduce(0) { $0 + $1.quantity - ($1.revokedSeats ?? 0) }
        return max(1, left)
    }

    /// The buyer adds seats to the running period: a transaction of its own, which does not replace
    /// the one before.
    mutating func addSeats(
        _ count: Int,
        to originalID: String,
        at now: Int64
    ) throws(Refusal) -> Transaction {
        var changed = try subscription(originalID)
        var latest = try transaction(changed.latestTransactionID)
        guard changed.state == .active, latest.ownership == .purchased, latest.revokedSeats != nil
        else { throw .notPossible("Only an active multiseat subscription gets more seats.") }
        guard (1...1000).contains(count) else { throw .invalid("seats is from 1 to 1000.") }
        let product = try product(latest.productID)
        latest.additionalReason = Self.seatAddition
        record(latest, at: now)
        var transaction = Transaction(
            id: nextTransactionID(),
            originalID: originalID,
            customer: changed.customer,
            webOrderLineItemID: behaviour.addedSeatsShareLineItem
                ? latest.webOrderLineItemID : nextLineItemID(),
            orderID: nextOrderID(),
            productID: product.id,
            kind: .autoRenewable,
            subscriptionGroup: changed.group,
            purchaseDate: now,
            originalPurchaseDate: latest.originalPurchaseDate,
            expiresDate: latest.expiresDate,
            quantity: count,
            appAccountToken: changed.appAccountToken,
            ownership: .purchased,
            reason: .purchase,
            price: product.price * Int64(count),
            currency: product.currency
        )
        transaction.revokedSeats = 0
        transaction.additionalReason = Self.seatAddition
        transaction.previousOriginalID = changed.previousOriginalID
        record(transaction, at: now)
        changed.latestTransactionID = transaction.id
        record(changed)
        announce("DID_CHANGE_RENEWAL_PREF", "INCREASE_QUANTITY", subscription: originalID)
        return transactions[transaction.id] ?? transaction
    }

    private static let seatAddition = "SEAT_ADDITION"

    /// Apple refunds some seats of a transaction, which stays valid for the others.
    mutating func refundSeats(_ count: Int, of id: String, at now: Int64) throws(Refusal) {
        var refunded = try transaction(id)
        guard let revoked = refunded.revokedSeats, refunded.ownership == .purchased,
            !refunded.isRevoked
        else { throw .notPossible("It is no multiseat purchase, or was refunded before.") }
        guard count > 0, revoked + count < refunded.quantity else {
            throw .invalid("Refund fewer seats than are left, or the whole transaction.")
        }
        refunded.revokedSeats = revoked + count
        // Nor does it repeat the date of a whole refund that was taken back.
        refunded.revocation = nil
        record(refunded, at: now)
        announce("REFUND", "SEATS", transaction: id, subscription: refunded.originalID)
        if let subscription = subscriptions[refunded.originalID] {
            unclaimSeats(
                beyond: seats(of: subscription),
                of: subscription.originalTransactionID
            )
        }
    }

    /// The buyer assigns a seat to somebody, by an invitation that Apple hosts.
    mutating func assignSeat(
        of originalID: String,
        to member: String,
        at now: Int64
    ) throws(Refusal) {
        let source = try subscription(originalID)
        _ = try customer(member)
        guard try transaction(source.latestTransactionID).revokedSeats != nil else {
            throw .notPossible("It is no multiseat subscription.")
        }
        guard try product(source.productID).invitations != .developer else {
            throw .notPossible("The app hosts the invitations: its server claims the seats.")
        }
        let isTaken = { (world: Self, id: String) in world.subscriptions[id]?.state != .revoked }
        let taken = (source.seatHolders ?? []).count { isTaken(self, $0) }
        guard taken < seats(of: source) else { throw .notPossible("No seat is left.") }
        guard let id = shareSubscription(source, with: member, as: .assigned, at: now) else {
            throw .notPossible("\(member) has a subscription of this group.")
        }
        var changed = try subscription(originalID)
        if changed.seatHolders?.contains(id) != true {
            changed.seatHolders = (changed.seatHolders ?? []) + [id]
        }
        record(changed)
    }
}
