public import TollgateCore

/// What a store's message comes to in our words.
public enum StoreMessage: Hashable, Sendable {
    /// Facts about one purchase.
    case facts([Fact], about: Purchase.Key)
    /// Understood as far as that something changed: what it is has to be read from the store.
    ///
    /// A message in a form that is not ours to read, or one that shows only a part (RULES §4.4).
    case hint([Wanted], about: Purchase.Key, reason: String)
    /// Understood, and of no consequence for any record.
    case nothing(reason: String)
    /// Genuine, but it cannot be used: kept, counted and answered 200, since sending it again
    /// would not help (RULES §11).
    case parked(reason: String)
}
