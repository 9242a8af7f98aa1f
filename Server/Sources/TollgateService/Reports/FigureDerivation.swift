public import Reports
public import Storage
public import TollgateCore

/// Keeps the rows and sums of reports in step with the journal.
///
/// It goes along the journal behind ingest, which pays nothing for it but the disk: takes the
/// purchases that changed, derives their rows again and adds the difference to the sums, all in
/// one transaction with its own place. So nothing is counted twice or left out, whenever it stops.
public struct FigureDerivation: Sendable {
    /// How far it is.
    struct Place: Codable, Hashable {
        /// `Reports.version`.
        var version: Int64
        /// Done up to this row of the journal.
        var journal: Int64
        /// While all purchases are gone through again: the last one done; empty at first.
        var sweep: String?
    }

    /// What one step did.
    public struct Progress: Hashable, Sendable {
        /// The row of the journal up to which figures are right.
        public var journal: Int64
        public var purchases: Int
        /// Whether there is nothing more to do.
        public var isDone: Bool
    }

    let store: RecordStore
    private let rows: [any StoreRows]

    /// - Parameter rows: of every store that sells.
    public init(_ store: RecordStore, rows: [any StoreRows]) {
        self.store = store
        self.rows = rows
    }

    /// Follows the journal to its end.
    ///
    /// - Parameters:
    ///   - now: real time.
    ///   - progress: told the journal's row that was reached, and its last.
    public func followToTheEnd(
        now: Instant,
        progress: @Sendable (Int64, Int64) -> Void = { _, _ in }
    ) async throws {
        while true {
            let step = try await follow(limit: 2_000, now: now)
            if step.isDone { return }
            progress(step.journal, try await store.figures.journalEnd())
        }
    }

    /// How many rows of the journal the figures are behind; 0: none.
    public static func lag(of store: RecordStore) async throws -> Int64 {
        let place = try await readPlace(in: store)?.place
        let end = try await store.figures.journalEnd()
        // A newer program's figures are as far as it says, even though it is not for us to go on.
        guard let place, place.version >= Reports.version else { return end }
        return max(place.sweep == nil ? 0 : 1, end - place.journal)
    }

    /// Whether figures of whole days may be missing: they are derived anew, or more than a step behind.
    package static func isIncomplete(in store: RecordStore) async throws -> Bool {
        guard let place = try await readPlace(in: store)?.place, place.version >= Reports.version
        else { return true }
        let end = try await store.figures.journalEnd()
        return place.sweep != nil || end - place.journal > stepLength
    }

    /// The rows of the journal that a step takes in.
    public static let stepLength: Int64 = 250

    /// Whether a newer program keeps the figures.
    func isLeftToOthers() async throws -> Bool {
        (try await Self.readPlace(in: store)?.place.version ?? 0) > Reports.version
    }

    /// One step: takes in at most `limit` rows of the journal, and where that is all of them, as
    /// many purchases of those that are gone through again.
    public func follow(limit: Int64 = stepLength, now: Instant) async throws -> Progress {
        let kept = try await Self.readPlace(in: store)
        if let kept, kept.place.version != Reports.version {
            // While servers are being replaced, both versions run for a while. Only the newer one
            // derives, or each would drop what the other has derived.
            guard kept.place.version < Reports.version else {
                return Progress(journal: kept.place.journal, purchases: 0, isDone: true)
            }
            // With our version in it from the start: an older one must not begin where there is none.
            let begin = Place(version: Reports.version, journal: 0)
            try await store.figures.dropAll(leaving: try RecordEncoder.encodeCodable(begin))
            return Progress(journal: 0, purchases: 0, isDone: false)
        }
        let place = kept?.place ?? Place(version: Reports.version, journal: 0)
        let horizon = try await store.figures.journalHorizon(after: place.journal)
        guard horizon > place.journal else {
            return try await sweep(kept?.bytes, place, limit, now)
        }
        let taken = try await takeJournal(kept?.bytes, place, upTo: horizon, limit, now)
        // The sweep goes on beside steady traffic, or it would wait for a quiet hour.
        guard !taken.isDone, taken.journal >= horizon,
            let next = try await Self.readPlace(in: store),
            next.place.version == Reports.version, next.place.sweep != nil
        else { return taken }
        var swept = try await sweep(next.bytes, next.place, limit, now)
        swept.purchases += taken.purchases
        return swept
    }

    /// Goes on with the purchases that are gone through again, if there are any left.
    private func sweep(
        _ kept: [UInt8]?,
        _ place: Place,
        _ limit: Int64,
        _ now: Instant
    ) async throws -> Progress {
        guard let sweep = place.sweep else {
            return Progress(journal: place.journal, purchases: 0, isDone: true)
        }
        return try await takePurchases(kept, place, after: sweep, limit, now)
    }

    private static func readPlace(
        in store: RecordStore
    ) async throws -> (bytes: [UInt8], place: Place)? {
        guard let bytes = try await store.figures.place() else { return nil }
        return (bytes, try RecordDecoder.decode(Place.self, from: bytes))
    }

