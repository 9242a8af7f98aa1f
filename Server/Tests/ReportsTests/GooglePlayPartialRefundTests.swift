import Reports
import Storage
import Testing
import TollgateAssembly
import TollgateCore
import TollgateService
import TollgateSimulation

@Suite("Figures of Google Play's refunds of a part")
struct GooglePlayPartialRefundTests {
    private static let key = Purchase.Key(
        store: .googlePlay,
        environment: .production,
        application: "app",
        id: "token"
    )

    private static func money(_ units: Int64) -> GooglePlayMoney {
        GooglePlayMoney(micros: units * 1_000_000, currency: "USD")
    }

    /// A bundle of a theme for 20 and coins for 5, and what went back of its order.
    private static func rows(_ refunds: [GooglePlayOrder.Refund]) -> Reports.PurchaseRows {
        let order = GooglePlayOrder(
            id: "GPA.1",
            state: refunds.isEmpty ? "PROCESSED" : "PARTIALLY_REFUNDED",
            created: .day(0),
            processed: .day(0),
            total: money(25),
            lines: [
                .init(product: "coins", listing: money(5), total: money(5)),
                .init(product: "theme", listing: money(20), total: money(20)),
            ],
            refunds: refunds
        )
        let bought = GooglePlayPurchase(
            state: "PURCHASED",
            completed: .day(0),
            lines: [.init(product: "coins"), .init(product: "theme")],
            order: "GPA.1"
        )
        let purchase = Purchase(
            key: key,
            joining: [
                .said(.googlePlayPurchase(bought), on: 0, about: key),
                .said(.googlePlayOrder(order), on: 3, about: key),
            ]
        )
        let catalog = Catalog(entitlements: [], products: [])
        let history = CatalogHistory([.init(id: "1", adopted: .day(-1000), catalog: catalog)])
        return Reports.rows(of: purchase, by: Tollgate.storeRows, in: history) {
            $0.first?.canonical ?? ""
        }
    }

    /// The sums that went back, by product.
    private static func refunded(_ refunds: [GooglePlayOrder.Refund]) -> [String: Int64] {
        rows(refunds).sales.filter { $0.kind == .refund }.reduce(into: [:]) {
            $0[$1.product, default: 0] += abs($1.amount)
        }
    }

    // A partial refund states a total and a tax, and no product:
    // https://developers.google.com/android-publisher/api-ref/rest/v3/orders#PartialRefundEvent
    @Test("G29: a refund of a part is spread over the products by what each was charged")
    func spread() {
        let part = GooglePlayOrder.Refund(at: .day(1), isPartial: true, total: Self.money(5))
        #expect(Self.refunded([part]) == ["coins": 1_000, "theme": 4_000])
        let whole = GooglePlayOrder.Refund(at: .day(2), isPartial: false)
        #expect(Self.refunded([part, whole]) == ["coins": 5_000, "theme": 20_000])
    }
}
