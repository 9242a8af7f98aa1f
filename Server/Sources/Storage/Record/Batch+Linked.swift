internal import TollgateCore

// Purchases that continue one another: whose one is decides whose the other is (RULES §8).
extension Batch {
    /// Lets a purchase that changed take over from those that it continues, and those that continue
    /// it take over from it.
    ///
    /// - Returns: the other purchases whose records changed by that, sorted.
    mutating func link(_ subject: RowKey, _ index: Int) -> [RowKey] {
        guard let record = rows.purchases[subject]?.record, !record.linked.isEmpty else {
            return []
        }
        var changed: Set<RowKey> = []
        for predecessor in record.predecessors ?? [] {
            let row = RowKey(record.key.sibling(predecessor.id))
            guard var state = rows.purchases[row] else { continue }
            let before = state.record
            state.record.isContinued(by: Successor(id: record.key.id, continuing: predecessor))
            guard state.record != before else { continue }
            rows.purchases[row] = state
            changed.insert(row)
            guard let question = state.record.wanted(knownBy: record.key.id) else { continue }
            wanted.append((question, record.key, journal.items[index].stated))
        }
        _ = takeOver(subject)
        var queue = [subject]
        // A plan may be switched to a bundle and back, so they may lead in a circle.
        var steps = 0
        while let row = queue.popLast(), steps < 1000 {
            steps += 1
            for successor in rows.purchases[row]?.record.linkedAfter ?? []
            where takeOver(RowKey(successor)) {
                changed.insert(RowKey(successor))
                queue.append(RowKey(successor))
            }
        }
        return changed.subtracting([subject]).sorted()
    }

    /// Returns whether the record changed.
    private mutating func takeOver(_ row: RowKey) -> Bool {
        guard var state = rows.purchases[row] else { return false }
        let before = state.record
        for previous in state.record.linkedBefore {
            if let other = rows.purchases[RowKey(previous)]?.record { state.record.follow(other) }
        }
        guard state.record != before else { return false }
        rows.purchases[row] = state
        return true
    }
}

extension Purchase {
    /// The purchases that this one continues.
    var linkedBefore: [Key] { (predecessors ?? []).map { key.sibling($0.id) } }

    /// The purchases that continue this one.
    var linkedAfter: [Key] { (successors ?? []).map { key.sibling($0.id) } }

    var linked: [Key] { linkedBefore + linkedAfter }
}

extension Purchase.Key {
    /// Another purchase of the same app and environment.
    func sibling(_ id: String) -> Self {
        var other = self
        other.id = id
        return other
    }

    /// The purchases that facts about this one name as continued by it.
    func continued(by facts: [Fact]) -> [Self] {
        facts.flatMap(\.statement.continued).filter { $0 != id }.map { sibling($0) }
    }
}

extension Statement {
    /// The ids of the purchases that it names as continued.
    fileprivate var continued: [String] {
        switch self {
        case .period(let period): [period.previous].compactMap { $0 }
        case .googlePlaySubscription(let subscription):
            [subscription.linkedToken, subscription.resubscription?.token].compactMap { $0 }
        default: []
        }
    }
}
