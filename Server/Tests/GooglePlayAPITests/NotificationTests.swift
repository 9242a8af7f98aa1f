import StrictJSON
import Testing

@testable import GooglePlayAPI

@Suite("Hints from Pub/Sub")
struct NotificationTests {
    @Test("The time of an event is read as a string and as a number")
    func eventTime() throws {
        for time in ["1769904000000", "\"1769904000000\""] {
            let hint = try GooglePlay.DeveloperNotification(
                json(
                    """
                    {"version":"1.0","packageName":"com.example.app","eventTimeMillis":\(time),
                     "subscriptionNotification":{"version":"1.0","notificationType":4,"purchaseToken":"t"}}
                    """
                )
            )
            #expect(hint.eventTime == 1_769_904_000_000)
            guard case .subscription(let purchase) = hint.content else {
                Issue.record("a subscription's")
                continue
            }
            #expect(purchase.type == 4 && purchase.purchaseToken == "t")
            #expect(purchase.productID == nil)
        }
    }

    @Test("A type that Google adds later is read: what is true says the purchase")
    func unknownType() throws {
        let hint = try GooglePlay.DeveloperNotification(
            json(
                """
                {"packageName":"com.example.app","eventTimeMillis":"1",
                 "oneTimeProductNotification":{"notificationType":23,"purchaseToken":"t","sku":"coins"}}
                """
            )
        )
        guard case .oneTimeProduct(let purchase) = hint.content else {
            Issue.record("a one-time product's")
            return
        }
        #expect(purchase.type == 23 && purchase.productID == "coins")
    }

    @Test("A void names its order, and a review of a refund its token")
    func voidAndReview() throws {
        let void = try GooglePlay.DeveloperNotification(
            json(
                """
                {"packageName":"com.example.app","eventTimeMillis":"1","voidedPurchaseNotification":
                 {"purchaseToken":"t","orderId":"GPA.1..0","productType":1,"refundType":2}}
                """
            )
        )
        guard case .voidedPurchase(let voided) = void.content else {
            Issue.record("a void")
            return
        }
        #expect(voided.orderID == "GPA.1..0" && voided.isSubscription && voided.isPartial)
        let review = try GooglePlay.DeveloperNotification(
            json(
                """
                {"packageName":"com.example.app","eventTimeMillis":"1",
                 "pendingRefundReviewNotification":{"pendingRefundToken":"r","orderId":"o",
                 "refundReason":7,"obfuscatedAccountId":"a"}}
                """
            )
        )
        guard case .pendingRefundReview(let pending) = review.content else {
            Issue.record("a review")
            return
        }
        #expect(pending.pendingRefundToken == "r" && pending.reason == 7)
    }

    @Test(
        "What says nothing, or two things at once, is no notification",
        arguments: [
            #"{"packageName":"p","eventTimeMillis":"1"}"#,
            #"{"packageName":"p","eventTimeMillis":"1","testNotification":{},"subscriptionNotification":{"notificationType":1,"purchaseToken":"t"}}"#,
            #"{"packageName":"p","testNotification":{}}"#,
            #"{"eventTimeMillis":"1","testNotification":{}}"#,
            #"{"packageName":"p","eventTimeMillis":"1","subscriptionNotification":{"notificationType":1}}"#,
            #"[]"#,
        ]
    )
    func unusable(_ text: String) {
        #expect(throws: GooglePlay.DecodingError.self) {
            try GooglePlay.DeveloperNotification(json(text))
        }
    }

    @Test("A push has an id, a subscription and content in base64, which may be empty")
    func push() throws {
        let push = try GooglePlay.PubSubMessage(
            push: json(
                """
                {"message":{"data":"eyJhIjoxfQ==","messageId":"136969346945",
                 "publishTime":"2026-02-01T00:00:00.5Z"},"subscription":"projects/p/subscriptions/s"}
                """
            )
        )
        #expect(push.id == "136969346945" && push.data == Array(#"{"a":1}"#.utf8))
        #expect(push.subscription == "projects/p/subscriptions/s")
        let empty = try GooglePlay.PubSubMessage(
            push: json(#"{"message":{"message_id":"1"},"subscription":"s"}"#)
        )
        #expect(empty.id == "1" && empty.data.isEmpty)
        for broken in [
            #"{"subscription":"s"}"#,
            #"{"message":{"messageId":"1","data":"?"},"subscription":"s"}"#,
            #"{"message":{"data":""},"subscription":"s"}"#, #"{"message":{"messageId":"1"}}"#,
        ] {
            #expect(throws: GooglePlay.DecodingError.self) {
                try GooglePlay.PubSubMessage(push: json(broken))
            }
        }
    }
}
