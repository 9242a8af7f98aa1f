internal import TollgateCore

extension Batch {
    mutating func apply(_ index: Int) throws {
        let item = journal.items[index]
        switch item.content {
        case .facts(let received):
            let (facts, payers) =
                rows.hasErased && !isReplay
                ? try rows.withoutErased(received, of: item.subject) : (received, [])
            if facts != received { journal.renamed.insert(index) }
            if let key = facts.first?.purchase {
                var state =
                    rows.purchases[item.subject] ?? PurchaseState(record: Purchase(key: key))
                let before = state.record
                for fact in facts { state.record.join(fact) }
                rows.purchases[item.subject] = state
                if state.record != before {
                    let linked = link(item.subject, index)
                    try evaluate(item.subject, index)
                    for row in linked { try evaluate(row, index) }
                    let holders = rows.purchases[item.subject]?.posting.rows ?? []
                    for row in Set(state.posting.rows + holders) {
                        rows.customers[row]?.hear(
                            facts,
                            at: item.stated,
                            versions: rows.history.versions.count
                        )
                    }
                }
            }
            if let about = item.wantedAbout {
                wanted += item.wanted.map { ($0, about, item.stated) }
            }
            if !payers.isEmpty, let customer = rows.erasedHolder(of: item.subject) {
                try register(payers: payers, of: customer, index)
            }
            journal.keep(.facts(facts), index)
        case .register(let registration):
            try register(registration, index)
        case .spend(let order):
            try decide(order, index)
        case .adopt(var version):
            guard rows.history.versions.last?.id != version.id else { return }
            // Versions follow one another, even where a clock was set back: the last is today's.
            if let last = rows.history.versions.last?.adopted, version.adopted <= last {
                version.adopted = last.advanced(by: 1)
            }
            rows.history.adopt(version)
            for product in version.catalog.storeProducts {
                try evaluateFound(under: RowKey(waitingFor: product), index, announcing: true)
            }
            journal.keep(.adopted(version), index)
        case .erase(let customer):
            for row in rows.rows(of: customer) {
                rows.customers[row]?.erase()
                rows.customers[row]?.touch(item.stated, versions: rows.history.versions.count)
            }
            rows.hasErased = true
            try rename(customer, index)
            journal.keep(.erased(customer), index)
        }
    }

    private mutating func register(_ registration: Registration, _ index: Int) throws {
        let customer = RowKey(Holder.customer(registration.customer))
        var fresh: [RowKey] = []
        for alias in names(of: registration)
        where (rows.aliases[alias] ?? nil) == nil {
            rows.aliases[alias] = .some(customer)
            newAliases.append((alias, customer))
            fresh.append(alias)
        }
        for alias in fresh {
            for environment in StoreEnvironment.allCases {
                try evaluateFound(under: alias.inEnvironment(environment), index)
            }
        }
        journal.keep(
            .registered(registration.customer, aliases: names(of: registration)),
            index
        )
    }

    func names(of registration: Registration) -> [RowKey] {
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
        var waiting = Set(rows.found[key] ?? [])
        for (purchase, state) in rows.purchases where state.posting.index.contains(key) {
            waiting.insert(purchase)
        }
        for purchase in waiting.sorted() {
            // An earlier item of this batch may have found it already.
            let isWaiting = rows.purchases[purchase]?.posting.index.contains(key) ?? false
            try evaluate(purchase, index)
            guard isAnnounced, isWaiting else { continue }
            for row in rows.purchases[purchase]?.posting.rows ?? [] {
                guard var customer = rows.customers[row], !customer.isErased else { continue }
                customer.news = .entitlementsChanged
                customer.touch(journal.items[index].stated, versions: rows.history.versions.count)
                rows.customers[row] = customer
            }
        }
    }

    private mutating func decide(_ order: SpendOrder, _ index: Int) throws {
        if let replayedDecision {
            // Only an accepted one moves coins, and there were coins, so the row is there.
            try rows.loadCustomers([replayedDecision.row: .production])
            return spend(replayedDecision, index)
        }
        let row = RowKey(Holder.customer(order.customer)).inEnvironment(order.environment)
        try rows.loadCustomers([row: order.environment])
        let balance = rows.customers[row]?.balance ?? 0
        let isAccepted = order.amount > 0 && order.amount <= max(0, balance)
        let decision = SpendDecision(
            row: row,
            amount: order.amount,
            bodyHash: order.bodyHash,
            isAccepted: isAccepted,
            balance: isAccepted ? balance - order.amount : balance
        )
        spend(decision, index, outcome: .decided(decision, isReplay: false))
    }

    /// Carries a decision out.
    private mutating func spend(
        _ decision: SpendDecision,
        _ index: Int,
        outcome: JournalOutcome? = nil
    ) {
        journal.keep(.spent(decision), index, outcome: outcome)
        guard decision.isAccepted else { return }
        let item = CoinTransfers.Item(index: index, stated: journal.items[index].stated)
        coins.spend(decision, id: journal.items[index].dedupeKey, item, &rows)
    }

    mutating func evaluate(_ purchaseKey: RowKey, _ index: Int) throws {
        guard var state = rows.purchases[purchaseKey] else { return }
        let evaluation = state.record.evaluate(in: rows.history)
        let key = state.record.key
        var parts: [RowKey: PurchaseAccess] = [:]
        var waiting: Set<RowKey> = Set(evaluation.unknownProducts.map { RowKey(waitingFor: $0) })
        for share in evaluation.shares {
            let (row, _, unregistered) = rows.resolve(share.owner, in: key.environment)
            waiting.formUnion(unregistered)
            parts[row, default: PurchaseAccess()].merge(share.access)
        }
        // Coins are the buyer's also where another has the access: they wait for that name as well.
        for lot in evaluation.lots {
            waiting.formUnion(rows.resolve(lot.owner, in: key.environment).unregistered)
        }
        let parted = parts.filter { $0.value != PurchaseAccess() }
        try rows.loadCustomers(parted.mapValues { _ in key.environment })
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
            let customer = rows.aliases[alias] ?? nil
            let row = (customer ?? alias).inEnvironment(key.environment)
            if parts[row] == nil { waiting.insert(customer == nil ? row : RowKey(namedBy: row)) }
        }
        posting.index = waiting.sorted()
        try coins.post(
            evaluation.lots,
            of: key,
            isMoved: state.record.assignment != nil,
            &posting,
            CoinTransfers.Item(index: index, stated: journal.items[index].stated),
            &rows
        )
        holdings.reindex(purchaseKey, from: state.posting, to: posting)
        state.posting = posting
        state.isChanged = true
        rows.purchases[purchaseKey] = state
        wanted += evaluation.wanted.map { ($0, key, journal.items[index].stated) }
    }

    private mutating func set(
        _ purchase: Purchase.Key,
        _ access: PurchaseAccess?,
        in row: RowKey,
        _ index: Int
    ) {
        guard var customer = rows.customers[row], !customer.isErased,
            customer.answer.set(purchase, access)
        else { return }
        customer.news = .entitlementsChanged
        customer.touch(journal.items[index].stated, versions: rows.history.versions.count)
        rows.customers[row] = customer
    }
}
