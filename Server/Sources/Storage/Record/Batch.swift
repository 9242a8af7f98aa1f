internal import Foundation
internal import TollgateCore

/// The engine that derives rows from facts.
///
/// A change that derives other bytes from the same journal must raise it.
package let engineVersion: Int64 = 10

/// One transaction's work: items are joined and applied in order, in memory, and every row that
/// changed is written once (RULES §12).
struct Batch {
    let connection: any StorageConnection
    var history: CatalogHistory
    let items: [JournalItem]
    private var outcomes: [JournalOutcome?]
    private var journalled: [JournalContent?]
    var purchases: [RowKey: PurchaseState] = [:]
    var customers: [RowKey: CustomerState] = [:]
    /// Registered names: holder's key to customer's key.
    ///
    /// `nil`: looked up, not there.
    var aliases: [RowKey: RowKey?] = [:]
    /// Purchases found under an unregistered name or unknown product, by that key.
    var found: [RowKey: [RowKey]] = [:]
    var newAliases: [(RowKey, RowKey)] = []
    private var transfers: [Transfer] = []
    /// Whether each holding that changed is there in the end: what one item adds, a later item of
    /// the batch may remove.
    private var holdings: [Holding: Bool] = [:]
    var wanted: [(Wanted, Purchase.Key, Instant)] = []
    /// Segments that are in the database for certain.
    var knownSegments: Set<[UInt8]> = []
    /// Segments that this batch has written.
    private(set) var writtenSegments: [[UInt8]] = []
    /// Whether any of `customers` was erased.
    private var hasErased = false
    /// Items whose facts lost a name, so that they leave no body either.
    private var renamed: Set<Int> = []
    /// Names that items gave to customers who were erased, by item; each is journalled as a
    /// registration behind the item.
    var registeredPayers: [Int: (customer: Customer.ID, names: [RowKey])] = [:]
    /// Whether the items are the journal's own, applied again: what was decided is not decided anew.
    var isReplay = false
    /// In a rebuild: the names of the one registration that is replayed.
    var replayedAliases: [RowKey] = []
    /// In a rebuild: the decision that is replayed, never taken again.
    var replayedDecision: SpendDecision?

    init(_ connection: any StorageConnection, history: CatalogHistory, items: [JournalItem]) {
        self.connection = connection
        self.history = history
        self.items = items
        outcomes = Array(repeating: nil, count: items.count)
        journalled = Array(repeating: nil, count: items.count)
    }

    /// Does all of it.
    ///
    /// The transaction is the caller's.
    mutating func run() throws -> [JournalOutcome] {
        try lockCatalog()
        try lockPurchases()
        try findDuplicates()
        try loadAliases()
        try lockCustomers()
        for index in items.indices where outcomes[index] == nil { try apply(index) }
        try write()
        return outcomes.map { $0 ?? .duplicate }
    }