    private func takeJournal(
        _ kept: [UInt8]?,
        _ place: Place,
        upTo horizon: Int64,
        _ limit: Int64,
        _ now: Instant
    ) async throws -> Progress {
        let changes = try await store.figures.changes(
            after: place.journal,
            upTo: horizon,
            limit: limit
        )
        let history = try await store.figures.currentHistory()
        var next = place
        next.journal = changes.last
        // A purchase may have become another by what a new catalog knows; before the first one
        // nothing was derived.
        if changes.hasNewCatalog, place.journal > 0 { next.sweep = "" }
        var change = try await difference(
            purchases: changes.purchases,
            spends: changes.spends,
            in: history
        )
        change.written += try changes.statements.flatMap { try $0.showings() }
        change.removed += try await showings(of: changes.erased)
        return try await finish(
            change,
            from: kept,
            to: next,
            purchases: changes.purchases.count,
            isDone: changes.last >= horizon && next.sweep == nil,
            now
        )
    }

    private func takePurchases(
        _ kept: [UInt8]?,
        _ place: Place,
        after sweep: String,
        _ limit: Int64,
        _ now: Instant
    ) async throws -> Progress {
        let keys = try await store.figures.purchaseKeys(after: RowKey(hex: sweep), limit: limit)
        var next = place
        next.sweep = Int64(keys.count) < limit ? nil : keys.last?.hex
        let change = try await difference(
            purchases: keys,
            spends: [],
            in: try await store.figures.currentHistory()
        )
        return try await finish(
            change,
            from: kept,
            to: next,
            purchases: keys.count,
            isDone: next.sweep == nil,
            now
        )
    }

    private func finish(
        _ change: FigureChange,
        from kept: [UInt8]?,
        to next: Place,
        purchases: Int,
        isDone: Bool,
        _ now: Instant
    ) async throws -> Progress {
        let isApplied = try await store.figures.apply(
            change,
            from: kept,
            to: try RecordEncoder.encodeCodable(next),
            now: now
        )
        // If not, another server was faster: the next step begins where that one ended.
        return Progress(
            journal: next.journal,
            purchases: isApplied ? purchases : 0,
            isDone: isApplied && isDone
        )
    }

    /// The places of the showings of these customers.
    private func showings(of customers: [RowKey]) async throws -> [Figure.Place] {
        guard !customers.isEmpty else { return [] }
        let rows = customers.flatMap { customer in
            StoreEnvironment.allCases.map { customer.inEnvironment($0) }
        }
        let shown = FigureKind.shown.rawValue
        return try await store.figures.rows(aboutEach: rows, kind: shown).joined().map(\.place)
    }

    // MARK: - What is different

    private func difference(
        purchases keys: [RowKey],
        spends: [StoredSpend],
        in history: CatalogHistory
    ) async throws -> FigureChange {
        var new: [RowKey: Reports.PurchaseRows] = [:]
        for changed in try await store.figures.changedPurchases(keys) {
            new[changed.key] = Reports.rows(of: changed.record, by: rows, in: history) {
                changed.customer($0).hex
            }
        }
        for spend in spends { new[spend.key] = Reports.PurchaseRows(spend) }
        let subjects = new.keys.sorted()
        let old = Dictionary(
            uniqueKeysWithValues: zip(subjects, try await store.figures.rows(ofEach: subjects))
        )
        var change = FigureChange()
        var entries = Reports.Entries()
        var customers: Set<RowKey> = []
        var changed: Set<RowKey> = []
        for subject in subjects {
            guard let rows = new[subject], let kept = old[subject] else { continue }
            let figures = try rows.figures(of: subject)
            guard figures != kept else { continue }
            changed.insert(subject)
            change.replace(kept, by: figures)
            let before = try Reports.PurchaseRows(kept)
            entries -= before.entries
            entries += rows.entries
            for period in before.periods + rows.periods
            where period.store.lineOfPeriods == .manyItems {
                if let customer = RowKey(hex: period.customer) { customers.insert(customer) }
            }
            for figure in kept + figures where figure.place.kind == FigureKind.sale.rawValue {
                customers.insert(figure.customer)
            }
        }
        try await add(
            customers.sorted(),
            new.filter { changed.contains($0.key) },
            to: &change,
            &entries
        )
        change.added = entries.rollups
        return change
    }

