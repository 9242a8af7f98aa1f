import Testing
import TollgateCore

// https://developer.apple.com/documentation/storekit/supporting-monthly-subscriptions-with-a-12-month-commitment
@Suite("A year that is billed monthly")
struct InstallmentTests {
    private static func coins(after months: Int64) -> Int64 {
        let facts = (1...months).map { number in
            Fact.paid(
                "\(number)",
                Double(number - 1) * 30,
                Double(number) * 30,
                Shop.monthly,
                installment: Installment(number, of: 12)
            )
        }
        return World(facts).coins()
    }

    @Test("credits the year's coins in twelve parts that add up")
    func parts() {
        // The product gives 10 coins.
        for months in Int64(1)...12 {
            #expect(Self.coins(after: months) == 10 * months / 12)
        }
    }

    @Test(
        "numbers that are no part of anything say nothing",
        arguments: [(nil, 12), (1, nil), (0, 12), (13, 12), (1, 1), (-1, -1)] as [(Int64?, Int64?)]
    )
    func nonsense(_ number: Int64?, _ total: Int64?) {
        #expect(Installment(number, of: total) == nil)
    }
}
