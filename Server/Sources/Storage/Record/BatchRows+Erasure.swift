internal import TollgateCore

extension RowKey {
    /// Purchases that name a customer who does not hold them are found under this key.
    ///
    /// - Parameter row: the customer's, in one environment.
    init(namedBy row: RowKey) { self.init("named", row.hex) }
}

extension BatchRows {
    /// The customer's row in each environment.
    func rows(of customer: Customer.ID) -> [RowKey] {
        StoreEnvironment.allCases.map { RowKey(Holder.customer(customer)).inEnvironment($0) }
    }

    /// Whether somebody who was erased holds the purchase.
    func isHeldByErased(_ subject: RowKey) -> Bool {
        purchases[subject]?.posting.rows.contains { customers[$0]?.isErased == true } ?? false
    }

    /// The erased customer who holds the purchase; `nil` where somebody else holds a part of it, since
    /// its payer may be them.
    func erasedHolder(of subject: RowKey) -> RowKey? {
        guard let state = purchases[subject], let holder = state.posting.rows.first,
            state.posting.rows.allSatisfy({ customers[$0]?.isErased == true })
        else { return nil }
        // Applied twice, the environment's mark is gone again.
        return holder.inEnvironment(state.record.key.environment)
    }

    /// Whether facts about a purchase concern somebody who was erased: who holds it, or whom the facts
    /// name.
    private func concernErased(_ facts: [Fact], _ subject: RowKey) -> Bool {
        let environment = facts.first?.purchase.environment ?? .production
        return isHeldByErased(subject)
            || facts.lazy.flatMap(\.names).contains { name in
                guard let key = name.aliasKey, let customer = aliases[key] ?? nil else {
                    return false
                }
                return customers[customer.inEnvironment(environment)]?.isErased == true
            }
    }

    /// Replaces erased customers' names, and unregistered names in their purchases, by hashes.
    ///
    /// A hash leads to the same row as the name. A name that somebody else registered stays.
    ///
    /// - Returns: the facts, and Stripe's customer ids in them that nobody registered: they become the
    ///   erased customer's if nobody else holds a part of the purchase.
    func withoutErased(
        _ facts: [Fact],
        of subject: RowKey
    ) throws -> (facts: [Fact], payers: [RowKey]) {
        guard concernErased(facts, subject) else { return (facts, []) }
        let environment = facts.first?.purchase.environment ?? .production
        let renaming = Renaming { name in
            guard let key = name.aliasKey else { return nil }
            guard let known = aliases[key] ?? nil else { return key.hex }
            return customers[known.inEnvironment(environment)]?.isErased == true ? key.hex : nil
        }
        return (try facts.map { try $0.renamed(renaming) }, unregistered(facts.flatMap(\.payers)))
    }

    private func unregistered(_ names: [Holder]) -> [RowKey] {
        Set(names.compactMap(\.aliasKey)).filter { (aliases[$0] ?? nil) == nil }.sorted()
    }

    /// The purchases that a customer holds, and those that only name them.
    func purchases(of customer: Customer.ID) -> (held: [RowKey], all: [RowKey]) {
        let rows = Set(rows(of: customer))
        let marks = Set(rows.map { RowKey(namedBy: $0) })
        let held = purchases.filter { !rows.isDisjoint(with: $0.value.posting.rows) }
        let named = purchases.filter { !marks.isDisjoint(with: $0.value.posting.index) }
        return (held.keys.sorted(), Set(held.keys).union(named.keys).sorted())
    }

    /// The hash of each name of `customer`; in a purchase that they hold, also of each name that nobody
    /// has registered.
    func renaming(_ customer: Customer.ID, isHeld: Bool) -> Renaming {
        let own = RowKey(Holder.customer(customer))
        return Renaming { name in
            guard let key = name.aliasKey else { return nil }
            guard let known = aliases[key] ?? nil else { return isHeld ? key.hex : nil }
            return known == own ? key.hex : nil
        }
    }

    /// Ids that Stripe gave who paid for these purchases, and that nobody registered.
    func payers(of held: [RowKey]) -> [RowKey] {
        unregistered(held.flatMap { purchases[$0]?.record.payers ?? [] })
    }

    /// Locks what else is paid for under these ids.
    mutating func lockPayers(of customer: Customer.ID) throws {
        let held = purchases(of: customer).held
        let names = held.flatMap { purchases[$0]?.record.names ?? [] }
        try loadAliases(Set(names.compactMap(\.aliasKey)).sorted())
        var more: Set<RowKey> = []
        for payer in payers(of: held) {
            for environment in StoreEnvironment.allCases {
                try find(payer.inEnvironment(environment), into: &more)
            }
        }
        try load(more.filter { purchases[$0] == nil }.sorted(), named: [:])
    }
}
