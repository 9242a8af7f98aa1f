import Testing

@testable import StripeSimulator

@Suite struct BillingArithmeticTests {
    private static let month: JSON = ["interval": "month", "interval_count": 1]
    private static let year: JSON = ["interval": "year", "interval_count": 1]

    @Test func aMonthFromTheLastOfJanuaryIsTheLastOfFebruaryAndThenTheLastOfMarch() {
        let cycle = BillingCycle(anchor: 1_769_860_800, recurring: Self.month)  // 31 Jan 2026 12:00
        let days = (0...4).map { CalendarDate(cycle.boundary($0)).words }
        #expect(
            days == ["31 Jan 2026", "28 Feb 2026", "31 Mar 2026", "30 Apr 2026", "31 May 2026"]
        )
        #expect(cycle.next(after: cycle.boundary(1)) == cycle.boundary(2))
        #expect(cycle.next(after: cycle.boundary(2) - 1) == cycle.boundary(2))
    }

    @Test func aLeapDayComesBackEveryFourYears() {
        let cycle = BillingCycle(anchor: 1_709_164_800, recurring: Self.year)  // 29 Feb 2024
        let days = [1, 2, 4].map { CalendarDate(cycle.boundary($0)).words }
        #expect(days == ["28 Feb 2025", "28 Feb 2026", "29 Feb 2028"])
    }

    @Test(arguments: Array(stride(from: -5_000_000_000, through: 8_000_000_000, by: 123_456_789)))
    func everyInstantIsItsOwnDate(_ instant: Int) {
        #expect(CalendarDate(instant).instant == instant)
    }

    struct Change: Sendable {
        var amount, left, length, share: Int
    }

    /// The figures of Stripe's documentation.
    @Test(arguments: [
        Change(amount: -1_000, left: 445_540, length: 2_678_400, share: -166),
        Change(amount: 3_252, left: 445_540, length: 2_678_400, share: 541),
        Change(amount: -2_000, left: 1, length: 3, share: -667),
        Change(amount: 1_000, left: 1, length: 3, share: 333),
        Change(amount: 1_000, left: 1, length: 2, share: 500),
        Change(amount: 999, left: 30, length: 30, share: 999),
        Change(amount: 999, left: 0, length: 30, share: 0),
    ])
    func aPartOfAPeriodCostsItsPartToTheSecond(_ change: Change) {
        let share = Proration.share(
            of: change.amount,
            from: change.length - change.left,
            start: 0,
            end: change.length
        )
        #expect(share == change.share)
    }

    @Test func aHugeAmountDoesNotOverflow() {
        #expect(Proration.share(of: .max / 2, from: 1, start: 0, end: 1_000_000) > 0)
    }

    @Test func sharesOfACouponAddUpToIt() {
        let coupon: JSON = ["amount_off": 100]
        #expect(Discounts.shares(of: coupon, on: [33, 33, 34, 500]).reduce(0, +) == 100)
        #expect(Discounts.shares(of: ["percent_off": .double(25)], on: [999, 1]) == [250, 0])
        #expect(Discounts.shares(of: ["amount_off": 5_000], on: [300, 200]) == [300, 200])
    }

    @Test(arguments: [("usd", 999, "$9.99"), ("jpy", 500, "¥500"), ("chf", 5, "0.05 CHF")])
    func amountsReadAsMoney(_ currency: String, _ amount: Int, _ words: String) {
        #expect(Money.words(amount, currency) == words)
    }
}
