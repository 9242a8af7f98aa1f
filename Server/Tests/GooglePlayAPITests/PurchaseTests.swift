import StrictJSON
import Testing

@testable import GooglePlayAPI

@Suite("Purchases as Google states them")
struct PurchaseTests {
    @Test("A subscription in grace names its account, its plan, its end and the order that failed")
    func subscriptionInGrace() throws {
        let purchase = try GooglePlay.SubscriptionPurchase(
            json(
                """
                {"kind":"androidpublisher#subscriptionPurchaseV2","startTime":"2026-01-31T08:00:00Z",
                 "regionCode":"DE","subscriptionState":"SUBSCRIPTION_STATE_IN_GRACE_PERIOD",
                 "linkedPurchaseToken":"before","acknowledgementState":"ACKNOWLEDGEMENT_STATE_PENDING",
                 "inGracePeriodStateContext":{"renewalDeclined":{"pendingOrderId":"GPA.1-2-3-4..1"}},
                 "externalAccountIdentifiers":{"obfuscatedExternalAccountId":"account-1"},
                 "lineItems":[{"productId":"pro","expiryTime":"2026-03-03T08:00:00.123456789Z",
                   "latestSuccessfulOrderId":"GPA.1-2-3-4..0",
                   "autoRenewingPlan":{"autoRenewEnabled":true,
                     "recurringPrice":{"currencyCode":"EUR","units":"9","nanos":990000000}},
                   "offerDetails":{"basePlanId":"monthly","offerTags":["launch"]},
                   "offerPhase":{"basePrice":{}}}],
                 "etag":"e1","testPurchase":{},"aFieldOfTomorrow":[1]}
                """
            )
        )
        #expect(purchase.state == .inGracePeriod)
        #expect(purchase.startTime == 1_769_846_400_000)
        #expect(purchase.obfuscatedAccountID == "account-1")
        #expect(purchase.linkedPurchaseToken == "before")
        #expect(purchase.acknowledgementState == .pending)
        #expect(purchase.pendingOrderID == "GPA.1-2-3-4..1")
        #expect(purchase.isTest)
        let item = try #require(purchase.lineItems.first)
        #expect(item.productID == "pro" && item.basePlanID == "monthly" && item.offerID == nil)
        #expect(item.expiryTime == 1_772_524_800_123)
        #expect(item.phase == .basePrice)
        #expect(item.autoRenewingPlan?.autoRenewEnabled == true)
        #expect(item.autoRenewingPlan?.recurringPrice?.micros == 9_990_000)
    }

    @Test("Empty objects mean something: who cancelled, a test purchase, a deferred removal")
    func emptyObjects() throws {
        func cancelled(_ context: String) throws -> GooglePlay.SubscriptionPurchase.Cancellation? {
            try GooglePlay.SubscriptionPurchase(
                json(
                    """
                    {"subscriptionState":"SUBSCRIPTION_STATE_CANCELED","canceledStateContext":\(context)}
                    """
                )
            ).cancellation
        }
        #expect(try cancelled(#"{"replacementCancellation":{}}"#) == .replacement)
        #expect(try cancelled(#"{"systemInitiatedCancellation":{}}"#) == .system)
        #expect(try cancelled(#"{"developerInitiatedCancellation":{}}"#) == .developer)
        #expect(try cancelled(#"{"userInitiatedCancellation":{}}"#) == .user(at: nil))
        #expect(try cancelled(#"{"somethingNew":{}}"#) == .unknown)
    }

    @Test("A deferred item has no end yet, and the old one says what follows it")
    func deferredReplacement() throws {
        let purchase = try GooglePlay.SubscriptionPurchase(
            json(
                """
                {"subscriptionState":"SUBSCRIPTION_STATE_ACTIVE","lineItems":[
                  {"productId":"pro","expiryTime":"2026-02-01T00:00:00Z",
                   "deferredItemReplacement":{"productId":"basic"},"autoRenewingPlan":{}},
                  {"productId":"basic","autoRenewingPlan":{"autoRenewEnabled":true},
                   "itemReplacement":{"productId":"pro","replacementMode":"DEFERRED"}}]}
                """
            )
        )
        #expect(purchase.lineItems.map(\.expiryTime) == [1_769_904_000_000, nil])
        #expect(purchase.lineItems[0].deferredReplacementProductID == "basic")
        #expect(purchase.lineItems[0].autoRenewingPlan?.autoRenewEnabled == false)
        #expect(purchase.lineItems[1].replaced?.mode == .deferred)
    }

    @Test("A bundle of one-time products has a quantity for each, and no order for a promo code")
    func products() throws {
        let purchase = try GooglePlay.ProductPurchase(
            json(
                """
                {"purchaseStateContext":{"purchaseState":"PURCHASED"},
                 "purchaseCompletionTime":"2026-05-01T12:00:00Z","testPurchaseContext":{"fopType":"TEST"},
                 "productLineItem":[
                   {"productId":"coins","productOfferDetails":{"quantity":10,"refundableQuantity":7,
                     "consumptionState":"CONSUMPTION_STATE_CONSUMED"}},
                   {"productId":"film","productOfferDetails":{"rentOfferDetails":{}}}]}
                """
            )
        )
        #expect(purchase.state == .purchased && purchase.orderID == nil && purchase.isTest)
        #expect(purchase.lineItems.map(\.quantity) == [10, 1])
        #expect(purchase.lineItems.map(\.refundableQuantity) == [7, nil])
        #expect(purchase.lineItems.map(\.isConsumed) == [true, false])
        #expect(purchase.lineItems.map(\.isRented) == [false, true])
    }

