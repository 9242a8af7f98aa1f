// SPDX-License-Identifier: Apache-2.0
import Stores
import Testing
import TollgateCore

@testable import TollgateService

/// The causes of emails in the records of the app stores.
@Suite("The causes of emails to customers")
struct LetterCauseTests {
    private static let appStore = key(.appStore, "1")
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

    private static func period(
        _ start: Double,
        _ end: Double,
        product: String = "plus",
        isTrial: Bool = false
    ) -> Fact {
        let period = Period(
            id: "\(start)",
            transactionID: "\(start)",
            product: product,
            kind: .autoRenewable,
            start: day(start),
            end: day(end),
            price: isTrial ? 0 : 9990,
            currency: "USD",
            offerType: isTrial ? 1 : nil,
            discount: isTrial ? "FREE_TRIAL" : nil
        )
        return fact(start, appStore, .period(period))
    }

    private static func terms(
        _ day: Double,
        willRenew: Bool = true,
        next: String = "plus",
        price: Int64 = 9990
    ) -> Fact {
        let terms = RenewalTerms(
            willRenew: willRenew,
            nextProduct: next,
            price: price,
            currency: "USD"
        )
        return fact(day, appStore, .renewal(terms))
    }

    private static func status(_ day: Double, _ value: Int64) -> Fact {
        fact(day, appStore, .status(SubscriptionStatus(value: value)))
    }

    private static func read(_ day: Double, _ state: String, until expiry: Double) -> Fact {
        let item = GooglePlaySubscription.Item(
            product: "silver",
            expiry: Self.day(expiry),
            order: "GPA.1",
            renews: state == "ACTIVE"
        )
        let read = GooglePlaySubscription(state: state, start: Self.day(0), items: [item])
        return fact(day, play, .googlePlaySubscription(read))
    }

    private static let catalog = TollgateCore.Catalog(
        entitlements: [.init(lookupKey: "pro", name: "Pro")],
        products: [("plus", "silver", 1), ("quarterly", "gold", 3)].map { apple, google, months in
            .init(
                id: apple,
                name: apple,
                kind: .autoRenewable,
                appStoreProductID: apple,
                googlePlayProductID: google,
                entitlements: ["pro"],
                duration: CalendarDuration(months: months),
                price: .init(amount: 999, currency: "usd")
            )
        }
    )

    private static func letters(
        _ purchase: Purchase,
        billing: [any StoreBilling] = [],
        at day: Double
    ) -> [Letter] {
        let history = CatalogHistory([.init(id: "1", adopted: Self.day(-1), catalog: catalog)])
        let access = purchase.evaluate(in: history).shares.first?.access ?? PurchaseAccess()
        let about = [(record: purchase, access: access)]
        return Letter.all(
            about: about,
            standings: .ofEveryRoom,
            billing: billing,
            in: catalog,
            at: Self.day(day)
        )
    }

    private static func letters(_ facts: [Fact], at day: Double) -> [Letter] {
        guard let key = facts.first?.purchase else { return [] }
        return letters(Purchase(key: key, joining: facts), at: day)
    }

    /// A room that bills the customers of the App Store, as none does.
    private struct Billing: StoreBilling {
        let store = Store.appStore
        let isSetUp = true

        func invoices(of customers: [String]) async -> StoreInvoices { StoreInvoices() }
        func page(
            of customers: [String],
            changingPaymentMethod changesPaymentMethod: Bool,
            returnURL: String
        ) async throws -> String? { nil }
        func change(_ purchase: Purchase, _ change: PlanChange) async throws {}

        func payments(of purchase: Purchase) -> [StorePayment] {
            [StorePayment("bill", at: LetterCauseTests.day(0), 999, "usd")].compactMap(\.self)
        }
        func unpaidPeriod(of purchase: Purchase) -> Instant? { LetterCauseTests.day(30) }
    }

    @Test("Receipts are for payments of the room that bills, and for whoever pays")
    func billed() throws {
        let facts = [Self.period(0, 30), Self.terms(1)]
        var purchase = Purchase(key: Self.appStore, joining: facts)
        #expect(Self.letters(purchase, at: 2).isEmpty)
        let letters = Self.letters(purchase, billing: [Billing()], at: 2)
        #expect(letters.map(\.kind) == [.receipt] && letters.map(\.reference) == ["bill"])
        #expect(letters.map(\.amount?.amount) == [999])
        // Nothing failed by the record, whatever the room says; and free is no payment.
        #expect(StorePayment("free", at: Self.day(0), 0, "usd") == nil)
        let play = Purchase(key: Self.play, joining: [Self.read(1, "ACTIVE", until: 30)])
        #expect(Self.letters(play, billing: [Billing()], at: 2).isEmpty)
        // Staff have given it to somebody.
        let assigned = Assignment(customer: Customer.ID("cus_1"))
        purchase.join(Self.fact(2, Self.appStore, .assignment(assigned)))
        #expect(Self.letters(purchase, billing: [Billing()], at: 3).isEmpty)
    }

