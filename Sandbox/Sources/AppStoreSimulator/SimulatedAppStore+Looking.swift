import Foundation
import SandboxClock

// What can be seen of the store without changing it.
extension SimulatedAppStore {
    /// A transaction signed anew.
    public func signedTransaction(_ id: String) async throws -> SignedTransaction {
        let now = await clock.now
        return try SignedTransaction(try world.transaction(id), in: world, by: signer, at: now)
    }

    /// The entitlements that StoreKit shows now on the customer's device.
    /// - Throws: `Refusal.notPossible` where the app was never downloaded.
    public func entitlements(customer id: String) async throws -> DeviceView {
        let now = await clock.now
        return try DeviceView(of: id, in: &world, by: signer, at: now)
    }

    /// Every transaction of a customer in the order of purchase.
    public func transactions(customer id: String) throws -> [Transaction] {
        _ = try world.customer(id)
        return world.transactionsOf(id)
    }

    /// A subscription by its original transaction id.
    public func subscription(_ originalTransactionID: String) throws -> Subscription {
        try world.subscription(originalTransactionID)
    }

    /// A customer by id.
    public func customer(_ id: String) throws -> Customer {
        try world.customer(id)
    }

    /// The first customer with this token.
    public func customer(appAccountToken: String) -> Customer? {
        world.customers.values.filter { $0.appAccountToken == appAccountToken.lowercased() }
            .min { $0.id < $1.id }
    }

    /// Everybody who has the app.
    public func customers() -> [Customer] {
        world.customers.values.sorted { ($0.id.count, $0.id) < ($1.id.count, $1.id) }
    }

    /// Everything the app sells.
    public func products() -> [Product] {
        world.products.values.sorted { $0.id < $1.id }
    }

    /// The app's answers to consumption requests.
    public func consumptionAnswers() -> [ConsumptionAnswer] {
        world.consumptionAnswers
    }

    /// Every notification in the order of first sending.
    public func notifications() -> [Notification] {
        world.notificationsInOrder
    }
}
