import Foundation

/// A step that must be done before a purchase from outside the app may continue, in this order.
public enum PurchaseGate: String, Hashable, Sendable, CaseIterable {
    /// The app's own first steps are done.
    case setUp
    /// Somebody is signed in, who will own it.
    case signIn
    /// It is not something that they have already.
    case notOwned
    /// The terms are accepted in their current version.
    case terms
    /// The subscription terms too, for subscriptions.
    case subscriptionTerms
    /// The age was stated, for purchases that are paid once; and a parent or guardian agreed where the
    /// catalog asks for that.
    case age
}

/// The app's knowledge of its gates; all are closed at first.
public struct PurchaseReadiness: Hashable, Sendable {
    /// `true` if the app's own first steps are done.
    public var isSetUp = false
    /// `true` if somebody is signed in.
    public var isSignedIn = false
    /// `true` if the current version of the terms is accepted.
    public var hasAcceptedTerms = false
    /// `true` if the current version of the subscription terms is accepted.
    public var hasAcceptedSubscriptionTerms = false
    /// `true` if the customer's age was stated, and a parent or guardian agreed where the catalog asks for
    /// that.
    public var hasStatedAge = false
    /// Products that the customer has, of which there can be only one.
    public var ownedProductIDs: Set<String> = []
    /// The kinds of products by App Store product id, for purchases that do not state theirs.
    public var productKinds: [String: PendingPurchase.Kind] = [:]

    /// All gates closed.
    public init() {}

    /// The gates that `purchase` has yet to pass, in order; none: it may go on.
    public func closedGates(for purchase: PendingPurchase) -> [PurchaseGate] {
        let kind = purchase.kind ?? productKinds[purchase.productID]
        return PurchaseGate.allCases.filter { gate in
            switch gate {
            case .setUp: !isSetUp
            case .signIn: !isSignedIn
            case .notOwned: ownedProductIDs.contains(purchase.productID)
            case .terms: !hasAcceptedTerms
            case .subscriptionTerms:
                kind != .oneOff && !hasAcceptedSubscriptionTerms
            case .age: kind != .subscription && !hasStatedAge
            }
        }
    }
}
