import Foundation
import Testing
import TollgateCore

/// Chance from a seed, so that a failing run can be repeated.
struct Seeded: RandomNumberGenerator {
    private var state: UInt64

    init(_ seed: UInt64) {
        state = seed
    }

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed >> 31)
    }
}

extension Instant {
    static let hour: Int64 = 3_600_000

    /// Days since the stories began, on 2026-01-01.
    static func day(_ day: Double, plus milliseconds: Int64 = 0) -> Instant {
        Instant(milliseconds: 1_767_225_600_000 + Int64(day * 86_400_000) + milliseconds)
    }
}

/// What the stories sell.
enum Shop {
    static let monthly = "com.example.app.monthly"
    static let yearly = "com.example.app.yearly"

    static let catalog = Catalog(
        entitlements: [
            .init(lookupKey: "pro", name: "Pro"), .init(lookupKey: "archive", name: "Archive"),
        ],
        products: [
            .init(
                id: "monthly",
                name: "Monthly",
                kind: .autoRenewable,
                appStoreProductID: monthly,
                stripePriceIDs: ["price_monthly"],
                googlePlayProductID: "premium",
                googlePlayBasePlans: ["monthly"],
                entitlements: ["pro"],
                coins: 10,
                duration: CalendarDuration(months: 1)
            ),
            .init(
                id: "yearly",
                name: "Yearly",
                kind: .autoRenewable,
                appStoreProductID: yearly,
                stripePriceIDs: ["price_yearly"],
                googlePlayProductID: "premium",
                googlePlayBasePlans: ["yearly"],
                entitlements: ["archive"],
                duration: CalendarDuration(years: 1)
            ),
            .init(
                id: "lifetime",
                name: "Lifetime",
                kind: .nonConsumable,
                appStoreProductID: "com.example.app.lifetime",
                stripePriceIDs: ["price_lifetime"],
                googlePlayProductID: "lifetime",
                entitlements: ["pro"]
            ),
            .init(
                id: "pass",
                name: "Pass",
                kind: .nonRenewing,
                appStoreProductID: "com.example.app.pass",
                stripePriceIDs: ["price_pass"],
                googlePlayProductID: "pass",
                entitlements: ["pro"],
                duration: CalendarDuration(days: 30)
            ),
            .init(
                id: "coins",
                name: "Coins",
                kind: .consumable,
                appStoreProductID: "com.example.app.coins",
                stripePriceIDs: ["price_coins"],
                googlePlayProductID: "coins",
                coins: 100
            ),
            .init(
                id: "club",
                name: "Club",
                kind: .autoRenewable,
                stripePriceIDs: ["price_club"],
                googlePlayProductID: "club",
                entitlements: [],
                coins: 20,
                duration: CalendarDuration(months: 1)
            ),
            .init(
                id: "endless",
                name: "Endless",
                kind: .autoRenewable,
                appStoreProductID: "com.example.app.endless",
                entitlements: ["pro"]
            ),
            .init(
                id: "reader",
                name: "Reader",
                kind: .freeSubscription,
                appStoreProductID: "com.example.app.reader",
                entitlements: ["archive"]
            ),
        ]
    )

    static let history = history(catalog)

    static func history(_ catalog: Catalog) -> CatalogHistory {
        CatalogHistory([.init(id: "v1", adopted: .day(-1000), catalog: catalog)])
    }
}

extension Purchase.Key {
    static func appStore(_ id: String = "1") -> Self {
        Self(store: .appStore, environment: .production, application: "com.example.app", id: id)
    }

    static func free(_ id: String) -> Self {
        Self(store: .tollgate, environment: .production, application: "-", id: "free_\(id)")
    }

    static func stripe(_ id: String) -> Self {
        Self(store: .stripe, environment: .production, application: "-", id: id)
    }
}

// MARK: - Facts as a story tells them

