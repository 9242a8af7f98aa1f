#if os(iOS) || BILLING_APPLE_STUBS
    import Foundation
    import StoreKit

    /// A payment that StoreKit 1 offered, begun on the app's page in the App Store.
    @available(iOS, deprecated: 18, message: "StoreKit 1; use receivePurchaseIntents().")
    public struct PromotingPurchasePayment {
        /// The product to buy.
        public let product: SKProduct
        /// Exactly the payment that StoreKit gave; in this process no other may be queued for it.
        public let payment: SKPayment

        /// - Precondition: both are about one product.
        public init(product: SKProduct, payment: SKPayment) {
            assert(product.productIdentifier == payment.productIdentifier)
            self.product = product
            self.payment = payment
        }
    }

    /// Holds promoted payments until the app is ready; what outlives the process is the inbox.
    ///
    /// `shouldAddStorePayment` adds and returns false. Later exactly that payment is queued; after a
    /// relaunch a new one is made from the product id and quantity that the inbox kept. May be used
    /// from any thread, as StoreKit calls its observer.
    ///
    /// `@unchecked`: `held` is touched only under `lock`, and a payment is StoreKit's, handed on as it came.
    @available(iOS, deprecated: 18, message: "StoreKit 1; use receivePurchaseIntents().")
    public final class PromotingPurchasePaymentHolder: @unchecked Sendable {
        private let inbox: PurchaseInbox
        private let lock = NSLock()
        private var held: [PendingPurchase.ID: PromotingPurchasePayment] = [:]

        /// A holder whose payments land in `inbox`.
        public init(inbox: PurchaseInbox) { self.inbox = inbox }

        private func locked<Result>(
            _ body: (inout [PendingPurchase.ID: PromotingPurchasePayment]) -> Result
        ) -> Result {
            lock.lock()
            defer { lock.unlock() }
            return body(&held)
        }

        /// Keeps a payment and puts its purchase into the inbox.
        @discardableResult
        public func add(_ payment: PromotingPurchasePayment) -> PendingPurchase {
            let purchase = inbox.add(
                productID: payment.product.productIdentifier,
                quantity: payment.payment.quantity,
                kind: payment.product.subscriptionPeriod == nil ? .oneOff : .subscription,
                origin: .promotedPayment
            )
            locked { $0[purchase.id] = payment }
            return purchase
        }

        /// The payments of this process that still wait, oldest first.
        public var pendingPayments: [PromotingPurchasePayment] {
            let pending = inbox.pending
            return locked { held in pending.compactMap { held[$0.id] } }
        }

        /// What to queue for `purchase`: the payment that StoreKit gave, or after a relaunch a new one.
        ///
        /// Nil if `product` is another product.
        public func payment(for purchase: PendingPurchase, product: SKProduct) -> SKPayment? {
            if let held = locked({ $0[purchase.id] }) { return held.payment }
            guard product.productIdentifier == purchase.productID else { return nil }
            let payment = SKMutablePayment(product: product)
            payment.quantity = purchase.quantity
            return payment
        }

        /// Forgets a payment and its purchase; only after the purchase has ended, well or not.
        public func consume(_ purchase: PendingPurchase) {
            locked { $0[purchase.id] = nil }
            inbox.finish(purchase.id)
        }
    }
#endif
