import Foundation
import Testing

@testable import GooglePlaySimulator

/// One purchase in place of another: every replacement mode, top-ups, add-ons.
struct ReplacementTests {
    private func start(
        _ body: String = #"{"product_id": "basic"}"#
    ) throws -> (PlayFixture, String) {
        let play = try PlayFixture()
        let token = try play.buy(body)
        play.advance(days: 15)
        return (play, token)
    }

    @discardableResult
    private func change(
        _ play: PlayFixture,
        _ token: String,
        to product: String = "premium",
        _ mode: ReplacementMode
    ) throws -> String {
        try play.act(
            "change",
            token,
            #"{"product_id": "\#(product)", "replacement_mode": "\#(mode.rawValue)"}"#
        )["purchase_token"]?.text ?? ""
    }

    @Test
    func timeProrationTurnsWhatIsLeftIntoTime() throws {
        let (play, old) = try start()
        let end = try play.expiry(old)
        let new = try change(play, old, .withTimeProration)
        let expiry = try play.expiry(new)
        #expect(expiry > play.now + 7 * PlayFixture.day && expiry < end)
        #expect(try play.read(new)["linkedPurchaseToken"]?.text == old)
        #expect(try play.state(old) == "EXPIRED")
        #expect(try play.read(old)["canceledStateContext"] == ["replacementCancellation": [:]])
        #expect(play.hints(new) == [4])
        #expect(play.hints(old) == [4, 13])
        let orders = play.store.orders.of(new)
        #expect(orders.map(\.total.micros) == [0])
        let replaced = try play.read(new)["lineItems"]?.list?[0]["itemReplacement"]
        #expect(replaced?["productId"]?.text == "basic")
        #expect(replaced?["replacementMode"]?.text == "WITH_TIME_PRORATION")
    }

