import Testing
import TollgateCore

@Suite("Coins that another system has credited, as the catalog says")
struct CoinsSinceTests {
    /// The move is on day 10.
    private static let history: CatalogHistory = {
        var catalog = Shop.catalog
        catalog.coinsSince = .day(10)
        return CatalogHistory([.init(id: "1", adopted: .day(-1000), catalog: catalog)])
    }()

    struct Payment: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var facts: [Fact]
        var coins: Int64
    }

    static let payments = [
        Payment(testDescription: "a period from before", facts: [.paid("1", 9, 40)], coins: 0),
        Payment(testDescription: "a period from after", facts: [.paid("1", 10, 40)], coins: 10),
        Payment(
            testDescription: "a renewal that was charged ahead, before",
            facts: [.paid("1", 10.4, 40, said: 9.8)],
            coins: 0
        ),
        Payment(
            testDescription: "a renewal at Stripe that was due before and paid after",
            facts: [
                .subscription("active", 12, from: 8, to: 39),
                .said(
                    .invoice(
                        StripeInvoice(
                            id: "in_1",
                            isPaid: true,
                            amount: 999,
                            currency: "usd",
                            lines: [
                                .init(
                                    id: "il_1",
                                    price: "price_monthly",
                                    quantity: 1,
                                    amount: 999,
                                    start: .day(8),
                                    end: .day(39),
                                    isProration: false
                                )
                            ],
                            paid: .day(12)
                        )
                    ),
                    on: 12,
                    about: .stripe("sub_1")
                ),
            ],
            coins: 10
        ),
    ]

    @Test("count by when they were paid", arguments: payments)
    func paid(_ payment: Payment) {
        #expect(World(payment.facts).coins(Self.history) == payment.coins)
        #expect(World(payment.facts).coins() == 10)
    }
}
