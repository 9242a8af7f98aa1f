/// How much of each lot was spent, oldest lot first (RULES §6).
///
/// A view: which lot a spend drew from is kept nowhere.
public struct SpentLots<ID: Hashable & Sendable>: Sendable {
    private var lots: [ID: (credit: Int64, spent: Int64)] = [:]

    /// - Parameters:
    ///   - lots: with what of each counts, the oldest first.
    ///   - spent: the sum of all accepted spends.
    public init(_ lots: [(id: ID, credit: Int64)], spent: Int64) {
        var left = max(0, spent)
        for lot in lots where lot.credit > 0 {
            let drawn = min(left, lot.credit)
            left -= drawn
            self.lots[lot.id] = (lot.credit, drawn)
        }
    }

    /// The spent share of a lot in thousandths of a percent: 100 000 is all of it.
    ///
    /// `nil` for a lot that is not there or counts nothing.
    public func share(of id: ID) -> Int64? {
        lots[id].map { lot in
            let (high, low) = lot.spent.multipliedFullWidth(by: 100_000)
            return lot.credit.dividingFullWidth((high, low)).quotient
        }
    }
}