    @Test("An order states its period, its money and refunds by amount")
    func order() throws {
        let order = try GooglePlay.Order(
            json(
                """
                {"orderId":"GPA.1-2-3-4..0","purchaseToken":"t","state":"PARTIALLY_REFUNDED",
                 "createTime":"2026-02-01T00:00:00Z","total":{"currencyCode":"JPY","units":"980"},
                 "tax":{"currencyCode":"JPY","units":"89"},
                 "developerRevenueInBuyerCurrency":{"currencyCode":"JPY","units":"757","nanos":350000000},
                 "orderDetails":{"taxInclusive":true},"buyerAddress":{"buyerCountry":"JP"},
                 "orderHistory":{"processedEvent":{"eventTime":"2026-02-01T00:00:05Z"},
                   "partialRefundEvents":[{"createTime":"2026-02-03T00:00:00Z",
                     "state":"PROCESSED_SUCCESSFULLY",
                     "refundDetails":{"total":{"currencyCode":"JPY","units":"100"}}}]},
                 "lineItems":[{"productId":"pro","subscriptionDetails":{"basePlanId":"monthly",
                   "servicePeriodStartTime":"2026-02-01T00:00:00Z",
                   "servicePeriodEndTime":"2026-03-01T00:00:00Z"}}]}
                """
            )
        )
        #expect(order.state == .partiallyRefunded && order.isTaxInclusive)
        #expect(order.total?.micros == 980_000_000 && order.developerRevenue?.micros == 757_350_000)
        #expect(order.lineItems[0].subscription?.end == 1_772_323_200_000)
        #expect(order.partialRefunds.map { $0.total?.micros } == [100_000_000])
        #expect(order.partialRefunds[0].isProcessed && order.refund == nil)
    }

    @Test("Codes of voided purchases are read as numbers and as strings")
    func voided() throws {
        let page = try GooglePlay.VoidedPurchases(
            json(
                """
                {"voidedPurchases":[
                  {"purchaseToken":"t","orderId":"o","voidedTimeMillis":"1769904000000",
                   "voidedSource":"1","voidedReason":7,"voidedQuantity":3},
                  {"purchaseToken":"t","orderId":"o","voidedTimeMillis":1769904000001}],
                 "tokenPagination":{"nextPageToken":"n"}}
                """
            )
        )
        #expect(page.voidedPurchases.map(\.source) == [1, nil])
        #expect(page.voidedPurchases.map(\.reason) == [7, nil])
        #expect(page.voidedPurchases.map(\.quantity) == [3, nil])
        #expect(page.nextPageToken == "n")
    }

    @Test(
        "A field of the wrong type is an error that names it",
        arguments: [
            (#"{}"#, "subscriptionState"),
            (#"{"subscriptionState":"X","startTime":"yesterday"}"#, "startTime"),
            (#"{"subscriptionState":"X","lineItems":[{}]}"#, "productId"),
            (#"{"subscriptionState":"X","lineItems":{}}"#, "lineItems"),
            (
                #"{"subscriptionState":"X","lineItems":[{"productId":"p","autoRenewingPlan":{"recurringPrice":{"currencyCode":"EUR","units":"1","nanos":-1}}}]}"#,
                "units"
            ),
        ]
    )
    func wrongTypes(_ text: String, _ field: String) throws {
        let error = #expect(throws: GooglePlay.DecodingError.self) {
            try GooglePlay.SubscriptionPurchase(json(text))
        }
        #expect(error?.field == field)
    }

    @Test(
        "Timestamps are read to the millisecond, and nothing else is one",
        arguments: [
            ("1970-01-01T00:00:00Z", 0), ("2024-02-29T23:59:59.999999999Z", 1_709_251_199_999),
            ("2026-11-25T09:00:00.5Z", 1_795_597_200_500), ("2026-02-29T00:00:00Z", nil),
            ("2026-13-01T00:00:00Z", nil), ("2026-01-01T24:00:00Z", nil),
            ("2026-01-01T00:00:00+01:00", nil), ("2026-01-01 00:00:00Z", nil),
            ("2026-01-01T00:00:00.Z", nil), ("2026-01-01T00:00:00.1234567890Z", nil), ("", nil),
        ] as [(String, Int64?)]
    )
    func timestamps(_ text: String, _ expected: Int64?) {
        #expect(Timestamp.milliseconds(of: text) == expected)
        if let expected {
            #expect(Timestamp.milliseconds(of: Timestamp.text(of: expected)) == expected)
        }
    }
}

func json(_ text: String) throws -> JSON {
    try JSON(Array(text.utf8))
}
