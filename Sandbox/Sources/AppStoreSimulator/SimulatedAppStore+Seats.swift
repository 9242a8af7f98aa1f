import SandboxClock

/// Seats of multiseat purchases, and subscriptions that go on under another original transaction id.
extension SimulatedAppStore {
    /// The buyer adds seats to the running period of a multiseat subscription.
    public func addSeats(
        _ count: Int,
        to originalTransactionID: String
    ) async throws -> SignedTransaction {
        let id = try await change { world, now in
            try Seats.add(&world, count, to: originalTransactionID, at: now).id
        }
        await note("add_seats", .subscription(originalTransactionID), [.init("seats", "\(count)")])
        return try await signedTransaction(id)
    }

    /// Apple refunds some of the seats of a transaction.
    public func refundSeats(_ count: Int, of transactionID: String) async throws {
        try await change { try Seats.refund(&$0, count, of: transactionID, at: $1) }
        await note("refund", .transaction(transactionID), [.init("seats", "\(count)")])
    }

    /// The buyer assigns a seat to another customer, who gets a transaction of their own.
    public func assignSeat(of originalTransactionID: String, to customer: String) async throws {
        try await change { try Seats.assign(&$0, of: originalTransactionID, to: customer, at: $1) }
        let owner = world.transactions[originalTransactionID]?.customer ?? ""
        await note("assign_seat", .customer(customer), [.init("of", owner)])
    }

    /// The customer switches from a plan to a bundle that includes it.
    public func switchToBundle(
        _ originalTransactionID: String
    ) async throws -> SignedTransaction {
        let id = try await change { world, now in
            try Succession.switchToBundle(&world, originalTransactionID, at: now).id
        }
        await note("switch_to_bundle", .subscription(originalTransactionID))
        return try await signedTransaction(id)
    }

    /// The app's backend moves a subscription to the Advanced Commerce API.
    public func migrate(_ originalTransactionID: String) async throws -> SignedTransaction {
        let id = try await change { try Succession.migrate(&$0, originalTransactionID, at: $1).id }
        await note("migrate", .subscription(originalTransactionID))
        return try await signedTransaction(id)
    }
}
