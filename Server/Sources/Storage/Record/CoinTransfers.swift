internal import TollgateCore

/// The coins that one transaction moves: every transfer between a customer and the counter-account of a
/// lot (RULES §6).
struct CoinTransfers {
    /// The item that a transfer comes from.
    struct Item {
        var index: Int
        var stated: Instant
    }

    private var transfers: [Transfer] = []

    /// Posts the lots of a purchase, and takes back those that it no longer has.
    ///
    /// - Parameter isMoved: whether staff moved the purchase, and its coins with it.
    mutating func post(
        _ lots: [CoinLot],
        of purchase: Purchase.Key,
        isMoved: Bool,
        _ posting: inout Posting,
        _ item: Item,
        _ rows: inout BatchRows
    ) throws {
        for lot in lots { try post(lot, of: purchase, isMoved: isMoved, &posting, item, &rows) }
        try withdraw(lotsBut: Set(lots.map(\.id)), of: purchase, &posting, item, &rows)
    }

    /// Carries out what was decided about a spend, of which `id` is the item's.
    mutating func spend(
        _ decision: SpendDecision,
        id: RowKey,
        _ item: Item,
        _ rows: inout BatchRows
    ) {
        let lot = RowKey("spend", id.hex)
        post(-decision.amount, lot: lot, number: 0, to: decision.row, item, &rows)
    }

    /// Takes back what was posted for lots that the record no longer has: a newer statement made
    /// the period a family member's, say.
    private mutating func withdraw(
        lotsBut kept: Set<String>,
        of purchase: Purchase.Key,
        _ posting: inout Posting,
        _ item: Item,
        _ rows: inout BatchRows
    ) throws {
        for place in posting.lots.indices where !kept.contains(posting.lots[place].id) {
            let posted = posting.lots[place]
            guard posted.total != 0 else { continue }
            try rows.loadCustomers([posted.row: purchase.environment])
            post(
                -posted.total,
                lot: RowKey("lot", purchase.canonical, posted.id),
                number: posted.transfers,
                to: posted.row,
                item,
                &rows
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
        _ item: Item,
        _ rows: inout BatchRows
    ) throws {
        let lotKey = RowKey("lot", purchase.canonical, lot.id)
        let (row, isCustomer, _) = rows.resolve(lot.owner, in: purchase.environment)
        let place = posting.lots.firstIndex { $0.id >= lot.id } ?? posting.lots.endIndex
        if place == posting.lots.endIndex || posting.lots[place].id != lot.id {
            posting.lots.insert(
                Posting.Lot(id: lot.id, row: row, isCustomer: isCustomer, total: 0, transfers: 0),
                at: place
            )
        }
        var posted = posting.lots[place]
        if !posted.isCustomer || isMoved, posted.row != row {
            try rows.loadCustomers([row: purchase.environment])
            if posted.total != 0 {
                post(
                    -posted.total,
                    lot: lotKey,
                    number: posted.transfers,
                    to: posted.row,
                    item,
                    &rows
                )
                posted.transfers += 1
                posted.total = 0
            }
            posted.row = row
        }
        posted.isCustomer = posted.isCustomer || isCustomer
        let difference = lot.remainder - posted.total
        if difference != 0 {
            try rows.loadCustomers([posted.row: purchase.environment])
            post(difference, lot: lotKey, number: posted.transfers, to: posted.row, item, &rows)
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
        _ item: Item,
        _ rows: inout BatchRows
    ) {
        transfers.append(
            Transfer(
                id: RowKey("transfer", lot.hex, "\(number)"),
                lot: lot,
                row: row,
                amount: amount,
                item: item.index
            )
        )
        guard var customer = rows.customers[row] else { preconditionFailure("a row not loaded") }
        customer.balance += amount
        if customer.news == nil { customer.news = .coinsChanged }
        customer.touch(item.stated, versions: rows.history.versions.count)
        rows.customers[row] = customer
    }

    /// - Parameter journalIDs: the journal's rows by item.
    func write(_ connection: any StorageConnection, _ journalIDs: [Int: Int64]) throws {
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
    }
}