    /// Does again what the batch's only item, an erasure that is journalled already, does to the rest.
    ///
    /// Names that it registers are journalled, so that a replay registers them at the same place.
    mutating func completeErasure(of customer: Customer.ID) throws {
        // Of several servers that begin on one database, one does it.
        if let lock = connection.dialect.catalogLock { try connection.execute(lock.alone) }
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
    private var locks: Bool { !connection.dialect.rowLock.isEmpty }

    /// Another server may have adopted a catalog since ours was read.
    ///
    /// Its adoption and our facts must not pass each other unseen, or a purchase would wait for a
    /// catalog that is there.
    private mutating func lockCatalog() throws {
        guard let shared = connection.dialect.catalogLock else { return }
        let adopts = items.contains { if case .adopt = $0.content { true } else { false } }
        try connection.execute(adopts ? shared.alone : shared.withOthers)
        let count = try connection.query("SELECT count(*) FROM catalog_version").first?.int64(0)
        if count != Int64(history.versions.count) {
            history = try CatalogHistory(reading: connection)
        }
    }

    private mutating func lockPurchases() throws {
        var keys: Set<RowKey> = []
        var named: [RowKey: Purchase.Key] = [:]
        for item in items {
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
                        try find(alias.inEnvironment(environment), into: &keys)
                    }
                }
            case .adopt(let version):
                for product in version.catalog.storeProducts {
                    try find(RowKey(waitingFor: product), into: &keys)
                }
            case .erase(let customer):
                for row in rows(of: customer) {
                    try find(row, into: &keys)
                    try find(RowKey(namedBy: row), into: &keys)
                }
            case .spend: break
            }
        }
        try load(keys.sorted(), named: named)
        try loadLinked()
        for case .erase(let customer) in items.map(\.content) { try lockPayers(of: customer) }
    }

    /// Locks, in the midst of a batch, what waits under names that are registered only now.
    ///
    /// These locks come after the sorted ones; whoever loses by that starts over.
    mutating func lockPurchases(under names: [RowKey]) throws {
        var more: Set<RowKey> = []
        for name in names {
            for environment in StoreEnvironment.allCases {
                let key = name.inEnvironment(environment)
                if found[key] == nil { try find(key, into: &more) }
            }
        }
        let fresh = more.filter { purchases[$0] == nil }
        guard !fresh.isEmpty else { return }
        try load(fresh.sorted(), named: [:])
        try loadLinked()
        let unknown = Set(purchases.values.flatMap(\.record.names).compactMap(\.aliasKey))
            .filter { aliases[$0] == nil }
        try loadAliases(unknown.sorted())
        try lockCustomers()
    }

    mutating func find(_ key: RowKey, into keys: inout Set<RowKey>) throws {
        let rows = try connection.query(Self.holdingSQL, [key.value])
        let purchases = try rows.map { try RowKey(bytes: $0.bytes(0)) }
        found[key] = purchases
        keys.formUnion(purchases)
    }

    mutating func load(_ keys: [RowKey], named: [RowKey: Purchase.Key]) throws {
        guard !keys.isEmpty else { return }
        if locks {
            // A row must be there to be locked.
            try connection.executeMany(
                "INSERT INTO purchase (key, version, record) VALUES ($1, 0, $2) ON CONFLICT (key) DO NOTHING",
                keys.map { [$0.value, .blob([])] }
            )
        }
        let rows = try connection.queryMany(
            "SELECT record, posted FROM purchase WHERE key = $1 \(connection.dialect.rowLock)",
            keys.map { [$0.value] }
        )
        for (key, row) in zip(keys, rows) {
            if let row = row.first, try !row.bytes(0).isEmpty {
                purchases[key] = PurchaseState(
                    record: try RecordDecoder.decode(Purchase.self, from: row.bytes(0)),
                    posting: try row.optionalBytes(1).map {
                        try RecordDecoder.decode(Posting.self, from: $0)
                    } ?? Posting()
                )
            } else if let name = named[key] {
                purchases[key] = PurchaseState(record: Purchase(key: name))
            }
        }
    }

    private mutating func findDuplicates() throws {
        let rows = try connection.queryMany(
            "SELECT facts FROM journal WHERE dedupe_key = $1",
            items.map { [$0.dedupeKey.value] }
        )
        var seen: Set<RowKey> = []
        for (index, row) in rows.enumerated() {
            if let row = row.first {
                outcomes[index] = try replay(items[index], row)
            } else {
                let isFirst = seen.insert(items[index].dedupeKey).inserted
                precondition(isFirst, "one batch holds no item twice")
            }
        }
    }

    private func replay(_ item: JournalItem, _ row: Row) throws -> JournalOutcome {
        guard case .spend = item.content,
            case .spent(let decision) = try JournalContent(kept: row.bytes(0))
        else { return .duplicate }
        return .decided(decision, isReplay: true)
    }

    private mutating func loadAliases() throws {
        var keys: Set<RowKey> = []
        for index in items.indices where outcomes[index] == nil {
            switch items[index].content {
            case .facts(let facts):
                for fact in facts { keys.formUnion(fact.names.compactMap(\.aliasKey)) }
            case .register(let registration):
                keys.formUnion(names(of: registration))
            case .spend, .adopt, .erase: break
            }
            if let person = items[index].person { keys.insert(person) }
        }
        for state in purchases.values { keys.formUnion(state.record.names.compactMap(\.aliasKey)) }
        try loadAliases(keys.sorted())
    }

    mutating func loadAliases(_ keys: [RowKey]) throws {
        guard !keys.isEmpty else { return }
        let rows = try connection.queryMany(
            "SELECT customer FROM alias WHERE key = $1",
            keys.map { [$0.value] }
        )
        for (key, row) in zip(keys, rows) {
            aliases[key] = .some(try row.first.map { try RowKey(bytes: $0.bytes(0)) })
        }
    }

    private mutating func lockCustomers() throws {
        var wanted: [RowKey: StoreEnvironment] = [:]
        func want(_ holder: Holder, _ environment: StoreEnvironment) {
            wanted[resolved(holder).key.inEnvironment(environment)] = environment
        }
        for index in items.indices where outcomes[index] == nil {
            if let person = items[index].person, let customer = aliases[person] ?? nil {
                wanted[customer] = .production
            }
            switch items[index].content {
            case .facts(let facts):
                for fact in facts {
                    for name in fact.names { want(name, fact.purchase.environment) }
                }
            case .register(let registration):
                for environment in StoreEnvironment.allCases {
                    for alias in names(of: registration) {
                        let row = alias.inEnvironment(environment)
                        let isFound = found[row]?.isEmpty == false
                        if isFound { want(.customer(registration.customer), environment) }
                        if isFound || locks { wanted[row] = environment }
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
        for state in purchases.values {
            for row in state.posting.rows + state.posting.lots.map(\.row) {
                wanted[row] = state.record.key.environment
            }
            for name in state.record.names where !resolved(name).isCustomer {
                want(name, state.record.key.environment)
            }
        }
        try loadCustomers(wanted)
        if locks { try lookAgain() }
    }

    /// The row of a name is locked both by who registers it and by a purchase that it may hold.
    ///
    /// Either may have come between our look and our lock, so look again with everything locked;
    /// whoever lost starts over.
    private mutating func lookAgain() throws {
        let unregistered = aliases.filter { $0.value == nil }.map(\.key).sorted()
        try loadAliases(unregistered)
        if unregistered.contains(where: { aliases[$0] ?? nil != nil }) {
            throw StorageError(.contention, "a customer registered meanwhile")
        }
        for (key, purchases) in found.sorted(by: { $0.key < $1.key }) {
            let rows = try connection.query(Self.holdingSQL, [key.value])
            if try rows.map({ try RowKey(bytes: $0.bytes(0)) }) != purchases {
                throw StorageError(.contention, "a purchase arrived meanwhile")
            }
        }
    }

    static let holdingSQL =
        "SELECT purchase FROM holding WHERE holder = $1 ORDER BY purchase"

    private mutating func loadCustomers(_ wanted: [RowKey: StoreEnvironment]) throws {
        let keys = wanted.keys.filter { customers[$0] == nil }.sorted()
        guard !keys.isEmpty else { return }
        if locks {
            try connection.executeMany(
                """
                INSERT INTO customer (key, environment, sequence, balance, answer)
                VALUES ($1, $2, 0, 0, $3) ON CONFLICT (key) DO NOTHING
                """,
                keys.map { [$0.value, .integer(wanted[$0] == .production ? 1 : 0), .blob([])] }
            )
        }
        let rows = try connection.queryMany(
            "SELECT sequence, balance, answer FROM customer WHERE key = $1 \(connection.dialect.rowLock)",
            keys.map { [$0.value] }
        )
        for (key, row) in zip(keys, rows) {
            var state = CustomerState(environment: wanted[key] ?? .production)
            if let row = row.first {
                state.sequence = try row.int64(0)
                state.balance = try row.int64(1)
                let answer = try row.bytes(2)
                if answer == CustomerAnswer.erasedBytes {
                    state.isErased = true
                    hasErased = true
                } else if !answer.isEmpty {
                    state.answer = try CustomerAnswer(reading: answer)
                }
            }
            customers[key] = state
        }
    }
}

// MARK: - Applying

extension Batch {
    private mutating func apply(_ index: Int) throws {
        let item = items[index]
        switch item.content {
        case .facts(let received):
            let (facts, payers) =
                hasErased ? try withoutErased(received, of: item.subject) : (received, [])
            if facts != received { renamed.insert(index) }
            if let key = facts.first?.purchase {
                var state = purchases[item.subject] ?? PurchaseState(record: Purchase(key: key))
                let before = state.record
                for fact in facts { state.record.join(fact) }
                purchases[item.subject] = state
                if state.record != before {
                    let linked = link(item.subject, index)
                    try evaluate(item.subject, index)
                    for row in linked { try evaluate(row, index) }
                    let holders = purchases[item.subject]?.posting.rows ?? []
                    for row in Set(state.posting.rows + holders) {
                        customers[row]?.hear(
                            facts,
                            at: item.stated,
                            versions: history.versions.count
                        )
                    }
                }
            }
            if let about = item.wantedAbout {
                wanted += item.wanted.map { ($0, about, item.stated) }
            }
            if !payers.isEmpty, let customer = erasedHolder(of: item.subject) {
                try register(payers: payers, of: customer, index)
            }
            journalled[index] = .facts(facts)
            outcomes[index] = .recorded
        case .register(let registration):
            try register(registration, index)
        case .spend(let order):
            try decide(order, index)
        case .adopt(var version):
            guard history.versions.last?.id != version.id else { return }
            // Versions follow one another, even where a clock was set back: the last is today's.
            if let last = history.versions.last?.adopted, version.adopted <= last {
                version.adopted = last.advanced(by: 1)
            }
            history.adopt(version)
            for product in version.catalog.storeProducts {
                try evaluateFound(under: RowKey(waitingFor: product), index, announcing: true)
            }
            journalled[index] = .adopted(version)
            outcomes[index] = .recorded
        case .erase(let customer):
            for row in rows(of: customer) {
                customers[row]?.erase()
                customers[row]?.touch(item.stated, versions: history.versions.count)
            }
            hasErased = true
            try rename(customer, index)
            journalled[index] = .erased(customer)
            outcomes[index] = .recorded
        }
    }

    private mutating func register(_ registration: Registration, _ index: Int) throws {
        let customer = RowKey(Holder.customer(registration.customer))
        var fresh: [RowKey] = []
        for alias in names(of: registration)
        where (aliases[alias] ?? nil) == nil {
            aliases[alias] = .some(customer)
            newAliases.append((alias, customer))
            fresh.append(alias)
        }
        for alias in fresh {
            for environment in StoreEnvironment.allCases {
                try evaluateFound(under: alias.inEnvironment(environment), index)
            }
        }
        journalled[index] = .registered(
            registration.customer,
            aliases: names(of: registration)
        )
        outcomes[index] = .recorded
    }

    private func names(of registration: Registration) -> [RowKey] {
        registration.aliases.map { RowKey($0) } + replayedAliases
    }

    /// Evaluates again every purchase that waits under `key`, in the database or in this batch.
    /// - Parameter isAnnounced: whether who holds them is told anyway: what a purchase gives may be the
    ///   same as before, yet only now the catalog knows what that means.
    mutating func evaluateFound(
        under key: RowKey,
        _ index: Int,
        announcing isAnnounced: Bool = false
    ) throws {
        var waiting = Set(found[key] ?? [])
        for (purchase, state) in purchases where state.posting.index.contains(key) {
            waiting.insert(purchase)
        }
        for purchase in waiting.sorted() {
            // An earlier item of this batch may have found it already.
            let isWaiting = purchases[purchase]?.posting.index.contains(key) ?? false
            try evaluate(purchase, index)
            guard isAnnounced, isWaiting else { continue }
            for row in purchases[purchase]?.posting.rows ?? [] {
                guard var customer = customers[row], !customer.isErased else { continue }
                customer.news = .entitlementsChanged
                customer.touch(items[index].stated, versions: history.versions.count)
                customers[row] = customer
            }
        }
    }

    private mutating func decide(_ order: SpendOrder, _ index: Int) throws {
        if let replayedDecision {
            // Only an accepted one moves coins, and there were coins, so the row is there.
            try loadCustomers([replayedDecision.row: .production])
            return spend(replayedDecision, index)
        }
        let row = RowKey(Holder.customer(order.customer)).inEnvironment(order.environment)
        try loadCustomers([row: order.environment])
        let balance = customers[row]?.balance ?? 0
        let isAccepted = order.amount > 0 && order.amount <= max(0, balance)
        let decision = SpendDecision(
            row: row,
            amount: order.amount,
            bodyHash: order.bodyHash,
            isAccepted: isAccepted,
            balance: isAccepted ? balance - order.amount : balance
        )
        spend(decision, index)
        outcomes[index] = .decided(decision, isReplay: false)
    }

    /// Carries a decision out.
    private mutating func spend(_ decision: SpendDecision, _ index: Int) {
        journalled[index] = .spent(decision)
        guard decision.isAccepted else { return }
        let lot = RowKey("spend", items[index].dedupeKey.hex)
        post(-decision.amount, lot: lot, number: 0, to: decision.row, index)
    }

    private func resolved(_ holder: Holder) -> (key: RowKey, isCustomer: Bool) {
        let key = RowKey(holder)
        if case .customer = holder { return (key, true) }
        guard let customer = aliases[key] ?? nil else { return (key, false) }
        return (customer, true)
    }

    /// The first of the names that is registered, else the first; and the keys of those before it.
    private func resolve(
        _ names: HolderNames,
        in environment: StoreEnvironment
    ) -> (row: RowKey, isCustomer: Bool, unregistered: [RowKey]) {
        var unregistered: [RowKey] = []
        for name in names {
            let (key, isCustomer) = resolved(name)
            let row = key.inEnvironment(environment)
            if isCustomer { return (row, true, unregistered) }
            unregistered.append(row)
        }
        return (unregistered.first ?? RowKey("nobody"), false, unregistered)
    }

    mutating func evaluate(_ purchaseKey: RowKey, _ index: Int) throws {
        guard var state = purchases[purchaseKey] else { return }
        let evaluation = state.record.evaluate(in: history)
        let key = state.record.key
        var parts: [RowKey: PurchaseAccess] = [:]
        var waiting: Set<RowKey> = Set(evaluation.unknownProducts.map { RowKey(waitingFor: $0) })
        for share in evaluation.shares {
            let (row, _, unregistered) = resolve(share.owner, in: key.environment)
            waiting.formUnion(unregistered)
            parts[row, default: PurchaseAccess()].merge(share.access)
        }
        // Coins are the buyer's also where another has the access: they wait for that name as well.
        for lot in evaluation.lots {
            waiting.formUnion(resolve(lot.owner, in: key.environment).unregistered)
        }
        let parted = parts.filter { $0.value != PurchaseAccess() }
        try loadCustomers(parted.mapValues { _ in key.environment })
        for row in state.posting.rows where parted[row] == nil { set(key, nil, in: row, index) }
        for (row, access) in parted.sorted(by: { $0.key < $1.key }) {
            set(key, access, in: row, index)
        }
        var posting = state.posting
        // A customer is a holder of what they own, even if it gives nothing now.
        posting.rows = parts.keys.sorted()
        // An erasure finds what only names a customer. Each period bears the same name.
        for name in Set(state.record.names) {
            guard let alias = name.aliasKey else { continue }
            let customer = aliases[alias] ?? nil
            let row = (customer ?? alias).inEnvironment(key.environment)
            if parts[row] == nil { waiting.insert(customer == nil ? row : RowKey(namedBy: row)) }
        }
        posting.index = waiting.sorted()
        for lot in evaluation.lots {
            let isMoved = state.record.assignment != nil
            try post(lot, of: key, isMoved: isMoved, &posting, index)
        }
        try withdraw(lotsBut: Set(evaluation.lots.map(\.id)), of: key, &posting, index)
        reindex(purchaseKey, from: state.posting, to: posting)
        state.posting = posting
        state.isChanged = true
        purchases[purchaseKey] = state
        wanted += evaluation.wanted.map { ($0, key, items[index].stated) }
    }

    private mutating func set(
        _ purchase: Purchase.Key,
        _ access: PurchaseAccess?,
        in row: RowKey,
        _ index: Int
    ) {
        guard var customer = customers[row], !customer.isErased,
            customer.answer.set(purchase, access)
        else { return }
        customer.news = .entitlementsChanged
        customer.touch(items[index].stated, versions: history.versions.count)
        customers[row] = customer
    }

    private mutating func reindex(_ purchase: RowKey, from old: Posting, to new: Posting) {
        let before = Set(old.rows + old.index)
        let after = Set(new.rows + new.index)
        for holder in before.subtracting(after) { holdings[Holding(holder, purchase)] = false }
        for holder in after.subtracting(before) { holdings[Holding(holder, purchase)] = true }
    }

    /// Takes back what was posted for lots that the record no longer has: a newer statement made
    /// the period a family member's, say.
    private mutating func withdraw(
        lotsBut kept: Set<String>,
        of purchase: Purchase.Key,
        _ posting: inout Posting,
        _ index: Int
    ) throws {
        for place in posting.lots.indices where !kept.contains(posting.lots[place].id) {
            let posted = posting.lots[place]
            guard posted.total != 0 else { continue }
            try loadCustomers([posted.row: purchase.environment])
            post(
                -posted.total,
                lot: RowKey("lot", purchase.canonical, posted.id),
                number: posted.transfers,
                to: posted.row,
                index
            )
            posting.lots[place].transfers += 1
            posting.lots[place].total = 0
        }
    }

    /// Posts target − Σ posted.
    ///
    /// A posted lot stays with its customer unless staff moves it; one posted to a name that nobody
    /// had registered follows whoever registers it (RULES §6, §8).
    private mutating func post(
        _ lot: CoinLot,
        of purchase: Purchase.Key,
        isMoved: Bool,
        _ posting: inout Posting,
        _ index: Int
    ) throws {
        let lotKey = RowKey("lot", purchase.canonical, lot.id)
        let (row, isCustomer, _) = resolve(lot.owner, in: purchase.environment)
        let place = posting.lots.firstIndex { $0.id >= lot.id } ?? posting.lots.endIndex
        if place == posting.lots.endIndex || posting.lots[place].id != lot.id {
            posting.lots.insert(
                Posting.Lot(id: lot.id, row: row, isCustomer: isCustomer, total: 0, transfers: 0),
                at: place
            )
        }
        var posted = posting.lots[place]
        if !posted.isCustomer || isMoved, posted.row != row {
            try loadCustomers([row: purchase.environment])
            if posted.total != 0 {
                post(-posted.total, lot: lotKey, number: posted.transfers, to: posted.row, index)
                posted.transfers += 1
                posted.total = 0
            }
            posted.row = row
        }
        posted.isCustomer = posted.isCustomer || isCustomer
        let difference = lot.remainder - posted.total
        if difference != 0 {
            try loadCustomers([posted.row: purchase.environment])
            post(difference, lot: lotKey, number: posted.transfers, to: posted.row, index)
            posted.transfers += 1
            posted.total = lot.remainder
        }
        posting.lots[place] = posted
    }

    private mutating func post(
        _ amount: Int64,
        lot: RowKey,
        number: Int64,
        to row: RowKey,
        _ index: Int
    ) {
        transfers.append(
            Transfer(
                id: RowKey("transfer", lot.hex, "\(number)"),
                lot: lot,
                row: row,
                amount: amount,
                item: index
            )
        )
        guard var customer = customers[row] else { preconditionFailure("a row not loaded") }
        customer.balance += amount
        if customer.news == nil { customer.news = .coinsChanged }
        customer.touch(items[index].stated, versions: history.versions.count)
        customers[row] = customer
    }
}

/// One row of `holding`.
private struct Holding: Hashable, Comparable {
    var holder: RowKey
    var purchase: RowKey

    init(_ holder: RowKey, _ purchase: RowKey) {
        self.holder = holder
        self.purchase = purchase
    }

    var values: [SQLValue] { [holder.value, purchase.value] }

    static func < (left: Holding, right: Holding) -> Bool {
        (left.holder, left.purchase) < (right.holder, right.purchase)
    }
}

extension CustomerState {
    /// Notes a change by an item.
    ///
    /// The last one counts, not the largest clock: what a batch writes must not depend on how items
    /// were batched, or a rebuild would differ.
    mutating func touch(_ instant: Instant, versions: Int) {
        sequence += 1
        isChanged = true
        changed = instant
        self.versions = versions
    }
}

// MARK: - Writing

extension Batch {
    private mutating func write() throws {
        let journalIDs = try writeJournal()
        try writePurchases()
        try writeCustomers()
        try connection.executeMany(
            """
            INSERT INTO transfer (id, lot, customer, amount, journal) VALUES ($1, $2, $3, $4, $5)
            """,
            transfers.map {
                [
                    $0.id.value, $0.lot.value, $0.row.value, .integer($0.amount),
                    .integer(journalIDs[$0.item] ?? 0),
                ]
            }
        )
        try writeNames()
    }

    private mutating func writeJournal() throws -> [Int: Int64] {
        var seen = knownSegments
        let segments = items.indices.filter { journalled[$0] != nil }
            .flatMap { items[$0].segments }
            .filter { seen.insert($0.id).inserted }
            .sorted { $0.id.lexicographicallyPrecedes($1.id) }
        writtenSegments = segments.map(\.id)
        try connection.executeMany(
            "INSERT INTO segment (id, bytes) VALUES ($1, $2) ON CONFLICT (id) DO NOTHING",
            segments.map { [.blob($0.id), .blob($0.bytes)] }
        )
        var rows: [[SQLValue]] = []
        var indices: [Int?] = []
        for (index, item) in items.enumerated() {
            if let content = journalled[index] {
                let isErased = isOfErased(index)
                rows.append([
                    item.dedupeKey.value, item.subject.value, .integer(item.kind.rawValue),
                    .integer(item.stated.milliseconds), .blob(item.digest),
                    .blob(try kept(content, of: item, index)),
                    SQLValue(isErased ? nil : item.body),
                    SQLValue(isErased ? nil : item.person?.bytes),
                ])
                indices.append(index)
            }
            if let payers = registeredPayers[index] {
                rows.append(try row(registering: payers.names, of: payers.customer, with: item))
                indices.append(nil)
            }
        }
        let ids = try connection.insertMany(
            """
            INSERT INTO journal (dedupe_key, subject, kind, stated, digest, facts, body, person)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
            """,
            rows
        )
        return Dictionary(
            uniqueKeysWithValues: zip(indices, ids).compactMap { index, id in
                index.map { ($0, id) }
            }
        )
    }

    /// The journal's row of names that an item gave to a customer who was erased.
    ///
    /// One item may do so again: a completed erasure that is completed once more finds other names.
    private func row(
        registering names: [RowKey],
        of customer: Customer.ID,
        with item: JournalItem
    ) throws -> [SQLValue] {
        [
            RowKey("payers", item.dedupeKey.hex, names.map(\.hex).joined()).value,
            RowKey(Holder.customer(customer)).value,
            .integer(JournalItem.Kind.command.rawValue),
            .integer(item.stated.milliseconds),
            .blob(JournalItem.digest(of: [])),
            .blob(try JournalContent.registered(customer, aliases: names).kept()),
            .null, .null,
        ]
    }

    private func kept(
        _ content: JournalContent,
        of item: JournalItem,
        _ index: Int
    ) throws -> [UInt8] {
        if case .facts = content, !renamed.contains(index), let kept = item.keptFacts {
            return kept
        }
        return try content.kept()
    }

    /// Whether it is about somebody who was erased: such messages leave no body any more.
    private func isOfErased(_ index: Int) -> Bool {
        guard hasErased else { return false }
        let item = items[index]
        if renamed.contains(index) || isHeldByErased(item.subject) { return true }
        guard let person = item.person, let customer = aliases[person] ?? nil else { return false }
        return customers[customer]?.isErased == true
    }

    private func writePurchases() throws {
        let changed = purchases.filter(\.value.isChanged).sorted { $0.key < $1.key }
        try connection.executeMany(
            """
            INSERT INTO purchase (key, version, record, posted) VALUES ($1, $2, $3, $4)
            ON CONFLICT (key) DO UPDATE SET version = $2, record = $3, posted = $4
            """,
            try changed.map { key, state in
                [
                    key.value, .integer(engineVersion),
                    .blob(try RecordEncoder.encode(state.record)),
                    .blob(try RecordEncoder.encode(state.posting)),
                ]
            }
        )
        let changedHoldings = holdings.sorted { $0.key < $1.key }
        try connection.executeMany(
            "DELETE FROM holding WHERE holder = $1 AND purchase = $2",
            changedHoldings.filter { !$0.value }.map(\.key.values)
        )
        try connection.executeMany(
            """
            INSERT INTO holding (holder, purchase) VALUES ($1, $2)
            ON CONFLICT (holder, purchase) DO NOTHING
            """,
            changedHoldings.filter(\.value).map(\.key.values)
        )
    }

    private func writeCustomers() throws {
        let changed = customers.filter(\.value.isChanged).sorted { $0.key < $1.key }
        var messages: [[SQLValue]] = []
        try connection.executeMany(
            """
            INSERT INTO customer (key, environment, sequence, balance, next_change, answer)
            VALUES ($1, $2, $3, $4, $5, $6)
            ON CONFLICT (key) DO UPDATE
            SET sequence = $3, balance = $4, next_change = $5, answer = $6
            """,
            changed.map { key, state in
                let catalog = history.catalog(ofVersions: state.versions)
                guard !state.isErased else {
                    messages.append(try message(of: key, state, active: []))
                    return [
                        key.value, .integer(state.environment == .production ? 1 : 0),
                        .integer(state.sequence), .integer(state.balance), .null,
                        .blob(CustomerAnswer.erasedBytes),
                    ]
                }
                let timeline = state.answer.timeline(in: catalog)
                let next = timeline.nextChange(after: state.changed)
                messages.append(
                    try message(of: key, state, active: timeline.active(at: state.changed))
                )
                return [
                    key.value, .integer(state.environment == .production ? 1 : 0),
                    .integer(state.sequence), .integer(state.balance),
                    SQLValue(next?.milliseconds), .blob(state.answer.bytes),
                ]
            }
        )
        for (key, state) in customers.sorted(by: { $0.key < $1.key })
        where !state.isChanged && state.hasNews {
            let catalog = history.catalog(ofVersions: state.versions)
            let active = state.answer.timeline(in: catalog).active(at: state.changed)
            messages.append(try message(of: key, state, active: active))
        }
        try connection.executeMany(Self.messageSQL, messages)
    }

    private func message(
        of key: RowKey,
        _ state: CustomerState,
        active: [ActiveEntitlement]
    ) throws -> [SQLValue] {
        try Self.message(
            state.news ?? (state.isChanged ? .entitlementsChanged : .purchaseChanged),
            of: key,
            in: state.environment,
            sequence: state.sequence,
            at: state.changed,
            active,
            balance: state.balance,
            purchases: state.purchaseNews
        )
    }

    private mutating func writeNames() throws {
        try connection.executeMany(
            "INSERT INTO alias (key, customer) VALUES ($1, $2) ON CONFLICT (key) DO NOTHING",
            newAliases.map { [$0.0.value, $0.1.value] }
        )
        for index in items.indices {
            switch (journalled[index], items[index].content) {
            case (.registered?, .register(let registration)):
                try connection.execute(
                    """
                    INSERT INTO profile (customer, id, body) VALUES ($1, $2, $3)
                    ON CONFLICT (customer) DO UPDATE SET body = $3 WHERE length(profile.body) > 0
                    """,
                    [
                        RowKey(Holder.customer(registration.customer)).value,
                        .text(registration.customer.rawValue), .blob(registration.profile),
                    ]
                )
                try writeEmail(of: registration)
            case (.adopted(let version)?, _):
                try connection.execute(
                    """
                    INSERT INTO catalog_version (id, adopted, body) VALUES ($1, $2, $3)
                    ON CONFLICT (id) DO NOTHING
                    """,
                    [
                        RowKey("catalog", version.id, "\(version.adopted.milliseconds)").value,
                        .integer(version.adopted.milliseconds),
                        .blob(try RecordEncoder.encode(version)),
                    ]
                )
            case (.erased(let customer)?, _): try forget(customer)
            case (.facts?, _):
                // What was found under the new names was kept as it came.
                if let payers = registeredPayers[index] { try forget(payers.customer) }
            default: break
            }
        }
        try connection.executeMany(
            """
            INSERT INTO wanted (key, kind, object, body, created) VALUES ($1, $2, $3, $4, $5)
            ON CONFLICT (key) DO UPDATE SET created = excluded.created
            WHERE wanted.created < excluded.created
            """,
            wanted.map { wanted, purchase, created in
                [
                    RowKey("wanted", wanted.kind.rawValue, wanted.object, purchase.canonical).value,
                    .text(wanted.kind.rawValue), .text(wanted.object),
                    .blob(Array(purchase.canonical.utf8)), .integer(created.milliseconds),
                ]
            }
        )
    }
}

// MARK: - Emails

extension Batch {
    /// Staff search customers by their email, and only by the one they have now.
    private func writeEmail(of registration: Registration) throws {
        guard let email = registration.email else { return }
        let name = RowKey(Holder.customer(registration.customer)).value
        try connection.execute("DELETE FROM profile_email WHERE customer = $1", [name])
        try connection.execute(
            """
            INSERT INTO profile_email (email, customer)
            SELECT $1, customer FROM profile WHERE customer = $2 AND length(body) > 0
            ON CONFLICT (email, customer) DO NOTHING
            """,
            [RowKey(email: email).value, name]
        )
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

extension Catalog {
    /// Everything it sells in a store.
    var storeProducts: [StoreProduct] {
        products.flatMap { product in
            (product.appStoreProductID.map { [StoreProduct(.appStore, $0)] } ?? [])
                + product.stripePriceIDs.map { StoreProduct(.stripe, $0) }
        }
    }
}