extension Fact {
    static func said(
        _ statement: Statement,
        on day: Double,
        plus milliseconds: Int64 = 0,
        read: Bool = false,
        about key: Purchase.Key = .appStore(),
        source: String? = nil
    ) -> Fact {
        Fact(
            purchase: key,
            source: source ?? "message of day \(day)",
            stated: Stated(.day(day, plus: milliseconds), isRead: read),
            statement: statement
        )
    }

    /// A period of an auto-renewable.
    static func paid(
        _ id: String,
        _ from: Double,
        _ to: Double,
        _ product: String = Shop.monthly,
        said day: Double? = nil,
        plus milliseconds: Int64 = 0,
        transaction: String? = nil,
        revoked: Double? = nil,
        share: Int64? = nil,
        upgraded: Bool = false,
        token: String? = nil,
        family: Bool = false,
        seats: Int64 = 1,
        addition: Bool = false,
        returned: Int64? = nil,
        switched: Bool = false,
        previous: String? = nil,
        price: Int64? = nil,
        offer: Int64? = nil,
        installment: Installment? = nil,
        source: String? = nil
    ) -> Fact {
        .said(
            .period(
                Period(
                    id: id,
                    transactionID: transaction ?? "t\(id)",
                    product: product,
                    kind: .autoRenewable,
                    start: .day(from),
                    end: .day(to),
                    revoked: revoked.map { .day($0) },
                    revokedShare: share,
                    isUpgraded: upgraded,
                    quantity: seats,
                    token: token,
                    isFamilyShared: family,
                    price: price,
                    offerType: offer,
                    previous: previous,
                    additionalReason: addition ? "SEAT_ADDITION" : nil,
                    revokedSeats: returned,
                    isSwitched: switched,
                    installment: installment
                )
            ),
            on: day ?? from,
            plus: milliseconds,
            source: source
        )
    }

    /// REFUND_REVERSED of a period; of one that is not named where it is `nil`.
    static func reversed(_ period: String?, _ day: Double, source: String? = nil) -> Fact {
        .said(.refundReversed(period: period), on: day, source: source)
    }

    /// A purchase that is no auto-renewable: a record of its own.
    static func bought(
        _ id: String,
        _ kind: Period.Kind,
        _ product: String,
        on day: Double,
        said stated: Double? = nil,
        quantity: Int64 = 1,
        revoked: Double? = nil,
        share: Int64? = nil,
        token: String? = nil
    ) -> Fact {
        .said(
            .period(
                Period(
                    id: id,
                    transactionID: id,
                    product: "com.example.app.\(product)",
                    kind: kind,
                    start: .day(day),
                    revoked: revoked.map { .day($0) },
                    revokedShare: share,
                    quantity: quantity,
                    token: token
                )
            ),
            on: stated ?? day,
            about: .appStore(id)
        )
    }

    static func terms(
        _ day: Double,
        renews: Bool = true,
        grace: Double? = nil,
        awaitsConsent: Bool = false,
        inRetry: Bool = false
    ) -> Fact {
        .said(
            .renewal(
                RenewalTerms(
                    willRenew: renews,
                    graceEnd: grace.map { .day($0) },
                    awaitsConsent: awaitsConsent,
                    isInBillingRetry: inRetry
                )
            ),
            on: day
        )
    }

    static func status(
        _ value: Int64,
        _ day: Double,
        plus milliseconds: Int64 = 0,
        reaching: Double? = nil,
        source: String? = nil
    ) -> Fact {
        .said(
            .status(SubscriptionStatus(value: value, reachesTo: reaching.map { .day($0) })),
            on: day,
            plus: milliseconds,
            source: source
        )
    }

    /// The app reports a free subscription, of the App Store or of nobody's store.
    static func reader(
        _ isOn: Bool,
        _ day: Double,
        _ key: Purchase.Key = .free("ann"),
        customer: String = "ann"
    ) -> Fact {
        .said(
            .freeSubscription(
                FreeSubscription(customer: Customer.ID(customer), product: "reader", isOn: isOn)
            ),
            on: day,
            about: key
        )
    }

