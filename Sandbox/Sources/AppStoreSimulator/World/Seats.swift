/// Multiseat purchases (API 1.23): seats of one subscription, added, refunded and assigned, and the
/// groups of those who have them (API 1.22).
enum Seats {
    /// A seat that the app's server has claimed for a member.
    struct Claim: Codable, Hashable, Sendable {
        var id: String
        var requestIdentifier: String
        var appTransactionID: String?
    }

    private static let seatAddition = "SEAT_ADDITION"

    /// How many seats a subscription renews with: those of its running period that are left.
    static func left(_ world: World, of subscription: Subscription) -> Int {
        let left = world.period(of: subscription).filter { !$0.isRevoked }
            .reduce(0) { $0 + $1.quantity - ($1.revokedSeats ?? 0) }
        return max(1, left)
    }

    /// The buyer adds seats to the running period: a transaction of its own, which does not replace
    /// the one before.
    static func add(
        _ world: inout World,
        _ count: Int,
        to originalID: String,
        at now: Int64
    ) throws(Refusal) -> Transaction {
        var changed = try world.subscription(originalID)
        var latest = try world.transaction(changed.latestTransactionID)
        guard changed.state == .active, latest.ownership == .purchased, latest.revokedSeats != nil
        else { throw .notPossible("Only an active multiseat subscription gets more seats.") }
        guard (1...1000).contains(count) else { throw .invalid("seats is from 1 to 1000.") }
        let product = try world.product(latest.productID)
        latest.additionalReason = seatAddition
        world.record(latest, at: now)
        var transaction = Transaction(
            id: world.nextTransactionID(),
            originalID: originalID,
            customer: changed.customer,
            webOrderLineItemID: world.behaviour.addedSeatsShareLineItem
                ? latest.webOrderLineItemID : world.nextLineItemID(),
            orderID: world.nextOrderID(),
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
        transaction.additionalReason = seatAddition
        transaction.previousOriginalID = changed.previousOriginalID
        world.record(transaction, at: now)
        changed.latestTransactionID = transaction.id
        world.record(changed)
        world.announce("DID_CHANGE_RENEWAL_PREF", "INCREASE_QUANTITY", subscription: originalID)
        return world.transactions[transaction.id] ?? transaction
    }

    /// Apple refunds some seats of a transaction, which stays valid for the others.
    static func refund(_ world: inout World, _ count: Int, of id: String, at now: Int64)
        throws(Refusal)
    {
        var refunded = try world.transaction(id)
        guard let revoked = refunded.revokedSeats, refunded.ownership == .purchased,
            !refunded.isRevoked
        else { throw .notPossible("It is no multiseat purchase, or was refunded before.") }
        guard count > 0, revoked + count < refunded.quantity else {
            throw .invalid("Refund fewer seats than are left, or the whole transaction.")
        }
        refunded.revokedSeats = revoked + count
        // Nor does it repeat the date of a whole refund that was taken back.
        refunded.revocation = nil
        world.record(refunded, at: now)
        world.announce("REFUND", "SEATS", transaction: id, subscription: refunded.originalID)
        if let subscription = world.subscriptions[refunded.originalID] {
            unclaim(
                &world,
                beyond: left(world, of: subscription),
                of: subscription.originalTransactionID
            )
        }
    }

    /// Claims that a refund of seats leaves without a seat are given up, the newest first: Apple tells
    /// which (UNCLAIM_SEATS), and documents no order.
    static func unclaim(_ world: inout World, beyond count: Int, of originalID: String) {
        guard var subscription = world.subscriptions[originalID],
            let claims = subscription.seatClaims,
            claims.count > count
        else { return }
        subscription.seatClaims = Array(claims.prefix(count))
        world.record(subscription)
        var notice = Announcement(type: "UNCLAIM_SEATS")
        notice.unclaimedSeats = claims.dropFirst(count).map(\.id)
        world.announcements.append(notice)
    }

    /// The buyer assigns a seat to somebody, by an invitation that Apple hosts.
    static func assign(
        _ world: inout World,
        of originalID: String,
        to member: String,
        at now: Int64
    ) throws(Refusal) {
        let source = try world.subscription(originalID)
        _ = try world.customer(member)
        guard try world.transaction(source.latestTransactionID).revokedSeats != nil else {
            throw .notPossible("It is no multiseat subscription.")
        }
        guard try world.product(source.productID).invitations != .developer else {
            throw .notPossible("The app hosts the invitations: its server claims the seats.")
        }
        let taken = (source.seatHolders ?? []).count {
            world.subscriptions[$0]?.state != .revoked
        }
        guard taken < left(world, of: source) else { throw .notPossible("No seat is left.") }
        guard
            let id = FamilySharing.shareSubscription(
                &world,
                source,
                with: member,
                as: .assigned,
                at: now
            )
        else {
            throw .notPossible("\(member) has a subscription of this group.")
        }
        var changed = try world.subscription(originalID)
        if changed.seatHolders?.contains(id) != true {
            changed.seatHolders = (changed.seatHolders ?? []) + [id]
        }
        world.record(changed)
    }

    // MARK: - Groups

    /// The identifier of the group of a multiseat subscription: digits, as in Apple's example.
    static func groupID(of originalID: String) -> String { "9" + originalID }

    /// The multiseat subscription of a group.
    static func subscription(_ world: World, ofGroup id: String) -> Subscription? {
        guard id.first == "9", let found = world.subscriptions[String(id.dropFirst())],
            isGroup(world, found)
        else { return nil }
        return found
    }

    /// A group lasts as long as its subscription.
    private static func isGroup(_ world: World, _ subscription: Subscription) -> Bool {
        subscription.sharedFrom == nil
            && [.active, .billingGrace, .billingRetry].contains(subscription.state)
            && world.transactions[subscription.latestTransactionID]?.revokedSeats != nil
    }

    /// The app transactions of those who belong to a group: its buyer, then the members.
    static func members(_ world: World, ofGroup subscription: Subscription) -> [String] {
        var ids = [world.customers[subscription.customer]?.appTransactionID]
        ids += (subscription.seatHolders ?? []).compactMap { world.subscriptions[$0] }
            .filter { $0.state != .revoked }
            .map { world.customers[$0.customer]?.appTransactionID }
        ids += (subscription.seatClaims ?? []).map(\.appTransactionID)
        var seen: Set<String> = []
        return ids.compactMap { $0 }.filter { seen.insert($0).inserted }
    }

    /// The groups of a customer, by their subscriptions.
    static func groups(_ world: World, of customer: Customer) -> [Subscription] {
        world.subscriptions.values.filter {
            isGroup(world, $0) && members(world, ofGroup: $0).contains(customer.appTransactionID)
        }.sorted { $0.originalTransactionID < $1.originalTransactionID }
    }
}
