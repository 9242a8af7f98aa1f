import Foundation

/// The App Store Server API's calls about seats, where the app hosts the invitations; in the sandbox
/// only.
enum SeatClaims {
    /// <https://developer.apple.com/documentation/appstoreserverapi/get-seat-info>.
    static func info(_ world: World, of id: String) throws(APIError) -> SeatInfoResponse {
        let subscription = try hostedByApp(world, id)
        let total = Seats.left(world, of: subscription)
        let claims = subscription.seatClaims ?? []
        return SeatInfoResponse(
            totalSeatCount: total,
            availableSeatCount: max(0, total - claims.count),
            assignedSeatClaimIds: claims.map(\.id)
        )
    }

    /// <https://developer.apple.com/documentation/appstoreserverapi/claim-seat>.
    static func claim(
        _ world: inout World,
        _ request: ClaimSeatRequest,
        of id: String
    ) throws(APIError) -> ClaimSeatResponse {
        var subscription = try hostedByApp(world, id)
        guard UUID(uuidString: request.requestIdentifier) != nil else {
            throw APIError(4_000_011, "Invalid request identifier.")
        }
        if let app = request.appTransactionId { try requireAppTransaction(world, app) }
        let claims = subscription.seatClaims ?? []
        if let same = claims.first(where: { $0.requestIdentifier == request.requestIdentifier }) {
            return ClaimSeatResponse(seatClaimId: same.id)
        }
        guard claims.count < Seats.left(world, of: subscription) else {
            throw APIError(4_000_000, "The subscription has no seats available to claim.")
        }
        let claim = Seats.Claim(
            id: world.random.uuid(),
            requestIdentifier: request.requestIdentifier,
            appTransactionID: request.appTransactionId
        )
        subscription.seatClaims = claims + [claim]
        world.record(subscription)
        return ClaimSeatResponse(seatClaimId: claim.id)
    }

    /// <https://developer.apple.com/documentation/appstoreserverapi/unclaim-seat>.
    static func unclaim(_ world: inout World, _ claim: String, of id: String) throws(APIError) {
        var (subscription, index) = try found(world, claim, of: id)
        subscription.seatClaims?.remove(at: index)
        world.record(subscription)
    }

    /// <https://developer.apple.com/documentation/appstoreserverapi/associate-seat>.
    static func associate(
        _ world: inout World,
        _ claim: String,
        of id: String,
        with request: AssociateSeatRequest
    ) throws(APIError) {
        var (subscription, index) = try found(world, claim, of: id)
        try requireAppTransaction(world, request.appTransactionId)
        subscription.seatClaims?[index].appTransactionID = request.appTransactionId
        world.record(subscription)
    }

    private static func found(
        _ world: World,
        _ claim: String,
        of id: String
    ) throws(APIError) -> (Subscription, index: Int) {
        let subscription = try hostedByApp(world, id)
        guard
            let index = subscription.seatClaims?
                .firstIndex(where: { $0.id == claim.lowercased() })
        else { throw APIError(4_000_000, "The seat claim identifier wasn't found.") }
        return (subscription, index)
    }

    private static func requireAppTransaction(_ world: World, _ id: String) throws(APIError) {
        guard world.customers.values.contains(where: { $0.appTransactionID == id }) else {
            throw APIError(4_000_000, "The app transaction identifier wasn't found.")
        }
    }

    /// The active group subscription of a buyer's transaction, whose invitations the app hosts.
    private static func hostedByApp(_ world: World, _ id: String) throws(APIError) -> Subscription {
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