    static func claimed(
        _ customer: String,
        _ mode: Claim.Mode,
        _ day: Double,
        _ key: Purchase.Key = .appStore()
    ) -> Fact {
        .said(
            .claim(Claim(customer: Customer.ID(customer), mode: mode)),
            on: day,
            about: key,
            source: "claim:\(customer)"
        )
    }

    static func subscription(
        _ status: String,
        _ day: Double,
        from: Double,
        to: Double,
        price: String = "price_monthly",
        cancelAt: Double? = nil,
        cancels: Bool = false,
        ended: Double? = nil,
        metered: Bool = false,
        read: Bool = false,
        source: String? = nil
    ) -> Fact {
        .said(
            .subscription(
                StripeSubscription(
                    status: status,
                    customer: "cus_1",
                    items: [
                        .init(
                            id: "si_1",
                            price: price,
                            quantity: 1,
                            start: .day(from),
                            end: .day(to),
                            isBilledInArrears: metered
                        )
                    ],
                    cancelAt: cancelAt.map { .day($0) },
                    cancelsAtPeriodEnd: cancels,
                    endedAt: ended.map { .day($0) }
                )
            ),
            on: day,
            read: read,
            about: .stripe("sub_1"),
            source: source
        )
    }

    static func checkout(
        _ status: String,
        paid: Bool,
        _ day: Double,
        price: String? = "price_coins",
        quantity: Int64 = 1,
        amount: Int64 = 1000,
        paidBy: Double? = nil,
        read: Bool = false,
        source: String? = nil
    ) -> Fact {
        .said(
            .payment(
                StripePayment(
                    session: "cs_1",
                    status: status,
                    isPaid: paid,
                    customer: "cus_1",
                    reference: "user_1",
                    lines: price.map { [.init(price: $0, quantity: quantity)] },
                    amount: amount,
                    currency: "usd",
                    created: .day(0),
                    paidBy: paidBy.map { .day($0) }
                )
            ),
            on: day,
            read: read,
            about: .stripe("pi_1"),
            source: source
        )
    }

    /// - Parameter created: when Stripe made it; older facts do not say.
    static func refund(
        _ id: String,
        _ amount: Int64,
        _ status: String,
        _ day: Double,
        created: Double? = nil
    ) -> Fact {
        .said(
            .refund(
                StripeRefund(
                    id: id,
                    amount: amount,
                    status: status,
                    created: created.map { .day($0) }
                )
            ),
            on: day,
            about: .stripe("pi_1")
        )
    }

    static func dispute(
        _ id: String,
        _ amount: Int64,
        _ status: String,
        _ day: Double,
        created: Double? = nil,
        withdrawn: Double? = nil
    ) -> Fact {
        .said(
            .dispute(
                StripeDispute(
                    id: id,
                    amount: amount,
                    status: status,
                    created: created.map { .day($0) },
                    withdrawn: withdrawn.map { .day($0) }
                )
            ),
            on: day,
            about: .stripe("pi_1")
        )
    }

    static func invoice(
        _ id: String,
        _ day: Double,
        isProration: Bool = false,
        amount: Int64 = 999
    ) -> Fact {
        .said(
            .invoice(
                StripeInvoice(
                    id: id,
                    isPaid: true,
                    amount: 999,
                    currency: "usd",
                    lines: [
                        .init(
                            id: "il_\(id)",
                            price: "price_monthly",
                            quantity: 1,
                            amount: amount,
                            start: .day(day),
                            end: .day(day + 30),
                            isProration: isProration
                        )
                    ]
                )
            ),
            on: day,
            about: .stripe("sub_1")
        )
    }
}

// MARK: - What becomes of them

/// All records that some facts make.
struct World {
    var records: [Purchase]

