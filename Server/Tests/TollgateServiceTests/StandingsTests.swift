import AppStoreConnector
import GooglePlayConnector
import Stores
import StripeConnector
import Testing
import TollgateCore

@testable import TollgateService

extension Standings {
    /// By the room of each store.
    static let ofEveryRoom = Standings([
        AppStoreStandings(), StripeStandings(), GooglePlayStandings(),
    ])
}

@Suite("How purchases stand")
struct StandingsTests {
    private static func day(_ day: Int64) -> Instant {
        Instant(milliseconds: 1_767_225_600_000 + day * 86_400_000)
    }

    private static let catalog = Catalog(
        entitlements: [.init(lookupKey: "pro", name: "Pro")],
        products: [
            .init(
                id: "plus",
                name: "Plus",
                kind: .autoRenewable,
                appStoreProductID: "plus",
                entitlements: ["pro"]
            )
        ]
    )

    private static let period = Period(
        id: "1",
        transactionID: "1",
        product: "plus",
        kind: .autoRenewable,
        start: day(0),
        end: day(30),
        price: 9990,
        currency: "USD"
    )

    private static func purchase(_ store: Store, _ statements: Statement...) -> Purchase {
        let key = Purchase.Key(
            store: store,
            environment: .production,
            application: "com.example.app",
            id: "1"
        )
        let facts = statements.map {
            Fact(purchase: key, source: "", stated: Stated(day(0)), statement: $0)
        }
        return Purchase(key: key, joining: facts)
    }

    private static func shown(
        _ purchase: Purchase,
        by standings: Standings,
        at instant: Instant
    ) -> PortalView.Purchase {
        let history = CatalogHistory([.init(id: "1", adopted: day(-1), catalog: catalog)])
        return standings.shown(purchase, in: history, at: instant)
    }

    @Test("A purchase of a store without a room is shown by what it opens")
    func withoutRoom() {
        let purchase = Self.purchase(.appStore, .period(Self.period))
        func shown(_ standings: Standings, on day: Int64) -> PortalView.Purchase {
            Self.shown(purchase, by: standings, at: Self.day(day))
        }
        let now = shown(Standings([]), on: 10)
        #expect(now.name == "Plus" && now.isActive && now.kind == .once)
        guard case .endsAt = now.standing.state else {
            Issue.record("it stands as \(now.standing.state)")
            return
        }
        guard case .ended = shown(Standings([StripeStandings()]), on: 40).standing.state else {
            Issue.record("what it opened ends")
            return
        }
        #expect(shown(.ofEveryRoom, on: 10).kind == .plan)
    }

    @Test("A gift has the name of what it opens, and stands by that")
    func gift() {
        let grant = StaffGrant(
            customer: Customer.ID("cus_1"),
            lookupKey: "pro",
            since: Self.day(0),
            until: nil
        )
        for standings in [Standings([]), .ofEveryRoom] {
            let gift = Self.purchase(.tollgate, .grant(grant))
            let shown = Self.shown(gift, by: standings, at: Self.day(1))
            #expect(shown.kind == .gift && shown.name == "Pro" && shown.isActive)
            #expect(shown.standing == PurchaseStanding(.forever))
        }
    }

    @Test("Staff see the newest payment in the store's record")
    func details() {
        let plan = Self.purchase(.appStore, .period(Self.period))
        #expect(
            Standings.ofEveryRoom.details(of: plan) == [
                .transaction("1"), .periodStart(Self.day(0)), .periodEnd(Self.day(30)),
                .price(milliunits: 9990, currency: "USD"),
            ]
        )
        #expect(Standings([]).details(of: plan).isEmpty)
        let payment = StripePayment(
            session: "cs_1",
            status: "complete",
            isPaid: true,
            customer: nil,
            reference: nil,
            lines: nil,
            amount: 999,
            currency: "usd",
            created: Self.day(0)
        )
        #expect(
            Standings.ofEveryRoom.details(of: Self.purchase(.stripe, .payment(payment))) == [
                .amount(.init(amount: 999, currency: "usd")), .checkoutSession("cs_1"),
            ]
        )
        let order = GooglePlayOrder(
            id: "GPA.1",
            state: "PROCESSED",
            total: GooglePlayMoney(micros: 9_990_000, currency: "USD"),
            lines: [.init(product: "plus", start: Self.day(0))]
        )
        #expect(
            Standings.ofEveryRoom.details(of: Self.purchase(.googlePlay, .googlePlayOrder(order)))
                == [
                    .transaction("GPA.1"), .periodStart(Self.day(0)),
                    .price(milliunits: 9990, currency: "USD"),
                ]
        )
    }
}
