import Hummingbird

/// The App Store Server API's addresses under `/groups`.
struct GroupRoutes: Sendable {
    var store: SimulatedAppStore

    func add(to router: some RouterMethods<BasicRequestContext>) {
        guard store.environment == .sandbox else { return }
        let groups = router.group("groups/v1").add(middleware: TokenMiddleware(store: store))
        groups.get("currentGroups/:id") { [store] _, context in
            let id = try context.parameters.require("id")
            return try Response.json(await store.answer { try $0.groups(of: id) })
        }
        groups.get("group/:id") { [store] request, context in
            let id = try context.parameters.require("id")
            let limit = request.uri.queryParameters.get("limit")
            let token = request.uri.queryParameters.get("paginationToken")
            return try Response.json(
                await store.answer { try $0.members(ofGroup: id, limit: limit, token: token) }
            )
        }
        groups.get("transactions/:id/seats") { [store] _, context in
            let id = try context.parameters.require("id")
            return try Response.json(await store.answer { try SeatClaims.info($0.world, of: id) })
        }
        groups.post("transactions/:id/seats") { [store] request, context in
            let body: ClaimSeatRequest = try await request.body(orThrow: .badRequest)
            let id = try context.parameters.require("id")
            return try Response.json(
                await store.keep { world, _ in try SeatClaims.claim(&world, body, of: id) }
            )
        }
        groups.delete("transactions/:id/seats/:claim") { [store] _, context in
            let claim = try context.parameters.require("claim")
            let id = try context.parameters.require("id")
            try await store.keep { world, _ in try SeatClaims.unclaim(&world, claim, of: id) }
            return Response.empty()
        }
        groups.post("transactions/:id/seats/:claim/associate") { [store] request, context in
            let claim = try context.parameters.require("claim")
            let id = try context.parameters.require("id")
            let body: AssociateSeatRequest = try await request.body(orThrow: .badRequest)
            try await store.keep { world, _ in
                try SeatClaims.associate(&world, claim, of: id, with: body)
            }
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
