public import TollgateCore

/// What a store's message comes to in our words.
public enum StoreMessage: Hashable, Sendable {
    /// Facts about one purchase.
    case facts([Fact], about: Purchase.Key)
    /// Understood, and of no consequence for any record.
    case nothing(reason: String)
    /// Genuine, but it cannot be used: kept, counted and answered 200, since sending it again
    /// would not help (RULES §11).
    case parked(reason: String)
}