    /// What customers add depends on all that they bought.
    private func add(
        _ customers: [RowKey],
        _ changed: [RowKey: Reports.PurchaseRows],
        to change: inout FigureChange,
        _ entries: inout Reports.Entries
    ) async throws {
        guard !customers.isEmpty else { return }
        let kept = try await store.figures.rows(
            aboutEach: customers,
            kind: FigureKind.sale.rawValue
        )
        let before = try await store.figures.rows(ofEach: customers.map(\.asFigureSubject))
        var fresh: [String: [Reports.Sale]] = [:]
        for sale in changed.values.flatMap(\.sales) {
            fresh[sale.customer, default: []].append(sale)
        }
        let periods = try await periods(of: customers, changed)
        for (index, customer) in customers.enumerated() {
            // Nobody's purchases are not one customer's.
            guard customer != RowKey("nobody") else { continue }
            for figure in before[index] {
                let counted = try RecordDecoder.decode(CustomerFigure.self, from: figure.body)
                entries -= counted.entries(in: figure.environment)
            }
            let sales =
                try kept[index].filter { changed[$0.place.subject] == nil }.map { try $0.sale() }
                + (fresh[customer.hex] ?? [])
            var counted = Reports.customerEntries(sales)
            counted += Reports.returnEntries(periods[customer] ?? [])
            entries += counted
            let written = try CustomerFigure(counted).figure(of: customer, counted)
            change.replace(before[index], by: written)
        }
    }

    /// All periods of these customers, those of `changed` purchases as they are now.
    private func periods(
        of customers: [RowKey],
        _ changed: [RowKey: Reports.PurchaseRows]
    ) async throws -> [RowKey: [Reports.PaidPeriod]] {
        guard !customers.isEmpty else { return [:] }
        let kept = try await store.figures.rows(
            aboutEach: customers,
            kind: FigureKind.period.rawValue
        )
        var periods: [RowKey: [Reports.PaidPeriod]] = [:]
        for (customer, figures) in zip(customers, kept) {
            periods[customer] = try figures.filter { changed[$0.place.subject] == nil }
                .map { try $0.period() }
        }
        for period in changed.values.flatMap(\.periods) {
            guard let customer = RowKey(hex: period.customer) else { continue }
            periods[customer]?.append(period)
        }
        return periods
    }
}

extension FigureChange {
    /// Writes what is new or other, and removes what is gone.
    mutating func replace(_ old: [Figure], by new: [Figure]) {
        let kept = Dictionary(uniqueKeysWithValues: old.map { ($0.place, $0) })
        written += new.filter { kept[$0.place] != $0 }
        let places = Set(new.map(\.place))
        removed += old.map(\.place).filter { !places.contains($0) }
    }
}

extension RowKey {
    /// Customers and purchases are of one table there.
    fileprivate var asFigureSubject: RowKey { RowKey("customer figures", hex) }
}

/// What was counted for a customer, so that it can be taken away again.
private struct CustomerFigure: Codable {
    struct Part: Codable {
        var measure: Reports.Measure
        var day: Int64
        var store: String
        var product: String
        var country: String
        var currency: String
        /// Of a subscription that came back.
        var offer: String?
        /// `nil`, not empty: most have none.
        var app: String?
        /// `EntryKey.detail`.
        var age: Int64
        var items: Int64
        var amount: Int64

        var order: (Int64, String, Int64, Int64, String, String) {
            (
                measure.rawValue, currency, age, day, "\(product) \(offer ?? "") \(app ?? "")",
                country
            )
        }
    }

    var parts: [Part]

    init(_ entries: Reports.Entries) {
        parts = entries.sums.map { key, sum in
            Part(
                measure: key.measure,
                day: key.day.number,
                store: key.store,
                product: key.product,
                country: key.country,
                currency: key.currency,
                offer: key.offer.isEmpty ? nil : key.offer,
                app: key.app.isEmpty ? nil : key.app,
                age: key.detail,
                items: sum.items,
                amount: sum.amount
            )
        }.sorted {
            $0.order < $1.order
        }
    }

    func entries(in environment: StoreEnvironment) -> Reports.Entries {
        var entries = Reports.Entries()
        for part in parts {
            entries.add(
                Reports.EntryKey(
                    environment: environment,
                    measure: part.measure,
                    day: Reports.Day(number: part.day),
                    store: part.store,
                    product: part.product,
                    country: part.country,
                    currency: part.currency,
                    offer: part.offer ?? "",
                    app: part.app ?? "",
                    detail: part.age
                ),
                Reports.Sum(items: part.items, amount: part.amount)
            )
        }
        return entries
    }

    /// Its row; none where nothing is counted.
    func figure(of customer: RowKey, _ entries: Reports.Entries) throws -> [Figure] {
        guard let first = entries.sums.keys.min(by: { $0.day < $1.day }) else { return [] }
        return [
            try Figure(
                .customer,
                of: customer.asFigureSubject,
                number: 0,
                in: first.environment,
                at: first.day.start,
                customer: customer.hex,
                self
            )
        ]
    }
}

extension Reports.PurchaseRows {
    fileprivate init(_ spend: StoredSpend) {
        self.init(coins: [
            Reports.CoinMove(
                kind: .spent,
                store: nil,
                environment: spend.environment,
                purchase: nil,
                lot: "",
                product: "",
                country: "",
                coins: spend.amount,
                at: spend.at,
                customer: spend.customer.hex
            )
        ])
    }
}
