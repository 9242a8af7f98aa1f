internal import AppStoreAPI
public import Foundation
public import TollgateCore

// Groups and seats, which the App Store answers in its sandbox only so far.
extension AppStoreSupport {
    /// A group that a customer is in.
    public struct Group: Hashable, Sendable {
        public var id: String
        /// In Apple's words: `CONSUMER`, `ORGANIZATION`.
        public var type: String?
    }

    /// The seats of a group subscription to which the app itself invites.
    public struct Seats: Hashable, Sendable {
        public var total: Int
        public var available: Int
        /// The ids of the claims.
        public var claims: [String]
    }

    /// Get Customer Groups, by any transaction of the customer or their app transaction's id.
    public func groups(of id: String, in environment: StoreEnvironment) async throws -> [Group] {
        try await answer {
            try await app[environment].customerGroups(of: id).map {
                Group(id: $0.groupID, type: $0.groupType)
            }
        }
    }

    /// Get Group Members: the app transaction's id of each.
    public func members(
        ofGroup groupID: String,
        in environment: StoreEnvironment
    ) async throws -> [String] {
        try await answer {
            var members: [String] = []
            for try await page in app[environment].groupMembers(ofGroup: groupID) {
                members += page.members
            }
            return members
        }
    }

    /// Get Seat Info.
    public func seats(
        of transactionID: String,
        in environment: StoreEnvironment
    ) async throws -> Seats {
        try await answer {
            let info = try await app[environment].seatInfo(of: transactionID)
            return Seats(total: info.total, available: info.available, claims: info.claims)
        }
    }

    /// Claim Seat.
    ///
    /// - Parameter request: asked again with the same one, no second seat is claimed.
    /// - Returns: the claim's id.
    public func claimSeat(
        of transactionID: String,
        request: UUID,
        appTransaction: String?,
        in environment: StoreEnvironment
    ) async throws -> String {
        try await answer {
            try await app[environment].claimSeat(
                of: transactionID,
                requestIdentifier: request,
                appTransactionID: appTransaction
            )
        }
    }

    /// Unclaim Seat.
    public func releaseSeat(
        _ claim: String,
        of transactionID: String,
        in environment: StoreEnvironment
    ) async throws {
        try await answer {
            try await app[environment].unclaimSeat(claim, of: transactionID)
        }
    }

    /// Associate Seat.
    public func associateSeat(
        _ claim: String,
        of transactionID: String,
        with appTransaction: String,
        in environment: StoreEnvironment
    ) async throws {
        try await answer {
            try await app[environment].associateSeat(
                claim,
                of: transactionID,
                withAppTransaction: appTransaction
            )
        }
    }
}
