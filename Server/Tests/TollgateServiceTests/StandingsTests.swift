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

    private static func shown(
        _ store: Store,
        _ statement: Statement,
        by standings: Standings,
        at instant: Instant
    ) -> PortalView.Purchase {
        let key = Purchase.Key(
            store: store,
            environment: .production,
            application: "com.example.app",
            id: "1"
        )
        let fact = Fact(purchase: key, source: "", stated: Stated(day(0)), statement: statement)
        let history = CatalogHistory([.init(id: "1", adopted: day(-1), catalog: catalog)])
        return standings.shown(Purchase(key: key, joining: [fact]), in: history, at: instant)
    }

    @Test("A purchase of a store without a room is shown by what it opens")
    func withoutRoom() {
        let period = Period(
            id: "1",
            transactionID: "1",
            product: "plus",
            kind: .autoRenewable,
            start: Self.day(0),
            end: Self.day(30)
        )
        func shown(_ standings: Standings, on day: Int64) -> PortalView.Purchase {
            Self.shown(.appStore, .period(period), by: standings, at: Self.day(day))
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
            let shown = Self.shown(.tollgate, .grant(grant), by: standings, at: Self.day(1))
            #expect(shown.kind == .gift && shown.name == "Pro" && shown.isActive)
            #expect(shown.standing == PurchaseStanding(.forever))
        }
    }
}
