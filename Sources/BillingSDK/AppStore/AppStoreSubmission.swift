import Foundation

/// The server's result for a transaction that the App Store signed.
public struct AppStoreSubmission: Hashable, Sendable {
    /// The way in which the app got a transaction; it decides whether the app may claim the purchase.
    public enum Mode: String, Hashable, Sendable, CaseIterable {
        /// The customer has just bought it.
        case purchased
        /// The customer asked to restore.
        case restored
        /// StoreKit showed it; claims only a purchase without an owner.
        case observed
    }

    /// `true` if the server had not seen it before.
    public let isNew: Bool
    /// The present owner of the purchase; `nil` without one.
    public let customer: String?
}
