public import Storage
internal import Stores
public import TollgateAPI
public import TollgateCore

/// Everything about one customer in one environment, for staff who help them.
public struct CustomerFile: Sendable {
    /// One line of buying.
    public struct Holding: Sendable {
        public var key: Purchase.Key
        /// Leads to the purchase's own page.
        public var row: RowKey
        /// As the customer's own portal shows it.
        public var shown: PortalView.Purchase
        /// Whether it is a grant that is still running.
        public var isRunningGrant: Bool
        /// Coins that staff gave or took; `nil` for anything else.
        public var staffCoins: Int64?
    }

    /// Coins that one purchase brought, or staff gave.
    public struct Lot: Sendable {
        /// What brought them, as its holding is named.
        public var holding: Holding
        public var credited: Instant
        public var credit: Int64
        public var clawed: Int64
        /// How many of them are left, if the oldest are spent first.
        public var left: Int64
    }

    public var id: Customer.ID
    /// `nil` where they were erased.
    public var customer: API.Customer?
    /// The stores' own ids of them, where one is known.
    public var storeCustomers: [Store: String]
    public var environment: StoreEnvironment
    /// As of when, by the stores' clock.
    public var at: Instant
    /// What they may use now.
    public var entitlements: [API.Entitlement]
    /// Those that give access first.
    public var holdings: [Holding]
    public var coins: API.CoinBalance
    /// Newest first.
    public var movements: [CoinMovement]
    /// Where their coins came from, newest first.
    public var lots: [Lot]
    /// When their sessions end, the last first: UNIX seconds, those that have ended left out.
    public var sessions: [Int64]
    /// Whether there is anything in the other environment.
    public var hasOtherEnvironment: Bool
}

/// Finds customers, purchases and messages for staff.
public struct CustomerFiles: Sendable {
    let records: RecordStore
    let clocks: Clocks
    let directory: CustomerDirectory
    let standings: Standings
    let connectors: [any StoreConnector]
    let defaultEnvironment: StoreEnvironment

    /// The file of a customer, also of one who was erased.
    ///
    /// - Throws: a refusal 404 `resource_missing`.
    public func file(
        _ id: String,
        in environment: StoreEnvironment? = nil
    ) async throws -> CustomerFile {
        guard let stored = try await directory.stored(id) else {
            throw Refusal.missing("customer", id)
        }
        let environment = environment ?? defaultEnvironment
        let other: StoreEnvironment = environment == .production ? .sandbox : .production
        let profile = stored.body.isEmpty ? nil : try Profile(stored)
        let now = await clocks.now()
        let catalog = records.history.current
        let reading = try await records.reading(of: stored.customer, in: environment)
        let purchases = try await records.purchases(of: stored.customer, in: environment)
        let holdings = purchases.map { record, access in
            CustomerFile.Holding(
                key: record.key,
                row: RecordStore.row(of: record.key),
                shown: standings.shown(HeldPurchase(record, access, in: catalog, at: now)),
                isRunningGrant: record.grant.map { grant in
                    grant.value.until.map { $0 > now } ?? true
                } ?? false,
                staffCoins: record.coins?.value.amount
            )
        }.sorted {
            ($0.shown.isActive ? 0 : 1, $0.shown.name, $0.key)
                < ($1.shown.isActive ? 0 : 1, $1.shown.name, $1.key)
        }
        var payers: [Store: String] = [:]
        for holding in holdings {
            guard let payer = holding.shown.standing.storeCustomer else { continue }
            payers[holding.key.store] = payers[holding.key.store] ?? payer
        }
        let movements = try await records.coinMovements(
            of: stored.customer,
            in: environment,
            limit: 50
        )
        let otherReading = try await records.reading(of: stored.customer, in: other)
        let seconds = clocks.wall().milliseconds / 1000
        return CustomerFile(
            id: stored.customer,
            customer: profile?.customer,
            storeCustomers: payers.merging(profile?.storeCustomers ?? [:]) { $1 },
            environment: environment,
            at: now,
            entitlements: reading.timeline.active(at: now).map { API.Entitlement($0, catalog) },
            holdings: holdings,
            coins: API.CoinBalance(balance: reading.balance),
            movements: movements,
            lots: lots(of: purchases.map { $0.0 }, holdings, balance: reading.balance),
            sessions: try await records.sessions.ends(of: stored.customer).filter { $0 > seconds },
            hasOtherEnvironment: otherReading.sequence > 0
        )
    }

    /// The lots of coins of these purchases, newest first.
    private func lots(
        of purchases: [Purchase],
        _ holdings: [CustomerFile.Holding],
        balance: Int64
    ) -> [CustomerFile.Lot] {
        let shown = Dictionary(holdings.map { ($0.key, $0) }, uniquingKeysWith: { $1 })
        var lots: [CustomerFile.Lot] = []
        for purchase in purchases {
            guard let holding = shown[purchase.key] else { continue }
            for lot in purchase.evaluate(in: records.history).lots {
                lots.append(
                    CustomerFile.Lot(
                        holding: holding,
                        credited: lot.credited,
                        credit: lot.credit,
                        clawed: lot.clawed,
                        left: max(0, lot.credit - lot.clawed)
                    )
                )
            }
        }
        lots.sort { $0.credited < $1.credited }
        // What is not there any more was spent, of the oldest first.
        var spent = lots.reduce(0) { $0 + $1.left } - max(0, balance)
        for index in lots.indices where spent > 0 {
            let drawn = min(spent, lots[index].left)
            lots[index].left -= drawn
            spent -= drawn
        }
        return lots.reversed()
    }

