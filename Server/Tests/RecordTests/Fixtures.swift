import Storage
import StorageSQLite
import Testing
import TollgateCore
import TollgateSimulation

extension Instant {
    /// Days since the stories began, on 2026-01-01.
    static func day(_ day: Double) -> Instant {
        Instant(milliseconds: 1_767_225_600_000 + Int64(day * 86_400_000))
    }
}

enum Shop {
    static let catalog = Catalog(
        entitlements: [.init(lookupKey: "pro", name: "Pro")],
        products: [
            .init(
                id: "monthly",
                name: "Monthly",
                kind: .autoRenewable,
                appStoreProductID: "monthly",
                googlePlayProductID: "premium",
                googlePlayBasePlans: ["monthly"],
                entitlements: ["pro"],
                coins: 10
            ),
            .init(
                id: "coins",
                name: "Coins",
                kind: .consumable,
                appStoreProductID: "coins",
                stripePriceIDs: ["price_coins"],
                coins: 100
            ),
            .init(
                id: "pass",
                name: "Pass",
                kind: .nonRenewing,
                appStoreProductID: "pass",
                entitlements: ["pro"],
                duration: CalendarDuration(days: 30)
            ),
        ]
    )

    /// The same shop, later, selling something new.
    static let nextCatalog: Catalog = {
        var next = catalog
        next.products.append(
            .init(
                id: "novelty",
                name: "Novelty",
                kind: .consumable,
                appStoreProductID: "novelty",
                googlePlayProductID: "novelty",
                coins: 7
            )
        )
        return next
    }()
}

extension RecordStore {
    static func open(
        _ backend: Backend,
        selling catalog: Catalog = Shop.catalog
    ) async throws -> RecordStore {
        try await open(backend.makeDatabase(), selling: catalog)
    }

    static func open(
        _ database: TestDatabase,
        selling catalog: Catalog = Shop.catalog
    ) async throws -> RecordStore {
        let store = try await RecordStore(database.open())
        try await store.adopt(catalog, at: .day(-100))
        return store
    }

    /// Everything derived, derived again into a database in memory's stead.
    func rebuilt() async throws -> Rebuild.Report {
        let scratch = try Backend.sqlite.makeDatabase().open()
        let report = try await Rebuild(of: driver, into: scratch).verify()
        await scratch.close()
        return report
    }

    func balance(
        _ customer: String,
        _ environment: StoreEnvironment = .production
    ) async throws -> Int64 {
        try await reading(of: Customer.ID(customer), in: environment).balance
    }

    /// What `customer` may use.
    func active(
        _ customer: String,
        at day: Double,
        _ environment: StoreEnvironment = .production
    ) async throws -> [String] {
        try await reading(of: Customer.ID(customer), in: environment).timeline
            .active(at: .day(day)).map(\.lookupKey)
    }

    /// Submits all at once.
    @discardableResult
    func submitTogether(_ items: [JournalItem]) async throws -> [JournalOutcome] {
        try await withThrowingTaskGroup(of: (Int, JournalOutcome).self) { group in
            for (index, item) in items.enumerated() {
                group.addTask { (index, try await self.submit(item)) }
            }
            var outcomes: [Int: JournalOutcome] = [:]
            for try await (index, outcome) in group { outcomes[index] = outcome }
            return items.indices.compactMap { outcomes[$0] }
        }
    }
}

extension JournalItem {
    static func message(_ id: String, _ facts: Fact...) -> JournalItem {
        let key = facts.first?.purchase
        return JournalItem(
            dedupeKey: RowKey("message", id),
            subject: key.map { RecordStore.subject(of: $0) } ?? RowKey("message", id),
            kind: .signed,
            stated: facts.first?.stated.instant ?? .day(0),
            content: .facts(facts),
            received: Array(id.utf8)
        )
    }

    static func register(
        _ customer: String,
        _ aliases: Holder...,
        number: Int = 0
    ) -> JournalItem {
        let id = Customer.ID(customer)
        return JournalItem(
            dedupeKey: RowKey("register", customer, "\(number)", "\(aliases.map(\.canonical))"),
            subject: RecordStore.subject(of: id),
            kind: .command,
            stated: .day(0),
            content: .register(Registration(customer: id, aliases: aliases, profile: [1]))
        )
    }