    @Test
    func aProratedPriceKeepsTheDateAndIsForUpgradesOnly() throws {
        let (play, old) = try start()
        let end = try play.expiry(old)
        let new = try change(play, old, .chargeProratedPrice)
        #expect(try play.expiry(new) == end)
        let paid = play.store.orders.of(new)[0].total.micros
        #expect(paid > 2_000_000 && paid < 3_000_000)
        try play.act("acknowledge", new)
        #expect(throws: Refusal.self) {
            try change(play, new, to: "basic", .chargeProratedPrice)
        }
    }

    @Test
    func timeThatWasCarriedOverIsWorthItsPlansPrice() throws {
        let (play, old) = try start()
        let end = try play.expiry(old)
        let premium = try change(play, old, .withTimeProration)
        try play.act("acknowledge", premium)
        #expect(throws: Refusal.self) {
            try change(play, premium, to: "basic", .chargeProratedPrice)
        }
        // To and fro, nothing is lost but what rounding takes.
        let basic = try change(play, premium, to: "basic", .withTimeProration)
        #expect(abs(try play.expiry(basic) - end) < PlayFixture.day)
    }

    @Test
    func withoutProrationNothingIsPaidUntilTheNextDate() throws {
        let (play, old) = try start()
        let end = try play.expiry(old)
        let new = try change(play, old, .withoutProration)
        try play.act("acknowledge", new)
        #expect(try play.expiry(new) == end)
        play.advance(days: 20)
        #expect(play.store.orders.of(new).map(\.total.micros) == [0, 9_990_000])
    }

    @Test
    func theFullPriceIsPaidAndWhatIsLeftBecomesTime() throws {
        let (play, old) = try start()
        let new = try change(play, old, .chargeFullPrice)
        #expect(play.store.orders.of(new)[0].total.micros == 9_990_000)
        #expect(try play.expiry(new) > BillingPeriod(1, .month).end(from: play.now))
    }

    /// The example of Google's guide: a plan of $2 a month since 1 April, and after half of it one of
    /// $36 a year.
    ///
    /// https://developer.android.com/google/play/billing/subscriptions#replacement-examples
    struct Samwise: CustomTestStringConvertible {
        var mode: ReplacementMode
        /// The charge on 15 April, in cents.
        var atOnce: Int64
        /// The day on which $36 are charged next.
        var next: String
        /// The day of the $36 after that.
        var after: String
        var testDescription: String { mode.rawValue }
    }

    static let samwise = [
        Samwise(mode: .withTimeProration, atOnce: 0, next: "2026-04-26", after: "2027-04-26"),
        Samwise(mode: .chargeProratedPrice, atOnce: 50, next: "2026-05-01", after: "2027-05-01"),
        Samwise(mode: .withoutProration, atOnce: 0, next: "2026-05-01", after: "2027-05-01"),
        Samwise(mode: .deferred, atOnce: 0, next: "2026-05-01", after: "2027-05-01"),
        Samwise(mode: .chargeFullPrice, atOnce: 3600, next: "2027-04-26", after: "2028-04-26"),
    ]

    /// A store on 1 April.
    private func countryGardener() throws -> PlayFixture {
        let play = try PlayFixture()
        play.now = Timestamp.parse("2026-04-01T00:00:00Z") ?? 0
        play.store.catalog = try ActBody.decode(
            Catalog.self,
            from: Data(
                """
                {"subscriptions": [
                  {"product_id": "tier1", "base_plans": [{"base_plan_id": "monthly",
                   "period": "P1M", "price_micros": 2000000}]},
                  {"product_id": "tier2", "base_plans": [{"base_plan_id": "yearly",
                   "period": "P1Y", "price_micros": 36000000}]},
                  {"product_id": "plan1", "base_plans": [{"base_plan_id": "monthly",
                   "period": "P1M", "price_micros": 4000000, "offers": [{"offer_id": "intro",
                   "phases": [{"duration": "P1M", "count": 3, "price_micros": 2000000}]}]}]},
                  {"product_id": "plan2", "base_plans": [{"base_plan_id": "monthly",
                   "period": "P1M", "price_micros": 3000000}]}]}
                """.utf8
            )
        )
        return play
    }

    private func charges(_ play: PlayFixture, _ token: String) -> [(day: String, cents: Int64)] {
        play.store.orders.of(token).map { order in
            (String(Timestamp.text(order.createdAt).prefix(10)), order.total.micros / 10_000)
        }
    }

    @Test(arguments: samwise)
    func aChangeOfPlanCostsWhatGooglesGuideSays(_ example: Samwise) throws {
        let play = try countryGardener()
        let old = try play.buy(#"{"product_id": "tier1"}"#)
        play.advance(days: 15)
        let new = try change(play, old, to: "tier2", example.mode)
        try play.act("acknowledge", new)
        play.advance(days: 800)
        let made = charges(play, new).filter { $0.cents > 0 }
        var expected: [(day: String, cents: Int64)] = [(example.next, 3600), (example.after, 3600)]
        if example.atOnce > 0 { expected.insert(("2026-04-16", example.atOnce), at: 0) }
        #expect(made.prefix(expected.count).map(\.day) == expected.map(\.day))
        #expect(made.prefix(expected.count).map(\.cents) == expected.map(\.cents))
    }

    @Test
    func anAddOnCostsWhatGooglesGuideSays() throws {
        let play = try countryGardener()
        let old = try play.buy(#"{"product_id": "plan1", "offer_id": "intro"}"#)
        play.advance(days: 15)
        let new =
            try play.act(
                "change",
                old,
                #"{"product_id": "plan1", "add_ons": "plan2", "replacement_mode": "KEEP_EXISTING"}"#
            )["purchase_token"]?.text ?? ""
        try play.act("acknowledge", new)
        play.advance(days: 140)
        #expect(charges(play, new).map(\.cents).prefix(5) == [150, 500, 500, 700, 700])
    }

    @Test
    func aDeferredChangeHasTwoItemsUntilTheRenewal() throws {
        let (play, old) = try start(#"{"product_id": "premium"}"#)
        let end = try play.expiry(old)
        let new = try change(play, old, to: "basic", .deferred)
        try play.act("acknowledge", new)
        var items = try play.read(new)["lineItems"]?.list ?? []
        #expect(items.map { $0["productId"]?.text } == ["premium", "basic"])
        #expect(items[0]["deferredItemReplacement"]?["productId"]?.text == "basic")
        #expect(items[0]["autoRenewingPlan"]?["autoRenewEnabled"] == nil)
        #expect(items[1]["expiryTime"] == nil && items[1]["latestSuccessfulOrderId"] == nil)
        #expect(try play.expiry(new, 0) == end)
        play.advance(days: 17)
        items = try play.read(new)["lineItems"]?.list ?? []
        #expect(try play.expiry(new, 0) == end)
        #expect(try play.expiry(new, 1) == BillingPeriod(1, .month).end(from: end))
        #expect(items[0]["deferredItemReplacement"] == nil)
        #expect(play.hints(new) == [4, 2])
        #expect(try play.state(old) == "EXPIRED")
    }

    @Test
    func aDeferredChangeWithAFailingCardKeepsAccessThroughGrace() throws {
        let play = try PlayFixture()
        let account = try play.act("account")["id"]?.text ?? ""
        let old = try play.buy(#"{"product_id": "premium", "account": "\#(account)"}"#)
        let end = try play.expiry(old)
        let new = try change(play, old, to: "basic", .deferred)
        try play.act("acknowledge", new)
        try play.act("set-account", account, #"{"payment": "declines"}"#)
        play.advance(days: 34.5)
        #expect(try play.state(new) == "IN_GRACE_PERIOD")
        #expect(try play.expiry(new) > play.now)
        try play.act("set-account", account, #"{"payment": "approves"}"#)
        #expect(try play.state(new) == "ACTIVE")
        #expect(try play.expiry(new, 1) == BillingPeriod(1, .month).end(from: end))
    }

    @Test
    func whatWasNeverOwnedHasNoExpiry() throws {
        let (play, old) = try start(#"{"product_id": "premium"}"#)
        let new = try change(play, old, to: "basic", .deferred)
        try play.call(
            "POST",
            "purchases/subscriptionsv2/tokens/\(new):revoke",
            ["revocationContext": ["fullRefund": [:]]]
        )
        let items = try play.read(new)["lineItems"]?.list ?? []
        #expect(items.map { $0["expiryTime"] != nil } == [true, false])
    }

    @Test
    func aPlanInAnotherCurrencyIsNoReplacement() throws {
        let play = try PlayFixture()
        let account = try play.act("account")["id"]?.text ?? ""
        let old = try play.buy(#"{"product_id": "basic", "account": "\#(account)"}"#)
        try play.act("set-account", account, #"{"region": "KR"}"#)
        #expect(throws: Refusal.self) { try change(play, old, .withTimeProration) }
    }

    @Test(arguments: [ReplacementMode.withTimeProration, .chargeFullPrice])
    func aFortuneInAPlanOfNothingLastsACenturyAtMost(_ mode: ReplacementMode) throws {
        let play = try PlayFixture()
        play.store.catalog.merge(
            try ActBody.decode(
                Catalog.self,
                from: Data(
                    """
                    {"subscriptions": [
                      {"product_id": "dear", "base_plans": [{"base_plan_id": "a", "period": "P1Y",
                       "price_micros": 1000000000000000}]},
                      {"product_id": "cheap", "base_plans": [{"base_plan_id": "a", "period": "P1Y",
                       "price_micros": 1}]}]}
                    """.utf8
                )
            )
        )
        let old = try play.buy(#"{"product_id": "dear"}"#)
        let new = try change(play, old, to: "cheap", mode)
        #expect(try play.expiry(new) - play.now <= 101 * 366 * PlayFixture.day)
        try play.act("acknowledge", new)
        _ = try? change(play, new, to: "dear", .chargeProratedPrice)
    }

    @Test
    func aTopUpAddsUpAndOnlyOneIsSoldAhead() throws {
        let (play, old) = try start(#"{"product_id": "premium", "base_plan_id": "prepaid"}"#)
        let end = try play.expiry(old)
        let new = try play.act("top-up", old)["purchase_token"]?.text ?? ""
        #expect(try play.expiry(new) > end + 27 * PlayFixture.day)
        #expect(try play.read(new)["linkedPurchaseToken"]?.text == old)
        try play.act("acknowledge", new)
        #expect(throws: Refusal.self) { try play.act("top-up", new) }
        play.advance(days: 20)
        try play.act("top-up", new)
    }

    @Test
    func anUnacknowledgedPurchaseIsNotReplaced() throws {
        let play = try PlayFixture()
        let token = try play.buy(#"{"product_id": "basic"}"#, acknowledged: false)
        #expect(throws: Refusal.self) { try change(play, token, .withTimeProration) }
    }

    @Test
    func addOnsComeAtOnceAndRunOutWhenTheyAreRemoved() throws {
        let (play, old) = try start(#"{"product_id": "premium"}"#)
        let added =
            try play.act(
                "change",
                old,
                #"{"product_id": "premium", "add_ons": "sports", "replacement_mode": "KEEP_EXISTING"}"#
            )["purchase_token"]?.text ?? ""
        try play.act("acknowledge", added)
        #expect(try play.expiry(added, 0) == play.expiry(added, 1))
        let paid = play.store.orders.of(added)[0].total.micros
        #expect(paid > 1_000_000 && paid < 2_000_000)
        let removed =
            try play.act(
                "change",
                added,
                #"{"product_id": "premium", "replacement_mode": "KEEP_EXISTING"}"#
            )["purchase_token"]?.text ?? ""
        try play.act("acknowledge", removed)
        let items = try play.read(removed)["lineItems"]?.list ?? []
        #expect(items[1]["deferredItemRemoval"] == [:])
        play.advance(days: 20)
        #expect(try play.expiry(removed, 0) > play.now)
        #expect(try play.expiry(removed, 1) < play.now)
    }

    @Test
    func aPendingReplacementThatIsNotPaidLeavesTheOldPurchaseAlone() throws {
        let play = try PlayFixture()
        let account = try play.act("account")["id"]?.text ?? ""
        let old = try play.buy(#"{"product_id": "basic", "account": "\#(account)"}"#)
        try play.act("set-account", account, #"{"payment": "cash"}"#)
        let new = try change(play, old, .chargeFullPrice)
        #expect(try play.state(new) == "PENDING")
        play.advance(days: 4)
        #expect(try play.state(new) == "PENDING_PURCHASE_CANCELED")
        #expect(try play.state(old) == "ACTIVE")
        #expect(play.hints(new) == [20])
    }

    @Test
    func aPendingReplacementThatIsPaidTakesOver() throws {
        let play = try PlayFixture()
        let account = try play.act("account")["id"]?.text ?? ""
        let old = try play.buy(#"{"product_id": "basic", "account": "\#(account)"}"#)
        try play.act("set-account", account, #"{"payment": "slowly_approves"}"#)
        let new = try change(play, old, .chargeFullPrice)
        play.advance(days: 0.1)
        #expect(try play.state(new) == "ACTIVE")
        #expect(try play.state(old) == "EXPIRED")
    }

    @Test
    func aPaidReplacementOfWhatHasEndedMeanwhileIsANewPurchase() throws {
        let play = try PlayFixture()
        let account = try play.act("account")["id"]?.text ?? ""
        let old = try play.buy(#"{"product_id": "basic", "account": "\#(account)"}"#)
        try play.act("cancel", old)
        play.advance(days: 30.9995)
        try play.act("set-account", account, #"{"payment": "slowly_approves"}"#)
        let new = try change(play, old, .withTimeProration)
        play.advance(days: 0.1)
        #expect(try play.state(old) == "EXPIRED")
        #expect(try play.state(new) == "ACTIVE")
        #expect(try play.read(new)["linkedPurchaseToken"] == nil)
        #expect(play.hints(new) == [4])
        #expect(play.store.orders.of(new).map(\.total.micros) == [9_990_000])
    }

    @Test(arguments: [Behaviour.When.before, .after, .never])
    func whenTheOldTokensEndIsToldIsASwitch(_ when: Behaviour.When) throws {
        let (play, old) = try start()
        play.store.behaviour.replacedExpiredIsSent = when
        try change(play, old, .withTimeProration)
        let types = play.told.dropFirst().map { announcement in
            if case .subscription(let type, _, _) = announcement.kind { type } else { 0 }
        }
        #expect(types == (when == .before ? [13, 4] : when == .after ? [4, 13] : [4]))
    }

    @Test
    func theOldTokenMayStayValidToItsOwnEnd() throws {
        let (play, old) = try start()
        play.store.behaviour.replacedTokenExpiresAtOnce = false
        let end = try play.expiry(old)
        try change(play, old, .withTimeProration)
        #expect(try play.state(old) == "CANCELED")
        #expect(try play.expiry(old) == end)
        play.advance(days: 20)
        #expect(try play.state(old) == "EXPIRED")
    }
}