    /// Customers whose answers changed lately and whose name or email has this in it, for
    /// suggestions: at most eight of the last four hundred.
    ///
    /// - Parameter emails: whether emails are looked at, which not everybody may see.
    public func similar(
        to text: String,
        emails: Bool
    ) async throws -> [(id: Customer.ID, customer: API.Customer)] {
        let wanted = text.prefix(300).lowercased()
        guard wanted.count >= 2 else { return [] }
        var found: [(id: Customer.ID, customer: API.Customer)] = []
        var seen: Set<Customer.ID> = []
        var from: Int64?
        for _ in 0..<8 {
            let page = try await records.feed.latest(before: from, limit: 50)
            for message in page where seen.insert(message.customer).inserted {
                guard let stored = try await records.profile(message.customer),
                    !stored.body.isEmpty
                else { continue }
                let customer = try Profile(stored).customer
                let isLike =
                    customer.appUserID.lowercased().contains(wanted)
                    || emails && customer.email?.lowercased().contains(wanted) == true
                if isLike { found.append((message.customer, customer)) }
                if found.count == 8 { return found }
            }
            guard page.count == 50 else { break }
            from = page.last?.number
        }
        return found
    }

    /// Where a question of staff leads: to customers, purchases, or a message in the journal.
    public struct Found: Sendable {
        /// At most twenty.
        public var customers: [(id: Customer.ID, customer: API.Customer?)] = []
        public var purchases: [(row: RowKey, record: Purchase)] = []
        /// A row of the journal.
        public var message: Int64?
    }

    /// Finds whatever has this id: a customer by our id, the app's, the account token, the email or
    /// a store's id; a purchase by any id of a store's; a message by the store's id of it.
    ///
    /// Looks up keys only, so it takes as long for ten million customers as for ten. A store is asked
    /// which purchase an order of its own is of, such as Google Play's (`GPA.…`).
    public func find(_ text: String) async throws -> Found {
        let text = String(text.trimmingPrefix { $0.isWhitespace }.prefix(300))
            .trimmedEnd
        var found = Found()
        guard !text.isEmpty, !text.utf8.contains(0) else { return found }
        var profiles: [StoredProfile] = []
        if let profile = try await directory.stored(text) { profiles.append(profile) }
        let ofStores = Store.allCases.compactMap { Holder.storeCustomer(text, of: $0) }
        for alias in [Holder.token(text.lowercased())] + ofStores {
            if let profile = try await records.profile(alias: alias) { profiles.append(profile) }
        }
        if text.contains("@") { profiles += try await records.profiles(email: text) }
        var keys = keys(named: text)
        for connector in connectors { keys += await connector.purchases(ofOrder: text) }
        for key in keys {
            guard let record = try await records.record(of: key) else { continue }
            found.purchases.append((RecordStore.row(of: key), record))
            profiles += try await records.holders(of: key)
        }
        var seen: Set<String> = []
        for profile in profiles where seen.insert(profile.customer.rawValue).inserted {
            let customer = profile.body.isEmpty ? nil : try Profile(profile).customer
            found.customers.append((profile.customer, customer))
        }
        for key in connectors.flatMap({ $0.messageKeys(named: text) }) where found.message == nil {
            found.message = try await records.journal.row(dedupeKey: key)
        }
        return found
    }

    /// The keys of the purchases that this may be the id of.
    private func keys(named text: String) -> [Purchase.Key] {
        if let key = Purchase.Key(canonical: text) { return [key] }
        var places: [(store: Store, application: String)] = [(.tollgate, "-")]
        for connector in connectors {
            places += connector.applications.map { (connector.store, $0) }
        }
        return StoreEnvironment.allCases.flatMap { environment in
            places.map { place in
                Purchase.Key(
                    store: place.store,
                    environment: environment,
                    application: place.application,
                    id: text
                )
            }
        }
    }

    /// Customers whose answers changed last, newest first, 25 of them.
    ///
    /// - Parameter before: where the page before ended.
    /// - Returns: `next` is `nil` at the end.
    public func recent(
        before: Int64? = nil
    ) async throws -> (customers: [(message: FeedMessage, customer: API.Customer?)], next: Int64?) {
        var customers: [(message: FeedMessage, customer: API.Customer?)] = []
        var seen: Set<Customer.ID> = []
        var from = before
        // Most pages need hardly more messages than they have lines.
        for _ in 0..<16 {
            let page = try await records.feed.latest(before: from, limit: 50)
            for message in page {
                from = message.number
                guard seen.insert(message.customer).inserted else { continue }
                let stored = try await records.profile(message.customer)
                let isKept = stored.map { !$0.body.isEmpty } ?? false
                let customer = try isKept ? stored.map { try Profile($0).customer } : nil
                customers.append((message, customer))
                if customers.count == 25 { return (customers, from) }
            }
            if page.count < 50 { return (customers, nil) }
        }
        return (customers, from)
    }
}

extension String {
    /// Without spaces at its end.
    fileprivate var trimmedEnd: String {
        var text = self[...]
        while text.last?.isWhitespace == true { text.removeLast() }
        return String(text)
    }
}

extension CustomerFiles {
    /// What the app calls a customer.
    public func shownName(of stored: StoredProfile) throws -> String {
        try Profile(stored).customer.appUserID
    }
}
