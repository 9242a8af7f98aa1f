internal import TollgateCore

/// The rows that one transaction works on: read and locked in order (RULES §12), changed in memory.
struct BatchRows {
    let connection: any StorageConnection
    var history: CatalogHistory
    var purchases: [RowKey: PurchaseState] = [:]
    var customers: [RowKey: CustomerState] = [:]
    /// Registered names: holder's key to customer's key.
    ///
    /// `nil`: looked up, not there.
    var aliases: [RowKey: RowKey?] = [:]
    /// Purchases found under an unregistered name or unknown product, by that key.
    private(set) var found: [RowKey: [RowKey]] = [:]
    /// Whether any of `customers` was erased.
    var hasErased = false

    init(_ connection: any StorageConnection, history: CatalogHistory) {
        self.connection = connection
        self.history = history
    }

    /// Whether rows are locked one by one, since other servers write too.
    var locks: Bool { !connection.dialect.rowLock.isEmpty }
}

// MARK: - Reading and locking

extension BatchRows {
    /// Another server may have adopted a catalog since ours was read, or derived everything by a later
    /// engine.
    ///
    /// Its adoption and our facts must not pass each other unseen, or a purchase would wait for a
    /// catalog that is there.
    ///
    /// - Parameter adopts: whether this transaction adopts one.
    mutating func lockCatalog(adopts: Bool) throws {
        guard let shared = connection.dialect.catalogLock else { return }
        try connection.execute(adopts ? shared.alone : shared.withOthers)
        let state = try connection.query(
            "SELECT (SELECT count(*) FROM catalog_version), \(EngineUpgrade.noteSQL)"
        ).first
        try EngineUpgrade.requireOurs(state?.optionalBytes(1))
        if try state?.int64(0) != Int64(history.versions.count) {
            history = try CatalogHistory(reading: connection)
        }
    }

    mutating func find(_ key: RowKey, into keys: inout Set<RowKey>) throws {
        let rows = try connection.query(Self.holdingSQL, [key.value])
        let purchases = try rows.map { try RowKey(bytes: $0.bytes(0)) }
        found[key] = purchases
        keys.formUnion(purchases)
    }

    mutating func load(_ keys: [RowKey], named: [RowKey: Purchase.Key]) throws {
        guard !keys.isEmpty else { return }
        let rows = try connection.lock(
            "record, posted",
            in: "purchase",
            making: ["key", "version", "record"],
            keys.map { [$0.value, .integer(0), .blob([])] }
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

    /// Locks and loads every purchase that one of the loaded continues or is continued by.
    ///
    /// They are known only once those are read, so these locks come after the sorted ones; whoever
    /// loses by that starts over.
    mutating func loadLinked() throws {
        while true {
            var named: [RowKey: Purchase.Key] = [:]
            for state in purchases.values {
                for key in state.record.linked where purchases[RowKey(key)] == nil {
                    named[RowKey(key)] = key
                }
            }
            guard !named.isEmpty else { return }
            try load(named.keys.sorted(), named: named)
        }
    }

    mutating func loadAliases(_ keys: [RowKey]) throws {
        guard !keys.isEmpty else { return }
        let rows = try connection.find(
            "customer",
            in: "alias",
            by: ["key"],
            keys.map { [$0.value] }
        )
        for (key, row) in zip(keys, rows) {
            aliases[key] = .some(try row.first.map { try RowKey(bytes: $0.bytes(0)) })
        }
    }

    /// The row of a name is locked both by who registers it and by a purchase that it may hold.
    ///
    /// Either may have come between our look and our lock, so look again with everything locked;
    /// whoever lost starts over.
    mutating func lookAgain() throws {
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

    mutating func loadCustomers(_ wanted: [RowKey: StoreEnvironment]) throws {
        let keys = wanted.keys.filter { customers[$0] == nil }.sorted()
        guard !keys.isEmpty else { return }
        let rows = try connection.lock(
            "sequence, balance, answer",
            in: "customer",
            making: ["key", "environment", "sequence", "balance", "answer"],
            keys.map { key in
                let environment = wanted[key] ?? .production
                return [
                    key.value, .integer(environment.number), .integer(0), .integer(0), .blob([]),
                ]
            }
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

// MARK: - Whose a name is

extension BatchRows {
    func resolved(_ holder: Holder) -> (key: RowKey, isCustomer: Bool) {
        let key = RowKey(holder)
        if case .customer = holder { return (key, true) }
        guard let customer = aliases[key] ?? nil else { return (key, false) }
        return (customer, true)
    }

    /// The first of the names that is registered, else the first; and the keys of those before it.
    func resolve(
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
}
