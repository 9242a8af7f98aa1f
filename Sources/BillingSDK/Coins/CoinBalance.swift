import Foundation

/// A customer's coins.
public struct CoinBalance: Hashable, Sendable {
    /// Credited less spent and clawed back; negative if coins that were spent got refunded.
    public let balance: Int64
    /// The coins that can be spent now; never negative.
    public let spendable: Int64
    /// The coins that are owed before any can be spent again; never negative.
    public let debt: Int64

    /// A balance from its parts, for previews and tests.
    public init(balance: Int64, spendable: Int64, debt: Int64) {
        self.balance = balance
        self.spendable = spendable
        self.debt = debt
    }
}
