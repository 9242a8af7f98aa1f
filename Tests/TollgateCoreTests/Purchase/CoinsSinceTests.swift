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

    /// A subscription in Google Play from before the move, which is first read after it.
    private static let moved = Fact.play("ACTIVE", 12, .item(to: 40, order: "GPA.1..0"))

    static let subscriptions = [
        Payment(testDescription: "what nobody dates", facts: [moved], coins: 0),
        Payment(
            testDescription: "a time that its order dates after the move",
            facts: [moved, .order("GPA.1..0", 13, from: 12, to: 40)],
            coins: 10
        ),
        Payment(
            testDescription: "a time that its order dates before the move",
            facts: [moved, .order("GPA.1..0", 13, from: 9, to: 40)],
            coins: 0
        ),
        Payment(
            testDescription: "what was bought in the instant of the move",
            facts: [.play("ACTIVE", 12, from: 10, .item(to: 40))],
            coins: 10
        ),
        Payment(
            testDescription: "what nobody dates, and another plan's renewal",
            facts: [
                .play("ACTIVE", 12, .item(to: 40, order: "GPA.1..0", "club", nil)),
                .play("ACTIVE", 40, .item(to: 70, order: "GPA.1..1")),
            ],
            coins: 10
        ),
    ]

    @Test("of Google Play's subscriptions count by their orders:", arguments: subscriptions)
    func googlePlay(_ payment: Payment) {
        #expect(World(payment.facts).coins(Self.history) == payment.coins)
    }

    @Test("do not concern corrections by staff")
    func staff() {
        let coins = StaffCoins(customer: Customer.ID("ann"), amount: 5)
        let world = World([.said(.coins(coins), on: 7, about: .free("coins"))])
        #expect(world.coins(Self.history) == 5)
    }

    @Test("count by the newest version that states the move")
    func newestVersion() {
        let moves: [Double?] = [10, 20, nil]
        let versions = moves.enumerated().map { index, day in
            var catalog = Shop.catalog
            catalog.coinsSince = day.map { .day($0) }
            return CatalogHistory.Version(
                id: "\(index)",
                adopted: .day(-1000 + Double(index)),
                catalog: catalog
            )
        }
        let history = CatalogHistory(versions)
        #expect(World([.paid("1", 15, 45)]).coins(history) == 0)
        #expect(World([.paid("1", 20, 50)]).coins(history) == 10)
    }

    @Test("count by when they were paid", arguments: payments)
    func paid(_ payment: Payment) {
        #expect(World(payment.facts).coins(Self.history) == payment.coins)
        #expect(World(payment.facts).coins() == 10)
    }
}
