import Foundation
import Testing

@testable import GooglePlaySimulator

/// One-time products, their orders and what is taken back.
struct OneTimeStoryTests {
    private func read(_ play: PlayFixture, _ token: String) throws -> JSON {
        try play.call("GET", "purchases/productsv2/tokens/\(token)") ?? .null
    }

    private func state(_ play: PlayFixture, _ token: String) throws -> String? {
        try read(play, token)["purchaseStateContext"]?["purchaseState"]?.text
    }

    @Test
    func aConsumableIsBoughtAgainOnceItIsConsumed() throws {
        let play = try PlayFixture()
        let account = try play.act("account")["id"]?.text ?? ""
        let buy = #"{"product_id": "coins", "account": "\#(account)"}"#
        let token = try play.buy(buy, acknowledged: false)
        #expect(throws: Refusal.self) { try play.act("buy", "", buy) }
        try play.call("POST", "purchases/products/coins/tokens/\(token):consume")
        let read = try read(play, token)
        #expect(read["acknowledgementState"]?.text == "ACKNOWLEDGEMENT_STATE_ACKNOWLEDGED")
        try play.act("buy", "", buy)
        #expect(throws: TokenCheck.notOwned) {
            try play.call("POST", "purchases/products/coins/tokens/\(token):consume")
        }
    }

    @Test
    func piecesGoBackInPartsAndTheLastOnesAreTheRest() throws {
        let play = try PlayFixture()
        let token = try play.buy(#"{"product_id": "coins", "quantity": 10}"#)
        for pieces in [2, 3] {
            try play.act("refund-pieces", token, #"{"quantity": \#(pieces)}"#)
        }
        #expect(try state(play, token) == "PURCHASED")
        try play.act("refund-pieces", token, #"{"quantity": 5}"#)
        #expect(try state(play, token) == "CANCELLED")
        #expect(play.store.voided.map(\.quantity) == [2, 3, nil])
        let types = play.told.compactMap { announcement -> Int64? in
            guard case .voided(let voided) = announcement.kind else { return nil }
            return voided["refundType"]?.whole
        }
        #expect(types == [2, 2, 1])
        let order = play.store.orders.all[0]
        #expect(order.state == .refunded && order.kept.isNothing)
    }

    @Test
    func thePartsAreListedOnlyWhenAskedFor() throws {
        let play = try PlayFixture()
        let token = try play.buy(#"{"product_id": "coins", "quantity": 4}"#)
        try play.act("refund-pieces", token, #"{"quantity": 1}"#)
        let path = "purchases/voidedpurchases"
        #expect(try play.call("GET", path)?["voidedPurchases"] == nil)
        let all = try play.call(
            "GET",
            path,
            query: [("includeQuantityBasedPartialRefund", "true")]
        )
        #expect(all?["voidedPurchases"]?.list?.first?["voidedQuantity"]?.whole == 1)
        play.advance(days: 31)
        let later = try play.call(
            "GET",
            path,
            query: [("includeQuantityBasedPartialRefund", "true")]
        )
        #expect(later?["voidedPurchases"] == nil)
    }

    @Test
    func theListRefusesTimesThatGoogleRefuses() throws {
        let play = try PlayFixture()
        func list(_ name: String, _ time: Int64) throws -> JSON? {
            try play.call("GET", "purchases/voidedpurchases", query: [(name, String(time))])
        }
        #expect(try list("endTime", play.now) != nil)
        #expect(try list("startTime", play.now - 30 * Timestamp.day) != nil)
        #expect(throws: APIError.self) { try list("endTime", play.now + 1) }
        #expect(throws: APIError.self) { try list("startTime", play.now - 30 * Timestamp.day - 1) }
    }

    @Test
    func aPromoCodeHasNoOrder() throws {
        let play = try PlayFixture()
        let token = try play.buy(#"{"product_id": "level", "promotion": "ABC"}"#)
        #expect(try read(play, token)["orderId"] == nil)
        let v1 = try play.call("GET", "purchases/products/level/tokens/\(token)")
        #expect(v1?["purchaseType"]?.whole == 1)
        #expect(play.store.orders.all.isEmpty)
        try play.act("revoke", token)
        let void = play.told.compactMap { announcement -> JSON? in
            guard case .voided(let voided) = announcement.kind else { return nil }
            return voided
        }
        #expect(void == [["purchaseToken": .string(token), "productType": 2, "refundType": 1]])
        let listed = try play.call("GET", "purchases/voidedpurchases")?["voidedPurchases"]?.list
        #expect(listed?.map { $0["orderId"] } == [nil])
    }

    @Test
    func theThreeDaysBeginWhenAPendingPurchaseIsPaid() throws {
        let play = try PlayFixture()
        let account = try play.act("account", "", #"{"payment": "cash"}"#)["id"]?.text ?? ""
        let token = try play.buy(
            #"{"product_id": "level", "account": "\#(account)"}"#,
            acknowledged: false
        )
        #expect(try state(play, token) == "PENDING")
        play.advance(days: 2)
        try play.act("pay", token)
        play.advance(days: 2.9)
        #expect(try state(play, token) == "PURCHASED")
        play.advance(days: 0.2)
        #expect(try state(play, token) == "CANCELLED")
        #expect(play.store.voided.map(\.reason) == [.unacknowledged])
    }

    @Test
    func aPreOrderIsPendingUntilItComesOut() throws {
        let play = try PlayFixture()
        let token = try play.buy(
            #"{"product_id": "game", "offer_id": "early"}"#,
            acknowledged: false
        )
        #expect(try state(play, token) == "PENDING")
        play.advance(days: 18)
        #expect(try state(play, token) == "PURCHASED")
    }

    @Test
    func aRentalSaysNothingOfItsEnd() throws {
        let play = try PlayFixture()
        let token = try play.buy(#"{"product_id": "film"}"#)
        let line = try read(play, token)["productLineItem"]?.list?.first
        #expect(line?["productOfferDetails"]?["rentOfferDetails"] == [:])
    }

    @Test
    func aRefundWithoutRevokeShowsInTheOrderAlone() throws {
        let play = try PlayFixture()
        let token = try play.buy(#"{"product_id": "premium"}"#)
        let order = play.store.orders.of(token)[0].id
        let before = play.told.count
        try play.call("POST", "orders/\(order):refund")
        #expect(try play.state(token) == "ACTIVE")
        #expect(play.store.orders[order]?.state == .refunded)
        #expect(play.told.count == before && play.store.voided.isEmpty)
    }

    @Test
    func onlyTheLatestOrderTakesAccessWithIt() throws {
        let play = try PlayFixture()
        let token = try play.buy(#"{"product_id": "premium"}"#)
        play.advance(days: 40)
        let orders = play.store.orders.of(token).map(\.id)
        try play.call("POST", "orders/\(orders[0]):refund", query: [("revoke", "true")])
        #expect(try play.state(token) == "ACTIVE")
        try play.call("POST", "orders/\(orders[1]):refund", query: [("revoke", "true")])
        #expect(try play.state(token) == "EXPIRED")
        #expect(play.store.voided.map(\.orderID) == [orders[1]])
    }

    @Test
    func anOldOrderIsChargedBackAndTheSubscriptionGoesOn() throws {
        let play = try PlayFixture()
        let token = try play.buy(#"{"product_id": "premium"}"#)
        play.advance(days: 40)
        let old = play.store.orders.of(token)[0].id
        try play.act("charge-back", old)
        #expect(try play.state(token) == "ACTIVE")
        #expect(play.store.voided.map(\.orderID) == [old])
    }

    @Test(arguments: ["DECLINE", "APPROVE", "NEUTRAL", nil])
    func aRefundThatIsReviewedWaitsADay(_ preference: String?) throws {
        let play = try PlayFixture()
        let token = try play.buy(#"{"product_id": "premium"}"#)
        let order = play.store.orders.of(token)[0].id
        let review = try play.act("review-refund", order)["pending_refund_token"]?.text
        #expect(play.store.orders[order]?.state == .pendingRefund)
        if let preference {
            try play.call(
                "POST",
                "orders/\(order):reviewrefund",
                [
                    "pendingRefundToken": .text(review), "sampleContentProvided": false,
                    "refundPreference": .string(preference),
                ]
            )
        }
        play.advance(days: 1.1)
        let isKept = preference == "DECLINE"
        #expect(try play.state(token) == (isKept ? "ACTIVE" : "EXPIRED"))
        #expect(play.store.orders[order]?.state == (isKept ? .processed : .refunded))
    }

    @Test
    func aDeclinedRefundLeavesWhatWasRefundedInPart() throws {
        let play = try PlayFixture()
        let token = try play.buy(#"{"product_id": "premium"}"#)
        let order = play.store.orders.of(token)[0].id
        try play.act("refund", order, #"{"amount_micros": 1000000}"#)
        let review = try play.act("review-refund", order)["pending_refund_token"]?.text
        play.advance(days: 0.5)
        try play.call(
            "POST",
            "orders/\(order):reviewrefund",
            [
                "pendingRefundToken": .text(review), "sampleContentProvided": false,
                "refundPreference": "DECLINE",
            ]
        )
        #expect(play.store.orders[order]?.state == .partiallyRefunded)
        #expect(play.store.orders[order]?.lastEventAt == play.now)
    }

    @Test
    func aStaleReadShowsWhatWasBefore() throws {
        let play = try PlayFixture()
        play.store.behaviour.staleReads = 2
        let token = try play.act("buy", "", #"{"product_id": "premium"}"#)["purchase_token"]?.text
        for _ in 0..<2 {
            #expect(throws: APIError.tokenNotFound) { try play.read(token ?? "") }
        }
        #expect(try play.state(token ?? "") == "ACTIVE")
    }

    @Test
    func aReadLagsByAMinuteAtMost() throws {
        let play = try PlayFixture()
        play.store.behaviour.staleReads = 2
        let token = try play.act("buy", "", #"{"product_id": "premium"}"#)["purchase_token"]?.text
        #expect(throws: APIError.tokenNotFound) { try play.read(token ?? "") }
        play.advance(days: 60.0 / 86_400)
        #expect(try play.state(token ?? "") == "ACTIVE")
    }
}
