import Foundation

/// One purchase that the Apple account has, and what the server said when it was restored.
public struct RestoredPurchase: Identifiable, Sendable {
    /// The server's result.
    public enum Outcome: Sendable {
        /// The server has it.
        case taken(AppStoreSubmission)
        /// The server refuses it for good: with `owned_elsewhere` it belongs to another customer.
        case refused(AppStoreRefusal)
        /// The server could not take it now; the SDK keeps trying.
        case awaitingServer(any Error)
    }

    /// The transaction's id at the App Store.
    public let id: UInt64
    /// The App Store product's id.
    public let productID: String?
    /// The server's result.
    public let outcome: Outcome

    /// `true` if the server has it.
    public var isTaken: Bool {
        if case .taken = outcome { true } else { false }
    }

    /// Why the server does not have it; `nil` if it has.
    var error: (any Error)? {
        switch outcome {
        case .taken: nil
        case .refused(let refusal): refusal.error
        case .awaitingServer(let error): error
        }
    }
}
