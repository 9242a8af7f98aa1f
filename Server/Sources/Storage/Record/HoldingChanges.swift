/// Which purchases are found under which holders, names and products: what changes in one transaction.
struct HoldingChanges {
    /// Whether each holding that changed is there in the end: what one item adds, a later item may
    /// remove.
    private var holdings: [Holding: Bool] = [:]

    mutating func reindex(_ purchase: RowKey, from old: Posting, to new: Posting) {
        let before = Set(old.rows + old.index)
        let after = Set(new.rows + new.index)
        for holder in before.subtracting(after) { holdings[Holding(holder, purchase)] = false }
        for holder in after.subtracting(before) { holdings[Holding(holder, purchase)] = true }
    }

    func write(_ connection: any StorageConnection) throws {
        let changed = holdings.sorted { $0.key < $1.key }
        try connection.executeMany(
            "DELETE FROM holding WHERE holder = $1 AND purchase = $2",
            changed.filter { !$0.value }.map(\.key.values)
        )
        try connection.executeMany(
            """
            INSERT INTO holding (holder, purchase) VALUES ($1, $2)
            ON CONFLICT (holder, purchase) DO NOTHING
            """,
            changed.filter(\.value).map(\.key.values)
        )
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