    static func spend(
        _ customer: String,
        _ amount: Int64,
        key: String,
        body: String = "body",
        in environment: StoreEnvironment = .production
    ) -> JournalItem {
        let id = Customer.ID(customer)
        return JournalItem(
            dedupeKey: RowKey("spend", customer, key),
            subject: RecordStore.subject(of: id),
            kind: .command,
            stated: .day(50),
            content: .spend(
                SpendOrder(
                    customer: id,
                    environment: environment,
                    amount: amount,
                    bodyHash: RowKey(body)
                )
            )
        )
    }
}

extension Purchase.Key {
    static func appStore(_ id: String, _ environment: StoreEnvironment = .production) -> Self {
        Self(store: .appStore, environment: environment, application: "app", id: id)
    }

    /// A purchase token of Google Play.
    static func play(_ token: String, _ environment: StoreEnvironment = .production) -> Self {
        Self(store: .googlePlay, environment: environment, application: "app", id: token)
    }

    static func payment(_ id: String) -> Self {
        Self(store: .stripe, environment: .production, application: "-", id: id)
    }

    static func grant(_ id: String) -> Self {
        Self(store: .tollgate, environment: .production, application: "-", id: "grant_\(id)")
    }
}

extension Fact {
    static func said(
        _ statement: Statement,
        on day: Double,
        about key: Purchase.Key,
        source: String = "message"
    ) -> Fact {
        Fact(purchase: key, source: source, stated: Stated(.day(day)), statement: statement)
    }

    /// A month that begins on `day`, of the purchase `id`.
    static func month(
        _ day: Double,
        of id: String,
        token: String? = nil,
        said: Double? = nil,
        in environment: StoreEnvironment = .production
    ) -> Fact {
        .said(
            .period(
                Period(
                    id: "\(id)-\(day)",
                    transactionID: "t\(id)-\(day)",
                    product: "monthly",
                    kind: .autoRenewable,
                    start: .day(day),
                    end: .day(day + 30),
                    token: token
                )
            ),
            on: said ?? day,
            about: .appStore(id, environment)
        )
    }

    static func bought(
        _ product: String,
        _ kind: Period.Kind,
        _ id: String,
        on day: Double = 0,
        token: String? = nil,
        revoked: Double? = nil,
        family: Bool = false,
        in environment: StoreEnvironment = .production
    ) -> Fact {
        .said(
            .period(
                Period(
                    id: id,
                    transactionID: id,
                    product: product,
                    kind: kind,
                    start: .day(day),
                    revoked: revoked.map { .day($0) },
                    token: token,
                    isFamilyShared: family
                )
            ),
            on: max(day, revoked ?? day) + (family ? 1 : 0),
            about: .appStore(id, environment)
        )
    }

    /// A read of a month in Google Play that begins on `day`.
    static func play(
        _ token: String,
        from day: Double,
        order: String? = nil,
        linked: String? = nil,
        account: String? = nil,
        state: String = "ACTIVE",
        product: String = "premium",
        said: Double? = nil,
        in environment: StoreEnvironment = .production
    ) -> Fact {
        .said(
            .googlePlaySubscription(
                GooglePlaySubscription(
                    state: state,
                    start: .day(day),
                    items: [
                        .init(
                            product: product,
                            basePlan: "monthly",
                            expiry: .day(day + 30),
                            order: order ?? "GPA.\(token)",
                            renews: true
                        )
                    ],
                    linkedToken: linked,
                    account: account
                )
            ),
            on: said ?? day,
            about: .play(token, environment)
        )
    }

    static func claimed(
        _ customer: String,
        _ mode: Claim.Mode,
        _ day: Double,
        _ key: Purchase.Key
    ) -> Fact {
        .said(
            .claim(Claim(customer: Customer.ID(customer), mode: mode)),
            on: day,
            about: key,
            source: "claim:\(customer)"
        )
    }

    static func checkout(
        _ id: String,
        customer: String?,
        on day: Double = 0,
        reference: String? = nil
    ) -> Fact {
        .said(
            .payment(
                StripePayment(
                    session: "cs_\(id)",
                    status: "complete",
                    isPaid: true,
                    customer: customer,
                    reference: reference,
                    lines: [.init(price: "price_coins", quantity: 1)],
                    amount: 1000,
                    currency: "usd",
                    created: .day(day)
                )
            ),
            on: day,
            about: .payment(id)
        )
    }

    static func refund(_ amount: Int64, of id: String, _ status: String, on day: Double) -> Fact {
        .said(
            .refund(StripeRefund(id: "re_\(id)", amount: amount, status: status)),
            on: day,
            about: .payment(id)
        )
    }
}
