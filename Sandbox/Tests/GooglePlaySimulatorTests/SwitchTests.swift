import Foundation
import Testing

@testable import GooglePlaySimulator

/// One switch for each thing that Google's documentation leaves open.
@Suite("Switches of Google Play")
struct SwitchTests {
    @Test("Orders can be found for ever, or for some days")
    func orders() throws {
        let play = try PlayFixture()
        _ = try play.buy(#"{"product_id": "level"}"#)
        let id = try #require(play.store.orders.all.first?.id)
        play.advance(days: 400)
        _ = try play.call("GET", "orders/\(id)")
        play.store.behaviour.orderDays = 365
        #expect(throws: APIError.self) { try play.call("GET", "orders/\(id)") }
        #expect(throws: APIError.self) {
            try play.call("GET", "orders:batchGet", query: [("orderIds", id)])
        }
    }

    @Test("Orders may have a quota of the day")
    func ordersOfADay() throws {
        var quotas = Quotas()
        for minute in 0..<3 as Range<Int64> {
            try quotas.draw(.orders, seconds: minute * 60, ordersPerDay: 3)
        }
        #expect(throws: APIError.rateLimited) {
            try quotas.draw(.orders, seconds: 300, ordersPerDay: 3)
        }
        try quotas.draw(.subscriptions, seconds: 300, ordersPerDay: 3)
        try quotas.draw(.orders, seconds: 86_400, ordersPerDay: 3)
    }

    @Test("A deferred replacement states its start, or none until it takes effect")
    func deferred() throws {
        let play = try PlayFixture()
        play.store.behaviour.deferredReplacementHasNoStart = true
        let old = try play.buy(#"{"product_id": "premium"}"#)
        #expect(try play.read(old)["startTime"] != nil)
        let changed = try play.act(
            "change",
            old,
            #"{"product_id": "basic", "replacement_mode": "DEFERRED"}"#
        )
        let new = try #require(changed["purchase_token"]?.text)
        try play.act("acknowledge", new)
        #expect(try play.read(new)["startTime"] == nil)
        play.advance(days: 32)
        #expect(try play.read(new)["startTime"] != nil)
    }

    @Test("An item that is revoked alone is told by its order, or in the list of voids too")
    func revokedItem() throws {
        for isListed in [false, true] {
            let play = try PlayFixture()
            play.store.behaviour.revokedItemIsListed = isListed
            let token = try play.buy(#"{"product_id": "premium", "add_ons": "sports"}"#)
            try play.call(
                "POST",
                "purchases/subscriptionsv2/tokens/\(token):revoke",
                ["revocationContext": ["itemBasedRefund": ["productId": "sports"]]]
            )
            #expect(play.store.orders.all.map(\.state) == [.partiallyRefunded])
            #expect(play.store.voided.count == (isListed ? 1 : 0))
        }
    }

    @Test(
        "A release that is moved concerns what was ordered before, or only later orders",
        arguments: [
            ("followed", 40.0, 40.0), ("unread", 17.0, 40.0), ("new_orders_only", 17.0, 17.0),
        ]
    )
    func movedRelease(_ name: String, isReadOn readDay: Double, isPaidOn day: Double) throws {
        let play = try PlayFixture()
        play.store.behaviour.movedRelease = try #require(Behaviour.MovedRelease(rawValue: name))
        let order = #"{"product_id": "game", "offer_id": "early"}"#
        let token = try play.buy(order, acknowledged: false)
        let told = play.told.count
        let later = PlayFixture.start + 40 * PlayFixture.day
        let moved = try play.act(
            "move-release",
            "game",
            #"{"offer_id": "early", "release_time": \#(later)}"#
        )
        #expect(moved["purchases"]?.list?.count == (name == "new_orders_only" ? 0 : 1))
        #expect(play.told.count == told)
        func release(_ token: String) throws -> Int64? {
            let read = try play.call("GET", "purchases/productsv2/tokens/\(token)")
            let line = read?["productLineItem"]?.list?.first?["productOfferDetails"]
            return line?["preorderOfferDetails"]?["preorderReleaseTime"]?.text
                .flatMap(Timestamp.parse)
        }
        func state() throws -> String? {
            let read = try play.call("GET", "purchases/productsv2/tokens/\(token)")
            return read?["purchaseStateContext"]?["purchaseState"]?.text
        }
        #expect(try release(token) == PlayFixture.start + Int64(readDay) * PlayFixture.day)
        #expect(try release(play.buy(order, acknowledged: false)) == later)
        let offers = try play.call("GET", "oneTimeProducts/game/purchaseOptions/buy/offers")
        let offer = offers?["oneTimeProductOffers"]?.list?.first
        #expect(offer?["preOrderOffer"]?["releaseTime"]?.text == Timestamp.text(later))

        play.advance(days: day - 0.1)
        #expect(try state() == "PENDING")
        play.advance(days: 0.2)
        #expect(try state() == "PURCHASED")
    }

    @Test("Only the release of a pre-order that is not out yet is moved, and into the future")
    func unmovableRelease() throws {
        let play = try PlayFixture()
        func move(_ product: String, _ offer: String, _ time: Int64) throws {
            let body = #"{"offer_id": "\#(offer)", "release_time": \#(time)}"#
            try play.act("move-release", product, body)
        }
        let later = PlayFixture.start + 40 * PlayFixture.day
        for time in [PlayFixture.start, 0, -1, .max] {
            #expect(throws: Refusal.self) { try move("game", "early", time) }
        }
        #expect(throws: Refusal.self) { try move("game", "late", later) }
        #expect(throws: Refusal.self) { try move("level", "early", later) }
        play.advance(days: 18)
        #expect(throws: Refusal.self) { try move("game", "early", later) }
    }

    @Test("Messages may have an ordering key")
    func orderingKeys() {
        let message = PubSubMessage(id: "1", data: "{}", publishedAt: 0)
        var behaviour = Behaviour()
        #expect(message.wire(behaviour, isPushed: true)["orderingKey"] == nil)
        behaviour.setsOrderingKeys = true
        #expect(message.wire(behaviour, isPushed: true)["orderingKey"]?.text != nil)
    }

    @Test("What the app shows names the account, or does not")
    func signedPurchase() throws {
        let play = try PlayFixture()
        let token = try play.buy(
            #"{"product_id": "level", "obfuscated_account_id": "customer"}"#
        )
        let key = try SigningIdentity.make(commonName: "licence", keyID: "licence")
        func original() throws -> String {
            try DevicePurchase.signed(token, play.store, by: key)["original_json"]?.text ?? ""
        }
        #expect(try original().contains("obfuscatedAccountId"))
        play.store.behaviour.signedPurchaseNamesAccount = false
        #expect(try !original().contains("obfuscatedAccountId"))
    }
}
