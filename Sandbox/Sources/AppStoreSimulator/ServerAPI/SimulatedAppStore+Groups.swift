import Foundation

/// The App Store Server API's calls about groups and seats, which exist in the sandbox only.
///
/// Apple's documentation names more errors than its reference states numbers for; those have the
/// number of a bad request here.
extension SimulatedAppStore {
    /// The group that Apple's sandbox answers with where there is none.
    private static let placeholderGroup = "900000000000000000"

    /// <https://developer.apple.com/documentation/appstoreserverapi/get-customer-groups>.
    func groups(of id: String) throws(APIError) -> CustomerGroupsResponse {
        let groups = world.groups(of: try customer(byAny: id)).map {
            CustomerGroupsResponse.Group(
                groupId: World.groupID(of: $0.originalTransactionID),
                groupType: "CONSUMER"
            )
        }
        guard groups.isEmpty else { return CustomerGroupsResponse(groups: groups) }
        return CustomerGroupsResponse(
            groups: [
                .init(
                    groupId: Self.placeholderGroup,
                    groupType: "ORGANIZATION",
                    roles: [
                        .init(productId: "example.productId.one", role: "ADMIN"),
                        .init(productId: "example.productId.two", role: "NONE"),
                    ]
                )
            ]
        )
    }

    /// <https://developer.apple.com/documentation/appstoreserverapi/get-group-members>.
    func members(
        ofGroup id: String,
        limit text: String?,
        token: String?
    ) throws(APIError) -> GroupMembersResponse {
        guard let limit = Int(text ?? "100"), (1...100).contains(limit) else {
            throw APIError(4_000_004, "Invalid request limit.")
        }
        guard (1...19).contains(id.utf8.count), id.allSatisfy(\.isNumber) else {
            throw APIError(4_000_225, "Invalid request. The group ID is invalid.")
        }
        if id == Self.placeholderGroup {
            return GroupMembersResponse(
                members: [.init(appTransactionId: "700000000000000000")],
                hasMore: false
            )
        }
        guard let subscription = world.subscription(ofGroup: id) else {
            throw APIError(4_040_022, "Group not found.")
        }
        let skipped = try token.map { text throws(APIError) in
            guard let number = Int(text), number >= 0 else {
                throw APIError(4_000_014, "Invalid request. The pagination token is invalid.")
            }
            return number
        }
        let all = world.members(ofGroup: subscription).dropFirst(skipped ?? 0)
        let hasMore = all.count > limit
        return GroupMembersResponse(
            members: all.prefix(limit).map { .init(appTransactionId: $0) },
            hasMore: hasMore,
            paginationToken: hasMore ? String((skipped ?? 0) + limit) : nil
        )
    }

    // MARK: - Seats

    /// <https://developer.apple.com/documentation/appstoreserverapi/get-seat-info>.
    func seatInfo(of id: String) throws(APIError) -> SeatInfoResponse {
        let subscription = try hostedByApp(id)
        let total = world.seats(of: subscription)
        let claims = subscription.seatClaims ?? []
        return SeatInfoResponse(
            totalSeatCount: total,
            availableSeatCount: max(0, total - claims.count),
            assignedSeatClaimIds: claims.map(\.id)
        )
    }

    /// <https://developer.apple.com/documentation/appstoreserverapi/claim-seat>.
    func claimSeat(
        _ request: ClaimSeatRequest,
        of id: String
    ) throws(APIError) -> ClaimSeatResponse {
        var subscription = try hostedByApp(id)
        guard UUID(uuidString: request.requestIdentifier) != nil else {
            throw APIError(4_000_011, "Invalid request identifier.")
        }
        if let app = request.appTransactionId { try requireAppTransaction(app) }
        let claims = subscription.seatClaims ?? []
        if let same = claims.first(where: { $0.requestIdentifier == request.requestIdentifier }) {
            return ClaimSeatResponse(seatClaimId: same.id)
        }
        guard claims.count < world.seats(of: subscription) else {
            throw APIError(4_000_000, "The subscription has no seats available to claim.")
        }
        let claim = World.SeatClaim(
            id: world.random.uuid(),
            requestIdentifier: request.requestIdentifier,
            appTransactionID: request.appTransactionId
        )
        subscription.seatClaims = claims + [claim]
        world.record(subscription)
        save()
        return ClaimSeatResponse(seatClaimId: claim.id)
    }

    /// <https://developer.apple.com/documentation/appstoreserverapi/unclaim-seat>.
    func unclaimSeat(_ claim: String, of id: String) throws(APIError) {
        var (subscription, index) = try self.claim(claim, of: id)
        subscription.seatClaims?.remove(at: index)
        world.record(subscription)
        save()
    }

    /// <https://developer.apple.com/documentation/appstoreserverapi/associate-seat>.
    func associateSeat(
        _ claim: String,
        of id: String,
        with request: AssociateSeatRequest
    ) throws(APIError) {
        var (subscription, index) = try self.claim(claim, of: id)
        try requireAppTransaction(request.appTransactionId)
        subscription.seatClaims?[index].appTransactionID = request.appTransactionId
        world.record(subscription)
        save()
    }

    private func claim(
        _ claim: String,
        of id: String
    ) throws(APIError) -> (Subscription, index: Int) {
        let subscription = try hostedByApp(id)
        guard
            let index = subscription.seatClaims?
                .firstIndex(where: { $0.id == claim.lowercased() })
        else { throw APIError(4_000_000, "The seat claim identifier wasn't found.") }
        return (subscription, index)
    }

    private func requireAppTransaction(_ id: String) throws(APIError) {
        guard world.customers.values.contains(where: { $0.appTransactionID == id }) else {
            throw APIError(4_000_000, "The app transaction identifier wasn't found.")
        }
    }

    /// The active group subscription of a buyer's transaction, whose invitations the app hosts.
    private func hostedByApp(_ id: String) throws(APIError) -> Subscription {
        guard let transaction = world.transactions[id] else {
            if world.transactions.values.contains(where: {
                $0.bundle?.transactionID == id || $0.bundle?.originalTransactionID == id
            }) {
                throw APIError(4_000_000, "The transaction identifier is a bundle's.")
            }
            guard (1...19).contains(id.utf8.count), id.allSatisfy(\.isNumber) else {
                throw .invalidTransactionID
            }
            throw .transactionIDNotFound
        }
        guard transaction.ownership == .purchased,
            let subscription = world.subscriptions[transaction.originalID],
            subscription.state == .active,
            world.transactions[subscription.latestTransactionID]?.revokedSeats != nil,
            world.products[subscription.productID]?.invitations == .developer
        else {
            throw APIError(
                4_000_000,
                "This is no active group subscription that uses developer-hosted invitations."
            )
        }
        return subscription
    }
}
