@testable import Reports
import Testing
import TollgateCore
import TollgateSimulation

@Suite("Exact numbers")
struct FractionTests {
    @Test("numbers that no longer fit become the nearest that do, and end nothing")
    func tooLarge() throws {
        let large = Reports.Fraction(.max, 3)
        let other = Reports.Fraction(.max - 1, 7)
        #expect(other < large && !(large < other))
        #expect((large + large).approximate > large.approximate)
        #expect((large * other).numerator == .max)
        #expect((large * -other).numerator == -.max)
        #expect(try #require(large.divided(by: other)).text(decimals: 3) == "2.333")
        let tiny = Reports.Fraction(1, .max)
        #expect((tiny + tiny).text(decimals: 6) == "0.000000")
        #expect((tiny * tiny).isZero)
        // What fits stays exact.
        let third = Reports.Fraction(1, 3)
        #expect(third + third + third == Reports.Fraction(Int128(1)))
        #expect(Reports.Fraction(Int128.max - 1) + Reports.Fraction(Int128(1)) == .init(Int128.max))
    }

    @Test(
        "MRR of many plans that were changed in the middle of a year is a number",
        arguments: UInt64(1)...40
    )
    func prorations(_ seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var sum = Reports.Fraction.zero
        var approximate = 0.0
        for _ in 0..<200 {
            let days = Int64.random(in: 34...362, using: &random)
            let amount = Int64.random(in: 1...500_000, using: &random)
            let period = Self.period(amount, days: days)
            sum += period.monthlyValue
            approximate += Double(amount) * 28 / Double(days)
        }
        // Each is a 24,000th of a milliunit off at most.
        #expect(abs(sum.approximate - approximate) < 0.01)
        #expect(12_000 % sum.denominator == 0)
    }

    private static func period(_ amount: Int64, days: Int64) -> Reports.PaidPeriod {
        let start = Instant(milliseconds: 1_767_225_600_000)
        let end = start.advanced(by: days * 86_400_000)
        return Reports.PaidPeriod(
            store: .stripe,
            environment: .production,
            purchase: .init(store: .stripe, environment: .production, application: "", id: "sub_1"),
            id: "il_1",
            transaction: "in_1",
            product: "yearly",
            storeProduct: "price_1",
            country: "",
            currency: "USD",
            amount: amount,
            offer: .none,
            isFamilyShared: false,
            start: start,
            end: end,
            paidUntil: end,
            effectiveEnd: end,
            refunded: nil,
            retriedSince: nil,
            duration: nil,
            customer: "c"
        )
    }
}
