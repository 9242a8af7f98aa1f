import Foundation

/// What the server made of a transaction that the App Store signed.
public struct AppStoreSubmission: Hashable, Sendable {
    /// How the app came by a transaction; decides whether it may claim the purchase.
    public enum Mode: String, Hashable, Sendable, CaseIterable {
        /// The customer has just bought it.
        case purchased
        /// The customer asked to restore.
        case restored
        /// StoreKit showed it; claims only what nobody owns.
        case observed
    }

    /// Whether the server had not seen it before.
    public let isNew: Bool
    /// Who holds the purchase now; nil if nobody does.
    public let customer: String?
}