    @Test("A card that the App Store still tries is no lapse; one that it tries no more is")
    func retried() throws {
        let tried = [Self.period(0, 30), Self.terms(30), Self.status(30, 3)]
        #expect(Self.letters(tried, at: 31).isEmpty)
        let letters = Self.letters(tried + [Self.terms(31, willRenew: false)], at: 32)
        #expect(letters.map(\.kind) == [.lapsed] && letters.map(\.date) == [Self.day(30)])
    }

    @Test("An end that moves is one lapse, on the day to which was paid")
    func oneLapse() {
        let late = [Self.period(0, 30), Self.terms(1)]
        let before = Self.letters(late, at: 30.2)
        let after = Self.letters(late + [Self.status(30.2, 2)], at: 30.3)
        #expect(before.map(\.reference) == ["0.0"] && after.map(\.reference) == ["0.0"])
        #expect(before.map(\.date) == [Self.day(30)] && after.map(\.date) == [Self.day(30)])
        // Google Play moves the expiry by the days of grace.
        let grace = [Self.read(1, "ACTIVE", until: 30), Self.read(40, "EXPIRED", until: 37)]
        let lapses = Self.letters(grace, at: 41)
        #expect(lapses.map(\.reference) == ["GPA.1"] && lapses.map(\.date) == [Self.day(30)])
    }

    @Test("A plan that another purchase continues has not lapsed")
    func continued() {
        var play = Purchase(
            key: Self.play,
            joining: [Self.read(1, "ACTIVE", until: 30), Self.read(11, "EXPIRED", until: 10)]
        )
        #expect(Self.letters(play, at: 12).map(\.kind) == [.lapsed])
        play.isContinued(by: Successor(id: "other", since: Self.day(10)))
        #expect(Self.letters(play, at: 12).isEmpty)

        let facts = [Self.period(0, 30), Self.terms(1, willRenew: false)]
        var apple = Purchase(key: Self.appStore, joining: facts)
        #expect(Self.letters(apple, at: 31).map(\.kind) == [.lapsed])
        apple.isContinued(by: Successor(id: "2", since: Self.day(30)))
        #expect(Self.letters(apple, at: 31).isEmpty)
    }

    @Test(
        "A reminder names the interval only if it is one, and the present product's",
        arguments: [
            ("plus", "plus", "month"), ("quarterly", "quarterly", nil),
            ("plus", "quarterly", nil), ("quarterly", "plus", nil),
        ] as [(String, String, String?)]
    )
    func interval(_ product: String, _ next: String, _ expected: String?) throws {
        let facts = [
            Self.period(0, 7, product: product, isTrial: true),
            Self.terms(0, next: next, price: 29_990),
        ]
        let letter = try #require(Self.letters(facts, at: 5).first)
        #expect(letter.kind == .trialEnds && letter.amount?.amount == 2999)
        #expect(letter.interval == expected)
    }

    @Test("A kind is on while any server has it on, and begins anew after that")
    func switches() {
        var progress = LetterProgress(position: 7)
        #expect(progress.cover([.lapsed, .receipt], at: Self.day(0), wall: Self.day(0)).count == 2)
        #expect(progress.covers([.receipt], wall: Self.day(0)))
        // A minute later the kinds are noted again.
        let minute = Self.day(0).advanced(by: 60_000)
        #expect(!progress.covers([.receipt], wall: minute))
        #expect(progress.cover([.receipt], at: minute, wall: minute).isEmpty)
        let late = minute.advanced(by: 599_000)
        progress.cover([.receipt], at: late, wall: late)
        #expect(progress.since == ["receipt": Self.day(0)])
        // After an outage nothing begins anew.
        #expect(progress.cover([.receipt], at: Self.day(2), wall: Self.day(2)).isEmpty)
        progress.cover([], at: Self.day(3), wall: Self.day(3))
        #expect(progress.since.isEmpty)
        #expect(progress.cover([.receipt], at: Self.day(4), wall: Self.day(4)) == ["receipt"])
    }

    @Test("The words of a mail server are kept without the address, however often it is in them")
    func masked() {
        let words = "550 <ANN@Example.com> ann@example.com: Ann is unknown"
        #expect(words.masking("ann@example.com") == "550 <…> …: … is unknown")
        // A short name is part of many words.
        let short = "550 <jo@example.com> JO is no job, jo"
        #expect(short.masking("jo@example.com") == "550 <…> … is no job, …")
    }
}
