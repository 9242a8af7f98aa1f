import Foundation
import Testing

@testable import GooglePlaySimulator

/// Subscriptions as state machines: what is done to them, what they read and tell.
struct SubscriptionStoryTests {
    static let premium = #"{"product_id": "premium", "base_plan_id": "monthly"}"#

    /// A story: what happens on which day, what the purchase reads on which, and what was told.
    struct Story: CustomTestStringConvertible {
        var testDescription: String
        var buy = SubscriptionStoryTests.premium
        var acts: [(day: Double, act: String, body: String)] = []
        var expected: [(day: Double, state: String)]
        var hints: [Int]
    }

    static let stories = [
        Story(
            testDescription: "it renews by itself",
            expected: [(0, "ACTIVE"), (30, "ACTIVE"), (32, "ACTIVE"), (70, "ACTIVE")],
            hints: [4, 2, 2]
        ),
        Story(
            testDescription: "a trial and an introductory price come first",
            buy: #"{"product_id": "premium", "offer_id": "trial"}"#,
            expected: [(8, "ACTIVE"), (75, "ACTIVE")],
            hints: [4, 2, 2, 2]
        ),
        Story(
            testDescription: "canceled, it ends with the period",
            acts: [(10, "cancel", #"{"reason": "COST_RELATED"}"#)],
            expected: [(11, "CANCELED"), (30, "CANCELED"), (32, "EXPIRED")],
            hints: [4, 3, 13]
        ),
        Story(
            testDescription: "canceled and restored, it goes on",
            acts: [(10, "cancel", "{}"), (20, "restore", "{}")],
            expected: [(11, "CANCELED"), (21, "ACTIVE"), (32, "ACTIVE")],
            hints: [4, 3, 7, 2]
        ),
        Story(
            testDescription: "the card fails, grace, the card recovers in grace",
            acts: [
                (20, "set-account", #"{"payment": "declines"}"#),
                (34, "set-account", #"{"payment": "approves"}"#),
            ],
            expected: [(30, "ACTIVE"), (32, "IN_GRACE_PERIOD"), (35, "ACTIVE"), (63, "ACTIVE")],
            hints: [4, 6, 2, 2]
        ),
        Story(
            testDescription: "the card fails, grace, account hold, the card recovers",
            acts: [
                (20, "set-account", #"{"payment": "declines"}"#),
                (50, "set-account", #"{"payment": "approves"}"#),
            ],
            expected: [(32, "IN_GRACE_PERIOD"), (39, "ON_HOLD"), (51, "ACTIVE"), (79, "ACTIVE")],
            hints: [4, 6, 5, 1]
        ),
        Story(
            testDescription: "the card never recovers",
            acts: [(20, "set-account", #"{"payment": "declines"}"#)],
            expected: [(32, "IN_GRACE_PERIOD"), (39, "ON_HOLD"), (90, "ON_HOLD"), (92, "EXPIRED")],
            hints: [4, 6, 5, 3, 13]
        ),
        Story(
            testDescription: "without grace it stays ACTIVE for a silent day",
            buy: #"{"product_id": "premium", "base_plan_id": "strict"}"#,
            acts: [(20, "set-account", #"{"payment": "declines"}"#)],
            expected: [(31.5, "ACTIVE"), (32.5, "ON_HOLD")],
            hints: [4, 5]
        ),
        Story(
            testDescription: "canceled in account hold, it is over at once",
            acts: [(20, "set-account", #"{"payment": "declines"}"#), (45, "cancel", "{}")],
            expected: [(44, "ON_HOLD"), (45, "EXPIRED")],
            hints: [4, 6, 5, 3, 13]
        ),
        Story(
            testDescription: "a pause begins with the period's end, and ends by itself",
            acts: [(10, "pause", #"{"length": "P1M"}"#)],
            expected: [(11, "ACTIVE"), (32, "PAUSED"), (60, "PAUSED"), (62, "ACTIVE")],
            hints: [4, 11, 10, 1]
        ),
        Story(
            testDescription: "a pause is taken back before it begins",
            acts: [(10, "pause", #"{"length": "P1M"}"#), (12, "unpause", "{}")],
            expected: [(32, "ACTIVE")],
            hints: [4, 11, 11, 2]
        ),
        Story(
            testDescription: "resumed early, the billing date moves",
            acts: [(10, "pause", #"{"length": "P2M"}"#), (40, "resume", "{}")],
            expected: [(39, "PAUSED"), (41, "ACTIVE"), (69, "ACTIVE")],
            hints: [4, 11, 10, 1]
        ),
        Story(
            testDescription: "resumed without money, it goes straight to hold",
            acts: [
                (10, "pause", #"{"length": "P1M"}"#),
                (40, "set-account", #"{"payment": "declines"}"#),
            ],
            expected: [(39, "PAUSED"), (63, "ON_HOLD")],
            hints: [4, 11, 10, 5]
        ),
        Story(
            testDescription: "revoked, it is over at once",
            acts: [(10, "revoke", "{}")],
            expected: [(9, "ACTIVE"), (10, "EXPIRED")],
            hints: [4, 12]
        ),
        Story(
            testDescription: "a prepaid plan ends by itself",
            buy: #"{"product_id": "premium", "base_plan_id": "prepaid"}"#,
            expected: [(30, "ACTIVE"), (32, "EXPIRED")],
            hints: [4, 13]
        ),
        Story(
            testDescription: "an installment plan is canceled when its commitment is paid",
            buy: #"{"product_id": "premium", "base_plan_id": "installments"}"#,
            acts: [(10, "cancel", "{}")],
            expected: [(11, "ACTIVE"), (61, "ACTIVE"), (93, "EXPIRED")],
            hints: [4, 18, 2, 2, 3, 13]
        ),
        Story(
            testDescription: "a dearer price that nobody accepts ends it",
            acts: [(1, "price", #"{"base_plan_id": "monthly", "price_micros": 19990000}"#)],
            expected: [(32, "ACTIVE"), (60, "ACTIVE"), (62, "EXPIRED")],
            hints: [4, 19, 2, 3, 13]
        ),
        Story(
            testDescription: "a dearer price that is accepted is charged",
            acts: [
                (1, "price", #"{"base_plan_id": "monthly", "price_micros": 19990000}"#),
                (40, "consent", "{}"),
            ],
            expected: [(62, "ACTIVE")],
            hints: [4, 19, 2, 19, 8, 2]
        ),
    ]

    @Test(arguments: stories)
    func aSubscriptionReadsAndTells(_ story: Story) throws {
        let play = try PlayFixture()
        let account = try play.act("account")["id"]?.text ?? ""
        let buy = story.buy.dropLast() + #", "account": "\#(account)"}"#
        let token = try play.buy(String(buy))
        var events = story.acts.map { (day: $0.day, order: 0, act: $0.act, body: $0.body) }
        events += story.expected.map { (day: $0.day, order: 1, act: "", body: $0.state) }
        events.sort { ($0.day, $0.order) < ($1.day, $1.order) }
        for event in events {
            let passed = Double(play.now - PlayFixture.start) / Double(PlayFixture.day)
            play.advance(days: event.day - passed)
            switch event.act {
            case "": #expect(try play.state(token) == event.body, "day \(event.day)")
            case "set-account": try play.act(event.act, account, event.body)
            case "price": try play.act(event.act, "premium", event.body)
            default: try play.act(event.act, token, event.body)
            }
        }
        #expect(play.hints(token) == story.hints)
    }

    @Test
    func whatNobodyAcknowledgesIsRefundedAfterThreeDays() throws {
        let play = try PlayFixture()
        let token = try play.buy(Self.premium, acknowledged: false)
        play.advance(days: 2.9)
        #expect(try play.state(token) == "ACTIVE")
        play.advance(days: 0.2)
        #expect(try play.state(token) == "EXPIRED")
        #expect(play.hints(token) == [4, 12])
        #expect(play.store.voided.map(\.reason) == [.unacknowledged])
        #expect(play.store.orders.all.map(\.state) == [.refunded])
    }

    @Test(arguments: [("prepaid", 3.0), ("short", 1.5)])
    func aShortPrepaidPlanIsAcknowledgedSooner(_ plan: String, _ days: Double) throws {
        let play = try PlayFixture()
        let token = try play.buy(
            #"{"product_id": "premium", "base_plan_id": "\#(plan)"}"#,
            acknowledged: false
        )
        play.advance(days: days - 0.1)
        #expect(try play.state(token) == "ACTIVE")
        play.advance(days: 0.2)
        #expect(try play.state(token) == "EXPIRED")
    }

    @Test
    func graceExtendsTheExpiryDayByDayAndKeepsTheRenewalDate() throws {
        let play = try PlayFixture()
        let account = try play.act("account")["id"]?.text ?? ""
        let token = try play.buy(#"{"product_id": "premium", "account": "\#(account)"}"#)
        let renewal = try play.expiry(token)
        try play.act("set-account", account, #"{"payment": "declines"}"#)
        play.advance(days: 33)
        let first = try play.expiry(token)
        play.advance(days: 2)
        let second = try play.expiry(token)
        #expect(renewal < first && first < second)
        let grace = try play.read(token)["inGracePeriodStateContext"]
        #expect(grace?["renewalDeclined"]?["pendingOrderId"]?.text?.hasSuffix("..0") == true)
        try play.act("set-account", account, #"{"payment": "approves"}"#)
        #expect(try play.expiry(token) == BillingPeriod(1, .month).end(from: renewal))
    }

    @Test
    func aRenewalOnThe31stStaysOnThe28th() throws {
        let play = try PlayFixture()
        play.now = Timestamp.parse("2026-01-31T10:00:00Z") ?? 0
        let token = try play.buy(Self.premium)
        var days: [String] = []
        for _ in 0..<4 {
            days.append(String(Timestamp.text(try play.expiry(token)).prefix(10)))
            play.advance(days: 31)
        }
        #expect(days == ["2026-02-28", "2026-03-28", "2026-04-28", "2026-05-28"])
    }

    @Test
    func aLicenceTesterLivesFastAndRenewsSixTimes() throws {
        let play = try PlayFixture()
        let account = try play.act("account", "", #"{"tester": true}"#)["id"]?.text ?? ""
        let token = try play.buy(
            #"{"product_id": "premium", "account": "\#(account)", "offer_id": "trial"}"#
        )
        #expect(try play.expiry(token) - play.now == 3 * Timestamp.minute)
        #expect(try play.read(token)["testPurchase"] == [:])
        play.advance(days: 1)
        #expect(try play.state(token) == "EXPIRED")
        // Two introductory months, and six renewals at the full price.
        #expect(play.hints(token) == [4, 2, 2, 2, 2, 2, 2, 2, 2, 3, 13])
    }

    /// The tables of https://developer.android.com/google/play/billing/test#test-payment-methods:
    /// with a trial from 12:00 to 12:33, without one to 12:35.
    @Test(arguments: [("trial", 33), ("", 35)] as [(String, Int64)])
    func aLicenceTestersMonthEndsAsInGooglesTable(_ offer: String, _ minutes: Int64) throws {
        let play = try PlayFixture()
        play.store.catalog.merge(
            try ActBody.decode(
                Catalog.self,
                from: Data(
                    """
                    {"subscriptions": [{"product_id": "table", "base_plans": [
                      {"base_plan_id": "monthly", "period": "P1M", "price_micros": 1000000,
                       "offers": [{"offer_id": "trial", "phases": [{"duration": "P1W"}]}]}]}]}
                    """.utf8
                )
            )
        )
        let account = try play.act("account", "", #"{"tester": true}"#)["id"]?.text ?? ""
        let named = offer.isEmpty ? "" : #", "offer_id": "trial""#
        let token = try play.buy(#"{"product_id": "table", "account": "\#(account)"\#(named)}"#)
        play.advance(days: 1)
        #expect(play.hints(token) == [4, 2, 2, 2, 2, 2, 2, 3, 13])
        let end = play.told.last?.at
        #expect(end == PlayFixture.start + minutes * Timestamp.minute)
    }

    @Test
    func aFullRevocationRefundsTheLatestOrderOfEachItem() throws {
        let play = try PlayFixture()
        let base = try play.buy(#"{"product_id": "premium"}"#)
        play.advance(days: 15)
        let token =
            try play.act(
                "change",
                base,
                #"{"product_id": "premium", "add_ons": "sports", "replacement_mode": "KEEP_EXISTING"}"#
            )["purchase_token"]?.text ?? ""
        try play.act("acknowledge", token)
        let paid = [play.store.orders.of(base)[0].id, play.store.orders.of(token)[0].id]
        try play.call(
            "POST",
            "purchases/subscriptionsv2/tokens/\(token):revoke",
            ["revocationContext": ["fullRefund": [:]]]
        )
        #expect(paid.map { play.store.orders[$0]?.state } == [.refunded, .refunded])
        #expect(play.store.voided.map(\.orderID) == paid)
        #expect(try play.state(token) == "EXPIRED")
    }

    @Test
    func aRefundOfOneOrderLeavesTheOthersMoney() throws {
        let play = try PlayFixture()
        let base = try play.buy(#"{"product_id": "premium"}"#)
        play.advance(days: 15)
        let token =
            try play.act(
                "change",
                base,
                #"{"product_id": "premium", "add_ons": "sports", "replacement_mode": "KEEP_EXISTING"}"#
            )["purchase_token"]?.text ?? ""
        let order = play.store.orders.of(token)[0].id
        try play.call("POST", "orders/\(order):refund", query: [("revoke", "true")])
        #expect(play.store.voided.map(\.orderID) == [order])
        #expect(play.store.orders.of(base)[0].state == .processed)
    }

    @Test
    func aPriceInOneRegionIsItsOwn() throws {
        let play = try PlayFixture()
        let seoul = try play.act("account", "", #"{"region": "KR"}"#)["id"]?.text ?? ""
        let korean = try play.buy(#"{"product_id": "premium", "account": "\#(seoul)"}"#)
        let american = try play.buy(Self.premium)
        func newPrice(_ token: String) throws -> JSON? {
            let item = try play.read(token)["lineItems"]?.list?[0]
            return item?["autoRenewingPlan"]?["priceChangeDetails"]?["newPrice"]
        }
        try play.act(
            "price",
            "premium",
            #"{"base_plan_id": "monthly", "price_micros": 12990000}"#
        )
        #expect(try newPrice(korean) == nil)
        let dollars: JSON = ["currencyCode": "USD", "units": "12", "nanos": 990_000_000]
        #expect(try newPrice(american) == dollars)
        try play.act(
            "price",
            "premium",
            #"{"base_plan_id": "monthly", "price_micros": 15000000000, "region": "KR"}"#
        )
        #expect(try newPrice(korean) == ["currencyCode": "KRW", "units": "15000"])
        #expect(try newPrice(american) == dollars)
        let plan = try play.store.catalog.subscription("premium").plan("monthly")
        #expect(plan.price(in: "KR").micros == 15_000_000_000)
        #expect(plan.price(in: "US").micros == 12_990_000)
    }

    @Test
    func aPendingPaymentThatIsNotMadeNeverGivesAnything() throws {
        let play = try PlayFixture()
        let account = try play.act("account", "", #"{"payment": "cash"}"#)["id"]?.text ?? ""
        let token = try play.buy(
            #"{"product_id": "premium", "account": "\#(account)"}"#,
            acknowledged: false
        )
        #expect(try play.state(token) == "PENDING")
        #expect(try play.read(token)["startTime"] == nil)
        #expect(try play.read(token)["lineItems"]?.list?[0]["expiryTime"] == nil)
        play.advance(days: 4)
        #expect(try play.state(token) == "PENDING_PURCHASE_CANCELED")
        #expect(play.hints(token) == [20])
        #expect(play.store.orders.all.map(\.state) == [.canceled])
    }

    @Test
    func holdSuspendsAddOnsAndGivesTheirTimeBack() throws {
        let play = try PlayFixture()
        let account = try play.act("account")["id"]?.text ?? ""
        let first = try play.buy(
            #"{"product_id": "premium", "base_plan_id": "strict", "account": "\#(account)"}"#
        )
        // The add-on's own month ends later than the base plan's.
        var subscription = try play.store.subscription(first)
        let product = try play.store.catalog.subscription("sports")
        var addOn = SubscriptionItem(
            product,
            plan: product.basePlans[0],
            offer: nil,
            region: "US"
        )
        _ = addOn.begin(
            at: play.now + 10 * PlayFixture.day,
            order: "GPA.1",
            durations: Durations(isTester: false)
        )
        addOn.plan.gracePeriod = BillingPeriod(0, .day)
        subscription.items.append(addOn)
        play.store.put(subscription, at: play.now)
        try play.act("set-account", account, #"{"payment": "declines"}"#)
        play.advance(days: 33)
        #expect(try play.state(first) == "ON_HOLD")
        #expect(try play.expiry(first, 1) <= play.now)
        play.advance(days: 60)
        #expect(try play.state(first) == "CANCELED")
        #expect(try play.expiry(first, 0) < play.now)
        #expect(try play.expiry(first, 1) > play.now)
        play.advance(days: 30)
        #expect(try play.state(first) == "EXPIRED")
    }

    @Test
    func sixtyDaysAfterItsEndATokenIsGone() throws {
        let play = try PlayFixture()
        let token = try play.buy(Self.premium)
        try play.act("cancel", token)
        play.advance(days: 31 + 59)
        #expect(try play.state(token) == "EXPIRED")
        play.advance(days: 2)
        #expect(throws: APIError.subscriptionGone) { try play.read(token) }
    }

    @Test
    func resubscribedInPlayItSaysWhoItWasUntilAcknowledged() throws {
        let play = try PlayFixture()
        let old = try play.buy(
            #"{"product_id": "premium", "obfuscated_account_id": "customer"}"#
        )
        try play.act("cancel", old)
        play.advance(days: 40)
        let new = try play.act("resubscribe", old)["purchase_token"]?.text ?? ""
        let read = try play.read(new)
        #expect(read["linkedPurchaseToken"] == nil)
        #expect(read["externalAccountIdentifiers"] == nil)
        let context = read["outOfAppPurchaseContext"]
        #expect(context?["expiredPurchaseToken"]?.text == old)
        let ids = context?["expiredExternalAccountIdentifiers"]
        #expect(ids?["obfuscatedExternalAccountId"]?.text == "customer")
        try play.call(
            "POST",
            "purchases/subscriptions/premium/tokens/\(new):acknowledge",
            ["externalAccountIds": ["obfuscatedAccountId": "customer"]]
        )
        #expect(try play.read(new)["outOfAppPurchaseContext"] == nil)
        let known = try play.read(new)["externalAccountIdentifiers"]
        #expect(known?["obfuscatedExternalAccountId"]?.text == "customer")
        // The answer was lost, so the server asks again.
        try play.call(
            "POST",
            "purchases/subscriptions/premium/tokens/\(new):acknowledge",
            ["externalAccountIds": ["obfuscatedAccountId": "customer"]]
        )
        #expect(throws: APIError.self) {
            try play.call(
                "POST",
                "purchases/subscriptions/premium/tokens/\(new):acknowledge",
                ["externalAccountIds": ["obfuscatedAccountId": "another"]]
            )
        }
    }
}