    init(_ facts: some Sequence<Fact>) {
        var records: [Purchase.Key: Purchase] = [:]
        for fact in facts {
            records[fact.purchase, default: Purchase(key: fact.purchase)].join(fact)
            if fact.purchase.store == .googlePlay { records.link(fact.purchase) }
        }
        self.records = records.values.sorted { $0.key < $1.key }
    }

    /// The canonical bytes of all records.
    func bytes() throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys]
        return try encoder.encode(records)
    }

    func evaluations(_ history: CatalogHistory = Shop.history) -> [Evaluation] {
        records.map { $0.evaluate(in: history) }
    }

    /// Everybody's access, as if they were one customer.
    func timeline(_ history: CatalogHistory = Shop.history) -> Timeline {
        Timeline(
            records.flatMap { record in
                record.evaluate(in: history).shares.map { (record.key, $0.access) }
            },
            in: history.current
        )
    }

    func timeline(of holder: Holder, _ history: CatalogHistory = Shop.history) -> Timeline {
        Timeline(
            records.flatMap { record in
                record.evaluate(in: history).shares.filter { $0.owner.contains(holder) }
                    .map { (record.key, $0.access) }
            },
            in: history.current
        )
    }

    func coins(_ history: CatalogHistory = Shop.history) -> Int64 {
        evaluations(history).flatMap(\.lots).reduce(0) { $0 + $1.remainder }
    }
}

extension Timeline {
    func ground(_ lookupKey: String = "pro", at instant: Instant) -> Ground? {
        active(at: instant).first { $0.lookupKey == lookupKey }?.ground
    }
}

/// One story with what must come of it, in whatever order it is told.
struct Story: CustomTestStringConvertible, Sendable {
    /// On what ground `lookupKey` may be used at an instant; `nil`: it may not.
    struct Check: Sendable {
        var at: Instant
        var ground: Ground?
        var lookupKey = "pro"
    }

    let testDescription: String
    let facts: [Fact]
    var expected: [Check] = []
    var coins: Int64?
}

extension Story.Check {
    static func on(_ day: Double, plus milliseconds: Int64 = 0, _ ground: Ground) -> Self {
        Self(at: .day(day, plus: milliseconds), ground: ground)
    }

    static func off(_ day: Double, plus milliseconds: Int64 = 0) -> Self {
        Self(at: .day(day, plus: milliseconds), ground: nil)
    }

    static func archive(_ day: Double, _ ground: Ground?) -> Self {
        Self(at: .day(day), ground: ground, lookupKey: "archive")
    }
}

func expect(_ story: Story) {
    let world = World(story.facts)
    let timeline = world.timeline()
    for check in story.expected {
        let ground = timeline.ground(check.lookupKey, at: check.at)
        #expect(ground == check.ground, "\(check.lookupKey) at \(check.at)")
    }
    if let coins = story.coins { #expect(world.coins() == coins) }
}

/// All orders of at most six facts, else seeded ones; with some facts twice.
func expectOrderDoesNotMatter(_ story: Story) throws {
    let told = try World(story.facts).bytes()
    let evaluations = World(story.facts).evaluations()
    func compare(_ arrived: [Fact]) throws {
        let world = World(arrived)
        #expect(try world.bytes() == told)
        #expect(world.evaluations() == evaluations)
    }
    if story.facts.count <= 5 {
        for order in permutations(story.facts) { try compare(order) }
    } else {
        for seed in UInt64(1)...60 {
            var random = Seeded(seed)
            try compare(story.facts.shuffled(using: &random))
        }
    }
    for seed in UInt64(1)...20 {
        var random = Seeded(seed)
        let repeated = story.facts + story.facts + story.facts.prefix(2)
        try compare(repeated.shuffled(using: &random))
    }
}

func permutations<Element>(_ elements: [Element]) -> [[Element]] {
    guard elements.count > 1 else { return [elements] }
    return elements.indices.flatMap { index in
        var rest = elements
        let first = rest.remove(at: index)
        return permutations(rest).map { [first] + $0 }
    }
}
