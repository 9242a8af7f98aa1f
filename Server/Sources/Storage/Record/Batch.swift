internal import Foundation
internal import TollgateCore

/// The engine that derives rows from facts.
///
/// A change that derives other bytes from the same journal must raise it.
package let engineVersion: Int64 = 24

/// One transaction's work: items are joined and applied in order, in memory, and every row that
/// changed is written once (RULES §12).
struct Batch {
    var rows: BatchRows
    var journal: BatchJournal
    var coins = CoinTransfers()
    var holdings = HoldingChanges()
    /// Names that were registered, and whose they are now.
    var newAliases: [(RowKey, RowKey)] = []
    /// Questions for a store, about which purchase, and since when.
    var wanted: [(Wanted, Purchase.Key, Instant)] = []
    /// Whether the items are the journal's own, applied again: what was decided is not decided anew.
    var isReplay = false
    /// In a rebuild: the names of the one registration that is replayed.
    var replayedAliases: [RowKey] = []
    /// In a rebuild: the decision that is replayed, never taken again.
    var replayedDecision: SpendDecision?

    init(_ connection: any StorageConnection, history: CatalogHistory, items: [JournalItem]) {
        rows = BatchRows(connection, history: history)
        journal = BatchJournal(items)
    }

    /// Does all of it.
    ///
    /// The transaction is the caller's.
    mutating func run() throws -> [JournalOutcome] {
        let adopts = journal.items.contains { item in
            if case .adopt = item.content { true } else { false }
        }
        try rows.lockCatalog(adopts: adopts)
        try lockPurchases()
        try journal.findDuplicates(rows.connection)
        try loadAliases()
        try lockCustomers()
        for index in journal.fresh { try apply(index) }
        try write()
        return journal.outcomes.map { $0 ?? .duplicate }
    }

    /// Does again what the batch's only item, an erasure that is journalled already, does to the rest.
    ///
    /// Names that it registers are journalled, so that a replay registers them at the same place.
    mutating func completeErasure(of customer: Customer.ID) throws {
        // Of several servers that begin on one database, one does it.
        if let lock = rows.connection.dialect.catalogLock {
            try rows.connection.execute(lock.alone)
        }
        try lockPurchases()
        try loadAliases()
        try lockCustomers()
        try rename(customer, 0)
        try write()
        try forget(customer)
    }
}

// MARK: - Reading, in the order of the locks

extension Batch {
    private mutating func lockPurchases() throws {
        var keys: Set<RowKey> = []
        var named: [RowKey: Purchase.Key] = [:]
        for item in journal.items {
            switch item.content {
            case .facts(let facts):
                guard let key = facts.first?.purchase else { continue }
                named[item.subject] = key
                keys.insert(item.subject)
                for previous in key.continued(by: facts) {
                    named[RowKey(previous)] = previous
                    keys.insert(RowKey(previous))
                }
            case .register(let registration):
                for alias in names(of: registration) {
                    for environment in StoreEnvironment.allCases {
                        try rows.find(alias.inEnvironment(environment), into: &keys)
                    }
                }
            case .adopt(let version):
                for product in version.catalog.storeProducts {
                    try rows.find(RowKey(waitingFor: product), into: &keys)
                }
            case .erase(let customer):
                for row in rows.rows(of: customer) {
                    try rows.find(row, into: &keys)
                    try rows.find(RowKey(namedBy: row), into: &keys)
                }
            case .spend: break
            }
        }
        try rows.load(keys.sorted(), named: named)
        try rows.loadLinked()
        for case .erase(let customer) in journal.items.map(\.content) {
            try rows.lockPayers(of: customer)
        }
    }

    /// Locks, in the midst of a batch, what waits under names that are registered only now.
    ///
    /// These locks come after the sorted ones; whoever loses by that starts over.
    mutating func lockPurchases(under names: [RowKey]) throws {
        var more: Set<RowKey> = []
        for name in names {
            for environment in StoreEnvironment.allCases {
                let key = name.inEnvironment(environment)
                if rows.found[key] == nil { try rows.find(key, into: &more) }
            }
        }
        let fresh = more.filter { rows.purchases[$0] == nil }
        guard !fresh.isEmpty else { return }
        try rows.load(fresh.sorted(), named: [:])
        try rows.loadLinked()
        let unknown = Set(rows.purchases.values.flatMap(\.record.names).compactMap(\.aliasKey))
            .filter { rows.aliases[$0] == nil }
        try rows.loadAliases(unknown.sorted())
        try lockCustomers()
    }

    private mutating func loadAliases() throws {
        var keys: Set<RowKey> = []
        for index in journal.fresh {
            switch journal.items[index].content {
            case .facts(let facts):
                for fact in facts { keys.formUnion(fact.names.compactMap(\.aliasKey)) }
            case .register(let registration):
                keys.formUnion(names(of: registration))
            case .spend, .adopt, .erase: break
            }
            if let person = journal.items[index].person { keys.insert(person) }
        }
        for state in rows.purchases.values {
            keys.formUnion(state.record.names.compactMap(\.aliasKey))
        }
        try rows.loadAliases(keys.sorted())
    }

    private mutating func lockCustomers() throws {
        var wanted: [RowKey: StoreEnvironment] = [:]
        let isDistributed = rows.connection.dialect.isDistributed
        func want(_ holder: Holder, _ environment: StoreEnvironment) {
            let (key, isCustomer) = rows.resolved(holder)
            wanted[key.inEnvironment(environment)] = environment
            // A name lies with its row in production. Of what lies apart, a commit shows one before the
            // other: only that row's lock says that the name is free still.
            if isDistributed, !isCustomer { wanted[key] = .production }
        }
        for index in journal.fresh {
            if let person = journal.items[index].person, let customer = rows.aliases[person] ?? nil
            {
                wanted[customer] = .production
            }
            switch journal.items[index].content {
            case .facts(let facts):
                for fact in facts {
                    for name in fact.names { want(name, fact.purchase.environment) }
                }
            case .register(let registration):
                for environment in StoreEnvironment.allCases {
                    for alias in names(of: registration) {
                        let row = alias.inEnvironment(environment)
                        let isFound = rows.found[row]?.isEmpty == false
                        if isFound { want(.customer(registration.customer), environment) }
                        if isFound || rows.locks { wanted[row] = environment }
                    }
                }
            case .spend(let order):
                if replayedDecision == nil { want(.customer(order.customer), order.environment) }
            case .erase(let customer):
                for environment in StoreEnvironment.allCases {
                    want(.customer(customer), environment)
                }
            case .adopt: break
            }
        }
        for state in rows.purchases.values {
            for row in state.posting.rows + state.posting.lots.map(\.row) {
                wanted[row] = state.record.key.environment
            }
            for name in state.record.names where !rows.resolved(name).isCustomer {
                want(name, state.record.key.environment)
            }
        }
        try rows.loadCustomers(wanted)
        if rows.locks { try rows.lookAgain() }
    }
}

// MARK: - Names

extension Holder {
    /// The key under which it may be registered; a customer's own id needs no registering.
    var aliasKey: RowKey? {
        switch self {
        case .customer, .unclaimed: nil
        case .token, .stripeCustomer, .reference, .appUser, .erased: RowKey(self)
        }
    }
}
