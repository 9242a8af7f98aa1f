import Foundation
internal import TollgateAPI

/// The inbox of purchases that began outside the app, until they are done or discarded.
///
/// It survives relaunches. The app asks it on the screen that it chooses; nothing is shown by itself.
/// May be used from any thread, and by an app and its extensions together.
public final class PurchaseInbox: Sendable {
    /// The app's next step for the oldest purchase that was not postponed.
    public enum Step: Hashable, Sendable {
        /// All gates are open: ask the customer, buy, then ``PurchaseInbox/finish(_:)``.
        case proceed(PendingPurchase)
        /// The first of the gates that are still closed.
        case pass(PurchaseGate, for: PendingPurchase)
    }

    private let changes = OrderedDelivery<[PendingPurchase]>()
    private let storage: OfflineStorage
    private let now: @Sendable () -> Date

    init(storage: OfflineStorage, now: @escaping @Sendable () -> Date) {
        self.storage = storage
        self.now = now
    }

    /// Everything that waits, oldest first, put off or not.
    ///
    /// A request to buy (Ask to Buy) that nobody approves within a day is over, since StoreKit does not
    /// tell when it is declined. One that is approved later still reaches the server.
    public var pending: [PendingPurchase] {
        Self.waiting(storage.value([PendingPurchase].self, of: .inbox) ?? [], at: now())
    }

    private static func waiting(
        _ purchases: [PendingPurchase],
        at now: Date
    ) -> [PendingPurchase] {
        purchases.filter { purchase in
            guard let asked = purchase.approvalAskedAt else { return true }
            return abs(now.timeIntervalSince(asked)) < approvalLife
        }
    }

    /// How long a request to buy is taken for undecided, in seconds.
    private static let approvalLife: TimeInterval = 86_400

    /// Takes in a purchase; one that already waits for the same product stays the only one.
    @discardableResult
    public func add(
        productID: String,
        quantity: Int = 1,
        kind: PendingPurchase.Kind? = nil,
        origin: PendingPurchase.Origin
    ) -> PendingPurchase {
        add(productID: productID, quantity: quantity, kind: kind, origin: origin, offer: nil)
    }

    /// Takes in a purchase with a win-back offer.
    @discardableResult
    func add(
        productID: String,
        quantity: Int = 1,
        kind: PendingPurchase.Kind? = nil,
        origin: PendingPurchase.Origin,
        offer: String?
    ) -> PendingPurchase {
        var new = PendingPurchase(
            id: UUID(),
            productID: productID,
            quantity: max(1, quantity),
            kind: kind,
            origin: origin,
            receivedAt: now()
        )
        new.winBackOfferID = offer
        return change { [new] purchases in
            let same = { (waiting: PendingPurchase) in
                waiting.productID == productID && waiting.reference == nil && !waiting.isUnderWay
            }
            if let index = purchases.firstIndex(where: same) {
                // Begun once more: it is wanted now, whatever was said before.
                purchases[index].isPostponed = false
                purchases[index].winBackOfferID = offer ?? purchases[index].winBackOfferID
                return purchases[index]
            }
            purchases.append(new)
            return new
        }
    }

    /// Takes in a purchase that the store has taken already; it leaves when the server has it.
    @discardableResult
    func addUnderWay(
        productID: String,
        origin: PendingPurchase.Origin,
        reference: String
    ) -> PendingPurchase {
        let new = PendingPurchase(
            id: UUID(),
            productID: productID,
            quantity: 1,
            kind: nil,
            origin: origin,
            receivedAt: now(),
            reference: reference,
            isUnderWay: true
        )
        return change { purchases in
            if let known = purchases.first(where: { $0.reference == reference }) { return known }
            purchases.append(new)
            return new
        }
    }

    /// The store has taken it: it is not offered any more, and leaves when the server has it.
    ///
    /// - Parameter awaitsApproval: whether somebody has to approve it first, and may decline.
    func setUnderWay(_ id: PendingPurchase.ID, awaitsApproval: Bool) {
        let askedAt = awaitsApproval ? now() : nil
        change { purchases in
            guard let index = purchases.firstIndex(where: { $0.id == id }) else { return }
            purchases[index].isUnderWay = true
            purchases[index].approvalAskedAt = askedAt
        }
    }

    /// The server has a transaction: what was under way for it is done.
    func finishUnderWay(productID: String?, reference: String) {
        change { purchases in
            if let index = purchases.firstIndex(where: { $0.reference == reference }) {
                purchases.remove(at: index)
            } else if let productID,
                let index = purchases.firstIndex(where: {
                    $0.isUnderWay && $0.reference == nil && $0.productID == productID
                })
            {
                purchases.remove(at: index)
            }
        }
    }

    /// Leaves nothing of the customer who signed out.
    func forget() { change { $0 = [] } }

    /// The next step; nil if nothing waits that was not put off and is not under way.
    public func next(_ readiness: PurchaseReadiness) -> Step? {
        guard let purchase = pending.first(where: { !$0.isPostponed && !$0.isUnderWay }) else {
            return nil
        }
        guard let gate = readiness.closedGates(for: purchase).first else {
            return .proceed(purchase)
        }
        return .pass(gate, for: purchase)
    }

    /// Puts a purchase off; it stays, but ``next(_:)`` passes it over until ``resume(_:)``.
    public func postpone(_ id: PendingPurchase.ID) {
        change { purchases in
            guard let index = purchases.firstIndex(where: { $0.id == id }) else { return }
            purchases[index].isPostponed = true
        }
    }

    /// Takes up a purchase again that was put off, or that was declined: the customer may ask once more.
    public func resume(_ id: PendingPurchase.ID) {
        change { purchases in
            guard let index = purchases.firstIndex(where: { $0.id == id }) else { return }
            purchases[index].isPostponed = false
            guard purchases[index].approvalAskedAt != nil else { return }
            purchases[index].approvalAskedAt = nil
            purchases[index].isUnderWay = false
        }
    }

    /// Removes a purchase that is done: bought, with the server's acknowledgement.
    public func finish(_ id: PendingPurchase.ID) { remove(id) }

    /// Removes a purchase that the customer does not want.
    public func discard(_ id: PendingPurchase.ID) { remove(id) }

    /// Calls `listener` with everything that waits each time that this process changes it, on no
    /// particular thread; one call at a time, in the order of the changes.
    public func onChange(_ listener: @escaping @Sendable ([PendingPurchase]) -> Void) {
        changes.add(listener)
    }

    private func remove(_ id: PendingPurchase.ID) {
        change { $0.removeAll { $0.id == id } }
    }

    /// Changes, writes to disk before anybody can see the change, then tells.
    private func change<Result>(
        _ body: @escaping @Sendable (inout [PendingPurchase]) -> Result
    ) -> Result {
        let now = now()
        let result = storage.alone {
            let before = pending
            var purchases = before
            let result = body(&purchases)
            if purchases != before || !storage.isReadable(.inbox) {
                storage.change(.inbox) { data in
                    let kept = data.flatMap {
                        try? APIJSON.decode([PendingPurchase].self, from: $0)
                    }
                    var purchases = Self.waiting(kept ?? [], at: now)
                    _ = body(&purchases)
                    return try? APIJSON.encode(purchases)
                }
            }
            if purchases != before { changes.enqueue(purchases) }
            return result
        }
        changes.deliver()
        return result
    }
}
