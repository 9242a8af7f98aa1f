// Groups of multiseat purchases (API 1.22), and their seats where the app hosts the invitations
// (API 1.23).
extension SimulatedAppStore.World {
    /// A seat that the app's server has claimed for a member.
    struct SeatClaim: Codable, Hashable, Sendable {
        var id: String
        var requestIdentifier: String
        var appTransactionID: String?
    }

    /// The identifier of the group of a multiseat subscription: digits, as in Apple's example.
    static func groupID(of originalID: String) -> String { "9" + originalID }

    /// The multiseat subscription of a group.
    func subscription(ofGroup id: String) -> SimulatedAppStore.Subscription? {
        guard id.first == "9", let found = subscriptions[String(id.dropFirst())],
            isGroup(found)
        else { return nil }
        return found
    }

    /// A group lasts as long as its subscription.
    private func isGroup(_ subscription: SimulatedAppStore.Subscription) -> Bool {
        subscription.sharedFrom == nil
            && [.active, .billingGrace, .billingRetry].contains(subscription.state)
            && transactions[subscription.latestTransactionID]?.revokedSeats != nil
    }

    /// The app transactions of those who belong to a group: its buyer, then the members.
    func members(ofGroup subscription: SimulatedAppStore.Subscription) -> [String] {
        var ids = [customers[subscription.customer]?.appTransactionID]
        ids += (subscription.seatHolders ?? []).compactMap { subscriptions[$0] }
            .filter { $0.state != .revoked }
            .map { customers[$0.customer]?.appTransactionID }
        ids += (subscription.seatClaims ?? []).map(\.appTransactionID)
        var seen: Set<String> = []
        return ids.compactMap { $0 }.filter { seen.insert($0).inserted }
    }

    /// The groups of a customer, by their subscriptions.
    func groups(of customer: SimulatedAppStore.Customer) -> [SimulatedAppStore.Subscription] {
        subscriptions.values.filter {
            isGroup($0) && members(ofGroup: $0).contains(customer.appTransactionID)
        }.sorted { $0.originalTransactionID < $1.originalTransactionID }
    }

    /// Claims that a refund of seats leaves without a seat are given up, the newest first: Apple tells
    /// which (UNCLAIM_SEATS), and documents no order.
    mutating func unclaimSeats(beyond count: Int, of originalID: String) {
        guard var subscription = subscriptions[originalID], let claims = subscription.seatClaims,
            claims.count > count
        else { return }
        subscription.seatClaims = Array(claims.prefix(count))
        record(subscription)
        var notice = SimulatedAppStore.Announcement(type: "UNCLAIM_SEATS")
        notice.unclaimedSeats = claims.dropFirst(count).map(\.id)
        announcements.append(notice)
    }
}
