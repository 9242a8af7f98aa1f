import Hummingbird

/// The App Store Server API's addresses under `/groups`.
struct GroupRoutes: Sendable {
    var store: SimulatedAppStore

    func add(to router: some RouterMethods<BasicRequestContext>) {
        guard store.environment == .sandbox else { return }
        let groups = router.group("groups/v1").add(middleware: TokenMiddleware(store: store))
        groups.get("currentGroups/:id") { [store] _, context in
            try Response.json(await store.groups(of: try context.parameters.require("id")))
        }
        groups.get("group/:id") { [store] request, context in
            try Response.json(
                await store.members(
                    ofGroup: try context.parameters.require("id"),
                    limit: request.uri.queryParameters.get("limit"),
                    token: request.uri.queryParameters.get("paginationToken")
                )
            )
        }
        groups.get("transactions/:id/seats") { [store] _, context in
            try Response.json(await store.seatInfo(of: try context.parameters.require("id")))
        }
        groups.post("transactions/:id/seats") { [store] request, context in
            let body: ClaimSeatRequest = try await request.body(orThrow: .badRequest)
            return try Response.json(
                await store.claimSeat(body, of: try context.parameters.require("id"))
            )
        }
        groups.delete("transactions/:id/seats/:claim") { [store] _, context in
            try await store.unclaimSeat(
                try context.parameters.require("claim"),
                of: try context.parameters.require("id")
            )
            return Response.empty()
        }
        groups.post("transactions/:id/seats/:claim/associate") { [store] request, context in
            try await store.associateSeat(
                try context.parameters.require("claim"),
                of: try context.parameters.require("id"),
                with: try await request.body(orThrow: .badRequest)
            )
            return Response.empty()
        }
    }
}

struct CustomerGroupsResponse: Encodable, Sendable {
    struct Role: Encodable, Sendable {
        var productId: String
        var role: String
    }

    struct Group: Encodable, Sendable {
        var groupId: String
        var groupType: String
        var roles: [Role]?
    }

    var groups: [Group]
}

struct GroupMembersResponse: Encodable, Sendable {
    struct Member: Encodable, Sendable {
        var appTransactionId: String
    }

    var members: [Member]
    var hasMore: Bool
    var paginationToken: String?
}

struct SeatInfoResponse: Encodable, Sendable {
    var totalSeatCount: Int
    var availableSeatCount: Int
    var assignedSeatClaimIds: [String]
}

struct ClaimSeatRequest: Decodable, Sendable {
    var requestIdentifier: String
    var appTransactionId: String?
}

struct ClaimSeatResponse: Encodable, Sendable {
    var seatClaimId: String
}

struct AssociateSeatRequest: Decodable, Sendable {
    var appTransactionId: String
}
