import Stores
import Testing
import TollgateCore

@testable import TollgateService

/// The next charge that the portal and the dashboard show, from what the stores state.
@Suite("The next charge of a plan")
struct NextChargeTests {
    struct Story: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var key = NextChargeTests.appStore
        var facts: [Fact]
        /// Minor units and currency; `nil`: the day alone is shown.
        var expected: String?
        var awaitsConsent = false
    }

    static let appStore = key(.appStore, "1")
    private static let stripe = key(.stripe, "sub_1")
    private static let play = key(.googlePlay, "token")

    private static func key(_ store: Store, _ id: String) -> Purchase.Key {
        Purchase.Key(
            store: store,
            environment: .production,
            application: "com.example.app",
            id: id
        )
    }

    private static func day(_ day: Double) -> Instant {
        Instant(milliseconds: 1_767_225_600_000 + Int64(day * 86_400_000))
    }

    private static func fact(_ day: Double, _ key: Purchase.Key, _ statement: Statement) -> Fact {
        Fact(
            purchase: key,
            source: "message of day \(day)",
            stated: Stated(Self.day(day)),
            statement: statement
        )
    }

    // MARK: - App Store

    private static func period(
        _ start: Double,
        _ end: Double,
        price: Int64? = 9990,
        currency: String = "USD",
        offer: Int64? = nil,
        quantity: Int64 = 1,
        isFamilyShared: Bool = false
    ) -> Fact {
        let period = Period(
            id: "\(start)",
            transactionID: "\(start)",
            product: "plus",
            kind: .autoRenewable,
            start: day(start),
            end: day(end),
            quantity: quantity,
            isFamilyShared: isFamilyShared,
            price: price,
            currency: currency,
            offerType: offer
        )
        return fact(start, appStore, .period(period))
    }

    private static func terms(
        _ day: Double,
        next: String = "plus",
        price: Int64?,
        currency: String? = "USD",
        until: Double? = nil,
        awaitsConsent: Bool = false
    ) -> Fact {
        let terms = RenewalTerms(
            willRenew: true,
            nextProduct: next,
            awaitsConsent: awaitsConsent,
            renewalDate: until.map { Self.day($0) },
            price: price,
            currency: currency
        )
        return fact(day, appStore, .renewal(terms))
    }

    /// By what the store documents.
    ///
    /// https://developer.apple.com/documentation/appstoreserverapi/renewalprice
    static let inAppStore = [
        Story(
            testDescription: "a price that Apple has changed, as it is signed",
            facts: [period(0, 30), terms(10, price: 12_990)],
            expected: "1299 usd"
        ),
        Story(
            testDescription: "a price that rises, and waits for the customer's consent",
            facts: [period(0, 30), terms(10, price: 12_990, awaitsConsent: true)],
            awaitsConsent: true
        ),
        Story(
            testDescription: "another plan that follows has its own price",
            facts: [period(0, 30), terms(10, next: "basic", price: 4990)],
            expected: "499 usd"
        ),
        Story(
            testDescription: "a free trial is followed by the signed price",
            facts: [period(0, 7, price: 0, offer: 1), terms(0, price: 9990)],
            expected: "999 usd"
        ),
        Story(
            testDescription: "a promotional offer that was redeemed for the next period",
            facts: [period(0, 30), terms(10, price: 990)],
            expected: "99 usd"
        ),
        Story(
            testDescription: "a currency without minor units",
            facts: [
                period(0, 30, price: 1_500_000, currency: "JPY"),
                terms(1, price: 1_200_000, currency: "JPY"),
            ],
            expected: "1200 jpy"
        ),
        Story(
            testDescription: "no signed price: that of the last period",
            facts: [period(0, 30), terms(10, price: nil, currency: nil)],
            expected: "999 usd"
        ),
        Story(
            testDescription: "no signed price, after an offer or before another plan",
            facts: [period(0, 30, offer: 2), terms(10, price: nil)]
        ),
        Story(
            testDescription: "no signed price, and another plan follows",
            facts: [period(0, 30), terms(10, next: "basic", price: nil)]
        ),
        Story(
            testDescription: "terms of before the last period, about a plan that never came",
            facts: [
                period(0, 30), terms(10, next: "basic", price: 4990, until: 30), period(30, 60),
            ],
            expected: "999 usd"
        ),
        Story(
            testDescription: "a consent of before the last period is about that period",
            facts: [
                period(0, 30), terms(10, price: 12_990, until: 30, awaitsConsent: true),
                period(30, 60, price: 12_990),
            ],
            expected: "1299 usd"
        ),
        Story(
            testDescription: "terms that were signed with a renewal that was charged a day ahead",
            facts: [period(0, 30), period(30, 60), terms(29.2, price: 7990, until: 60)],
            expected: "799 usd"
        ),
        Story(
            testDescription: "several seats cost what they cost last",
            facts: [period(0, 30, price: 49_950, quantity: 5), terms(1, price: 9990)],
            expected: "4995 usd"
        ),
    ]

    @Test("Whoever shares a plan of their family pays nothing")
    func shared() {
        let facts = [Self.period(0, 30, isFamilyShared: true), Self.terms(1, price: 9990)]
        let standing = shown(Self.appStore, facts).standing
        #expect(standing.state == .renews(Self.day(30)) && standing.nextCharge == nil)
    }

    // MARK: - Stripe

    private static func subscription(
        _ day: Double,
        quantity: Int64 = 1,
        mayChangePrice: Bool = false,
        mayAddTax: Bool = false
    ) -> Fact {
        let item = StripeSubscription.Item(
            id: "si_1",
            price: "price_1",
            quantity: quantity,
            start: Self.day(0),
            end: Self.day(30)
        )
        let subscription = StripeSubscription(
            status: "active",
            customer: "cus_1",
            items: [item],
            mayChangePrice: mayChangePrice,
            mayAddTax: mayAddTax
        )
        return fact(day, stripe, .subscription(subscription))
    }

    private static func invoice(
        _ amount: Int64,
        discount: Int64? = nil,
        tax: Int64? = nil,
        tiers: [(quantity: Int64, amount: Int64)]? = nil
    ) -> Fact {
        let lines = (tiers ?? [(1, amount)]).enumerated().map { index, tier in
            StripeInvoice.Line(
                id: "il_\(index)",
                price: "price_1",
                quantity: tier.quantity,
                amount: tier.amount,
                start: day(0),
                end: day(30),
                isProration: false,
                item: "si_1",
                discount: discount,
                tax: tax
            )
        }
        let invoice = StripeInvoice(
            id: "in_1",
            isPaid: true,
            amount: amount - (discount ?? 0) + (tax ?? 0),
            currency: "usd",
            lines: lines,
            paid: day(0)
        )
        return fact(0, stripe, .invoice(invoice))
    }

    /// By what the store documents.
    ///
    /// https://docs.stripe.com/billing/subscriptions/subscription-schedules
    /// https://docs.stripe.com/billing/subscriptions/coupons
    static let atStripe = [
        Story(
            testDescription: "a plan costs what its last period cost",
            key: stripe,
            facts: [subscription(0), invoice(899)],
            expected: "899 usd"
        ),
        Story(
            testDescription: "a trial is followed by the catalog's price",
            key: stripe,
            facts: [subscription(0), invoice(0)],
            expected: "999 usd"
        ),
        Story(
            testDescription: "another number of seats than were paid last, at the catalog's price",
            key: stripe,
            facts: [subscription(0, quantity: 2), invoice(999)],
            expected: "1998 usd"
        ),
        Story(
            testDescription: "a graduated price costs the sum of its tiers",
            key: stripe,
            facts: [
                subscription(0, quantity: 8), invoice(7400, tiers: [(5, 5000), (3, 2400)]),
            ],
            expected: "7400 usd"
        ),
        Story(
            testDescription: "a graduated price for another number of seats is Stripe's to reckon",
            key: stripe,
            facts: [
                subscription(0, quantity: 9), invoice(7400, tiers: [(5, 5000), (3, 2400)]),
            ]
        ),
        Story(
            testDescription: "a schedule or a coupon may change what the next period costs",
            key: stripe,
            facts: [subscription(0, mayChangePrice: true), invoice(999)]
        ),
        Story(
            testDescription: "a coupon of the customer has discounted the last period",
            key: stripe,
            facts: [subscription(0), invoice(999, discount: 200)]
        ),
        Story(
            testDescription: "a tax came on top of the last period",
            key: stripe,
            facts: [subscription(0, mayAddTax: true), invoice(999, tax: 190)]
        ),
        Story(
            testDescription: "a tax may come, and nothing was charged yet",
            key: stripe,
            facts: [subscription(0, mayAddTax: true), invoice(0)]
        ),
        Story(
            testDescription: "a tax may come, and the last period had none",
            key: stripe,
            facts: [subscription(0, mayAddTax: true), invoice(999)],
            expected: "999 usd"
        ),
    ]

    // MARK: - Google Play

    private static func money(_ cents: Int64) -> GooglePlayMoney {
        GooglePlayMoney(micros: cents * 10_000, currency: "USD")
    }

    private static func item(
        _ product: String = "silver",
        price: Int64 = 1000,
        phase: String = "basePrice",
        awaitsConsent: Bool = false
    ) -> GooglePlaySubscription.Item {
        GooglePlaySubscription.Item(
            product: product,
            expiry: day(30),
            order: "GPA.1",
            renews: true,
            phase: phase,
            price: money(price),
            awaitsConsent: awaitsConsent
        )
    }

    private static func read(_ items: GooglePlaySubscription.Item...) -> Fact {
        let read = GooglePlaySubscription(state: "ACTIVE", start: day(0), items: items)
        return fact(1, play, .googlePlaySubscription(read))
    }

    private static func order(
        tax: Int64 = 0,
        isInclusive: Bool = false,
        products: [String] = ["silver"]
    ) -> Fact {
        let lines = products.map { product in
            GooglePlayOrder.Line(
                product: product,
                listing: money(1000),
                total: money(1000 + (isInclusive ? 0 : tax)),
                tax: money(tax),
                start: day(0),
                end: day(30)
            )
        }
        let order = GooglePlayOrder(
            id: "GPA.1",
            state: "PROCESSED",
            isTaxInclusive: isInclusive,
            lines: lines
        )
        return fact(1, play, .googlePlayOrder(order))
    }

    /// By what the store documents.
    ///
    /// https://developers.google.com/android-publisher/api-ref/rest/v3/purchases.subscriptionsv2
    /// https://developer.android.com/google/play/billing/price-changes
    static let inGooglePlay = [
        Story(
            testDescription: "a country without taxes on prices",
            key: play,
            facts: [read(item()), order()],
            expected: "1000 usd"
        ),
        Story(
            testDescription: "a tax comes on top of the price",
            key: play,
            facts: [read(item()), order(tax: 130)],
            expected: "1130 usd"
        ),
        Story(
            testDescription: "a tax is within the price",
            key: play,
            facts: [read(item()), order(tax: 160, isInclusive: true)],
            expected: "1000 usd"
        ),
        Story(
            testDescription: "nobody has read yet what tax is charged",
            key: play,
            facts: [read(item())]
        ),
        Story(
            testDescription: "a new price that was accepted, in a country without taxes on prices",
            key: play,
            facts: [read(item(price: 1200)), order()],
            expected: "1200 usd"
        ),
        Story(
            testDescription: "a new price that waits for consent",
            key: play,
            facts: [read(item(price: 1200, awaitsConsent: true)), order()],
            expected: "1200 usd",
            awaitsConsent: true
        ),
        Story(
            testDescription: "a new price, with a tax on top that Google reckons",
            key: play,
            facts: [read(item(price: 1200)), order(tax: 130)]
        ),
        Story(
            testDescription: "a plan and its add-on, each with its tax",
            key: play,
            facts: [
                read(item(), item("sports")), order(tax: 130, products: ["silver", "sports"]),
            ],
            expected: "2260 usd"
        ),
        Story(
            testDescription: "a trial may be followed by another offer's price",
            key: play,
            facts: [read(item(phase: "freeTrial")), order()]
        ),
    ]

    @Test(
        "What is shown is what the store will charge",
        arguments: inAppStore + atStripe + inGooglePlay
    )
    func shown(_ story: Story) throws {
        let shown = shown(story.key, story.facts, at: 5, prices: ["price_1"])
        let charge = try #require(shown.standing.nextCharge)
        #expect(charge.price.map { "\($0.amount) \($0.currency)" } == story.expected)
        #expect(charge.awaitsConsent == story.awaitsConsent)
    }

    /// The purchase as the portal shows it.
    ///
    /// - Parameter prices: the product's at Stripe, the listed one first.
    private func shown(
        _ key: Purchase.Key,
        _ facts: [Fact],
        at day: Double = 10,
        prices: [String] = ["price_new", "price_1"]
    ) -> PortalView.Purchase {
        let catalog = TollgateCore.Catalog(products: [
            .init(
                id: "coins_monthly",
                name: "Coins, monthly",
                kind: .autoRenewable,
                appStoreProductID: "plus",
                stripePriceIDs: prices,
                googlePlayProductID: "silver",
                coins: 100,
                duration: CalendarDuration(months: 1),
                price: .init(amount: 999, currency: "usd")
            )
        ])
        let history = CatalogHistory([.init(id: "1", adopted: Self.day(-1), catalog: catalog)])
        let purchase = Purchase(key: key, joining: facts)
        return Standings.ofEveryRoom.shown(purchase, in: history, at: Self.day(day))
    }

    @Test("A plan of coins alone opens nothing, and renews all the same")
    func coinsAlone() {
        let plans: [(Purchase.Key, [Fact], String)] = [
            (Self.appStore, [Self.period(0, 30), Self.terms(0, price: 9990)], "999 usd"),
            (Self.play, [Self.read(Self.item()), Self.order()], "1000 usd"),
            (Self.stripe, [Self.subscription(0), Self.invoice(899)], "899 usd"),
        ]
        for (key, facts, price) in plans {
            let shown = shown(key, facts)
            let (standing, charge) = (shown.standing, shown.standing.nextCharge)
            #expect(standing.state == .renews(Self.day(30)) && standing.renews, "\(key)")
            #expect(!shown.isActive && charge?.at == Self.day(30), "\(key)")
            #expect(charge?.price.map { "\($0.amount) \($0.currency)" } == price)
        }
    }

    @Test("Whoever still pays an older price at Stripe is not told the new one")
    func olderPrice() {
        let facts = [Self.subscription(0, quantity: 2), Self.invoice(500)]
        let charge = shown(Self.stripe, facts).standing.nextCharge
        #expect(charge != nil && charge?.price == nil)
    }

    @Test("A plan of several items that was cancelled ends with the earliest of them")
    func earliestItem() {
        let items = [("si_1", 30.0), ("si_2", 365)].map { id, end in
            StripeSubscription.Item(
                id: id,
                price: "price_1",
                quantity: 1,
                start: Self.day(0),
                end: Self.day(end)
            )
        }
        let subscription = StripeSubscription(
            status: "active",
            customer: "cus_1",
            items: items,
            cancelsAtPeriodEnd: true
        )
        let shown = shown(Self.stripe, [Self.fact(0, Self.stripe, .subscription(subscription))])
        let standing = shown.standing
        #expect(standing.state == .endsAt(Self.day(30)) && standing.nextCharge == nil)
    }
}
