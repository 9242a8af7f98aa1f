internal import StrictJSON
public import Foundation

// Groups and seats (API 1.22 and 1.23), which Apple answers in the sandbox only so far.
extension AppStore.ServerAPIClient {
    /// Get Customer Groups: the groups that a customer is in.
    ///
    /// - Parameter id: any transaction of the customer, or their app transaction's id.
    public func customerGroups(
        of id: String
    ) async throws(AppStore.ServerAPIError) -> [AppStore.CustomerGroup] {
        let call = try Call("Get Customer Groups", "/groups/v1/currentGroups/{}", id)
        return try await sender.send(call) { fields throws(AppStore.VerificationError) in
            try fields.objects("groups", AppStore.CustomerGroup.init)
        }
    }

    /// Get Group Members, page by page.
    public func groupMembers(
        ofGroup groupID: String
    ) -> AppStore.Pages<AppStore.GroupMembersResponse> {
        let operation = "Get Group Members"
        return AppStore.Pages(
            operation: operation,
            page: { cursor throws(AppStore.ServerAPIError) in
                let call = try Call(
                    operation,
                    "/groups/v1/group/{}",
                    groupID,
                    query: cursor.map { [("paginationToken", $0)] } ?? []
                )
                return try await sender.send(call, AppStore.GroupMembersResponse.init)
            },
            cursor: { $0.hasMore ? $0.paginationToken : nil },
            start: nil
        )
    }

    /// Get Seat Info: the seats of a group subscription to which the app itself invites.
    public func seatInfo(
        of originalTransactionID: String
    ) async throws(AppStore.ServerAPIError) -> AppStore.SeatInfo {
        let call = try Call("Get Seat Info", Call.seats, originalTransactionID)
        return try await sender.send(call, AppStore.SeatInfo.init)
    }

    /// Claim Seat, for a member who has accepted the app's invitation.
    ///
    /// - Parameter requestIdentifier: asked again with the same one, the App Store claims no second
    ///   seat.
    /// - Returns: the claim's id, by which the seat is released.
    public func claimSeat(
        of originalTransactionID: String,
        requestIdentifier: UUID,
        appTransactionID: String? = nil
    ) async throws(AppStore.ServerAPIError) -> String {
        let call = try Call(
            "Claim Seat",
            Call.seats,
            originalTransactionID,
            method: "POST",
            body: .object([
                ("requestIdentifier", .string(requestIdentifier.uuidString.lowercased())),
                ("appTransactionId", appTransactionID.map { .string($0) }),
            ])
        )
        return try await sender.send(call, reading: "seatClaimId")
    }

    /// Unclaim Seat, of a member who has left.
    public func unclaimSeat(
        _ seatClaimID: String,
        of originalTransactionID: String
    ) async throws(AppStore.ServerAPIError) {
        let path = Call.seats + "/{}"
        try await sender.send(
            Call("Unclaim Seat", path, originalTransactionID, seatClaimID, method: "DELETE")
        )
    }

    /// Associate Seat: tells whose the claimed seat is.
    public func associateSeat(
        _ seatClaimID: String,
        of originalTransactionID: String,
        withAppTransaction appTransactionID: String
    ) async throws(AppStore.ServerAPIError) {
        try await sender.send(
            Call(
                "Associate Seat",
                Call.seats + "/{}/associate",
                originalTransactionID,
                seatClaimID,
                method: "POST",
                body: .object([("appTransactionId", .string(appTransactionID))])
            )
        )
    }
}

extension AppStore.ServerAPIClient.Call {
    fileprivate static let seats = "/groups/v1/transactions/{}/seats"
}

extension AppStore {
    /// A group that a customer is in.
    public struct CustomerGroup: Hashable, Sendable {
        /// The permissions of a group's member, by product.
        public struct Role: Hashable, Sendable {
            public let productID: String
            /// In Apple's words, such as `ADMIN` or `NONE`.
            public let role: String
        }

        public let groupID: String
        /// In Apple's words, such as `CONSUMER` or `ORGANIZATION`.
        public let groupType: String?
        public let roles: [Role]

        init(_ fields: Fields) throws(VerificationError) {
            groupID = try fields.required("groupId")
            groupType = try fields.string("groupType")
            roles = try fields.objects("roles") { role throws(VerificationError) in
                Role(productID: try role.required("productId"), role: try role.required("role"))
            }
        }
    }

    /// A page of a group's members.
    public struct GroupMembersResponse: Hashable, Sendable {
        /// The app transaction's id of each.
        public let members: [String]
        public let hasMore: Bool
        public let paginationToken: String?

        init(_ fields: Fields) throws(VerificationError) {
            members = try fields.objects("members") { member throws(VerificationError) in
                try member.required("appTransactionId")
            }
            hasMore = try fields.bool("hasMore") ?? false
            paginationToken = try fields.string("paginationToken")
        }
    }

    /// The seats of a group subscription.
    public struct SeatInfo: Hashable, Sendable {
        public let total: Int
        public let available: Int
        /// Ids of claims, as Claim Seat gave them; more than seats after a renewal with fewer.
        public let claims: [String]

        init(_ fields: Fields) throws(VerificationError) {
            total = try fields.int("totalSeatCount") ?? 0
            available = try fields.int("availableSeatCount") ?? 0
            claims = try fields.strings("assignedSeatClaimIds") ?? []
        }
    }
}
