/// The App Store Server API's answers about groups, which exist in the sandbox only.
///
/// Apple's documentation names more errors than its reference states numbers for; those have the
/// number of a bad request here.
extension ServerAnswers {
    /// The group that Apple's sandbox answers with where there is none.
    private static let placeholderGroup = "900000000000000000"

    /// <https://developer.apple.com/documentation/appstoreserverapi/get-customer-groups>.
    func groups(of id: String) throws(APIError) -> CustomerGroupsResponse {
        let groups = Seats.groups(world, of: try world.customer(requested: id)).map {
            CustomerGroupsResponse.Group(
                groupId: Seats.groupID(of: $0.originalTransactionID),
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
        guard let subscription = Seats.subscription(world, ofGroup: id) else {
            throw APIError(4_040_022, "Group not found.")
        }
        let skipped = try token.map { text throws(APIError) in
            guard let number = Int(text), number >= 0 else {
                throw APIError(4_000_014, "Invalid request. The pagination token is invalid.")
            }
            return number
        }
        let all = Seats.members(world, ofGroup: subscription).dropFirst(skipped ?? 0)
        let hasMore = all.count > limit
        return GroupMembersResponse(
            members: all.prefix(limit).map { .init(appTransactionId: $0) },
            hasMore: hasMore,
            paginationToken: hasMore ? String((skipped ?? 0) + limit) : nil
        )
    }
}
