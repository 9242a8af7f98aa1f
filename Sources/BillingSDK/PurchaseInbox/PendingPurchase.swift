import Foundation

/// A purchase that was begun outside the app and waits inside it.
public struct PendingPurchase: Codable, Hashable, Identifiable, Sendable {
    /// Where it was begun.
    public enum Origin: String, Codable, Hashable, Sendable, CaseIterable {
        /// On the app's page in the App Store, seen by StoreKit 1.
        case promotedPayment
        /// On the app's page in the App Store or by a link, seen by StoreKit 2.
        case purchaseIntent
        /// With an offer or promotion code.
        case code
        /// On a checkout page that leads back into the app.
        case checkoutReturn
    }

    /// What kind of product it is, as far as the gates care.
    public enum Kind: String, Codable, Hashable, Sendable, CaseIterable {
        /// Renews by itself.
        case subscription
        /// Is paid once.
        case oneOff
    }

    /// Made when it arrived.
    public let id: UUID
    /// The App Store product's id.
    public let productID: String
    /// How many; 1 unless the App Store said otherwise.
    public let quantity: Int
    /// Decides which gates it must pass; nil: not known yet, so it must pass all.
    public let kind: Kind?
    /// Where it was begun.
    public let origin: Origin
    /// By the device's clock.
    public let receivedAt: Date
    /// Whether the customer has put it off.
    public internal(set) var isPostponed = false
}
