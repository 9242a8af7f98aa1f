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
