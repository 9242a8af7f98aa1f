public import Storage
public import TollgateCore

extension SpentLots<RowKey> {
    /// The lots of one customer with what is spent of each.
    ///
    /// Lots are credited and clawed back under one name each; a spend has a name of its own.
    ///
    /// - Parameter transfers: all of the customer's, the oldest first.
    public init(of transfers: [(lot: RowKey, amount: Int64)]) {
        var order: [RowKey] = []
        var totals: [RowKey: Int64] = [:]
        for transfer in transfers {
            if totals[transfer.lot] == nil { order.append(transfer.lot) }
            totals[transfer.lot, default: 0] += transfer.amount
        }
        let lots = order.compactMap { id in totals[id].map { (id: id, credit: $0) } }
        self.init(lots, spent: totals.values.filter { $0 < 0 }.reduce(0, -))
    }
}
