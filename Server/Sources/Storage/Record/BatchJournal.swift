internal import TollgateCore

/// What each item of one transaction comes to, and leaves in the journal.
struct BatchJournal {
    let items: [JournalItem]
    private(set) var outcomes: [JournalOutcome?]
    private(set) var contents: [JournalContent?]
    /// Items whose facts lost a name, so that they leave no body either.
    var renamed: Set<Int> = []
    /// Names that items gave to customers who were erased, by item; each is journalled as a
    /// registration behind the item.
    var registeredPayers: [Int: (customer: Customer.ID, names: [RowKey])] = [:]
    /// Segments that are in the database for certain.
    var knownSegments: Set<[UInt8]> = []
    /// Segments that were written.
    private(set) var writtenSegments: [[UInt8]] = []

    init(_ items: [JournalItem]) {
        self.items = items
        outcomes = Array(repeating: nil, count: items.count)
        contents = Array(repeating: nil, count: items.count)
    }

    /// The items that the journal did not have.
    var fresh: [Int] { items.indices.filter { outcomes[$0] == nil } }

    /// Notes what an item leaves, and what it is answered.
    mutating func keep(
        _ content: JournalContent,
        _ index: Int,
        outcome: JournalOutcome? = .recorded
    ) {
        contents[index] = content
        if let outcome { outcomes[index] = outcome }
    }
}

extension BatchJournal {
    /// Finds the items that the journal has already.
    mutating func findDuplicates(_ connection: any StorageConnection) throws {
        // A key belongs to one subject, whose rows lie together.
        let keys = ["dedupe_key"] + (connection.dialect.isDistributed ? ["subject"] : [])
        let rows = try connection.find(
            "facts",
            in: "journal",
            by: keys,
            items.map { Array([$0.dedupeKey.value, $0.subject.value].prefix(keys.count)) }
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

    /// Writes a row for each item that leaves something.
    ///
    /// - Returns: the rows' ids by item.
    mutating func write(_ rows: BatchRows) throws -> [Int: Int64] {
        let connection = rows.connection
        var seen = knownSegments
        let segments = items.indices.filter { contents[$0] != nil }
            .flatMap { items[$0].segments }
            .filter { seen.insert($0.id).inserted }
            .sorted { $0.id.lexicographicallyPrecedes($1.id) }
        writtenSegments = segments.map(\.id)
        try connection.executeMany(
            "INSERT INTO segment (id, bytes) VALUES ($1, $2) ON CONFLICT (id) DO NOTHING",
            segments.map { [.blob($0.id), .blob($0.bytes)] }
        )
        var values: [[SQLValue]] = []
        var indices: [Int?] = []
        for (index, item) in items.enumerated() {
            if let content = contents[index] {
                let isErased = isOfErased(index, rows)
                values.append([
                    item.dedupeKey.value, item.subject.value, .integer(item.kind.rawValue),
                    .integer(item.stated.milliseconds), .blob(item.digest),
                    .blob(try kept(content, of: item, index)),
                    SQLValue(isErased ? nil : item.body),
                    SQLValue(isErased ? nil : item.person?.bytes),
                ])
                indices.append(index)
            }
            if let payers = registeredPayers[index] {
                values.append(try row(registering: payers.names, of: payers.customer, with: item))
                indices.append(nil)
            }
        }
        let ids = try connection.insertMany(
            """
            INSERT INTO journal (dedupe_key, subject, kind, stated, digest, facts, body, person)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
            """,
            values
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
    private func isOfErased(_ index: Int, _ rows: BatchRows) -> Bool {
        guard rows.hasErased else { return false }
        let item = items[index]
        if renamed.contains(index) || rows.isHeldByErased(item.subject) { return true }
        guard let person = item.person, let customer = rows.aliases[person] ?? nil else {
            return false
        }
        return rows.customers[customer]?.isErased == true
    }
}
