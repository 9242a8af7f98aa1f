internal import TollgateCore

extension GooglePlayReads {
    /// The purchase that an order is kept under: of an order that a change of plan kept, the one that
    /// bought it (RULES §18.5), whichever of the two tokens Google names for it.
    ///
    /// - Parameter record: the purchase that the order names.
    func keeper(of order: String, _ record: Purchase) async throws -> Purchase {
        var record = record
        var seen: Set = [record.key.id]
        while record.googlePlay?.inheritedOrders?.contains(order) == true {
            var earlier: Purchase?
            for before in record.googlePlay?.predecessors ?? [] where earlier == nil {
                let found = try await self.record(ofToken: before.id, of: record.key.application)
                if found?.coinLots(of: order).isEmpty == false { earlier = found }
            }
            guard let earlier, seen.insert(earlier.key.id).inserted else { break }
            record = earlier
        }
        return record
    }
}
