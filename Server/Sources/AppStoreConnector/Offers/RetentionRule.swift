public import Foundation
public import TollgateCore

/// Which message a customer is shown who is about to cancel in the App Store: one line of the table
/// that the team writes (docs/app-store.md).
public struct RetentionRule: Hashable, Sendable {
    /// What goes with the message.
    public enum Choice: Hashable, Sendable {
        /// The text alone, or its images.
        case message
        /// Another plan, by its product id in the App Store.
        case alternateProduct(String)
        /// A promotional offer for a plan, the customer's own where no other is named.
        case promotionalOffer(String, product: String?)
    }

    /// `nil` for either.
    public var environment: StoreEnvironment?
    /// The customer's plan, by its product id in the App Store; `nil` for every one.
    public var product: String?
    /// As the App Store writes it: `en-US`; `nil` for every language.
    public var locale: String?
    /// The message, as it was uploaded.
    public var message: UUID
    public var choice: Choice

    public init(
        environment: StoreEnvironment? = nil,
        product: String? = nil,
        locale: String? = nil,
        message: UUID,
        choice: Choice = .message
    ) {
        self.environment = environment
        self.product = product
        self.locale = locale
        self.message = message
        self.choice = choice
    }

    /// Whether the rule is for this request, and its choice is possible for this customer: a plan
    /// that they do not have yet, of the same group; an offer that the catalog lists for the plan.
    func fits(
        product productID: String,
        locale: String?,
        in environment: StoreEnvironment,
        of application: String,
        catalog: Catalog
    ) -> Bool {
        guard self.environment ?? environment == environment, product ?? productID == productID,
            self.locale == nil || self.locale == locale
        else { return false }
        func known(_ id: String) -> Catalog.Product? {
            catalog.product(appStoreProductID: id, in: application)
        }
        let current = known(productID)
        switch choice {
        case .message: return true
        case .alternateProduct(let other):
            return other != productID && Self.isInGroup(known(other), of: current)
        case .promotionalOffer(let offer, let other):
            let offered = other.map(known) ?? current
            return (other == nil || other == productID || Self.isInGroup(offered, of: current))
                && offered?.promotionalOffers.contains(offer) ?? false
        }
    }

    private static func isInGroup(_ other: Catalog.Product?, of current: Catalog.Product?) -> Bool {
        guard let other, !other.isRetired else { return false }
        // Groups that the catalog does not tell are not compared; the App Store compares them.
        guard let group = current?.subscriptionGroup, let theirs = other.subscriptionGroup else {
            return true
        }
        return group == theirs
    }
}
