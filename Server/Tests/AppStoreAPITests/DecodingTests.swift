import AppStoreAPI
import Foundation
import StrictJSON
import Testing

/// Every documented field arrives, and what is newer than this code is kept.
@Suite struct DecodingTests {
    private let chain: SigningChain
    private let verifier: AppStore.SignedDataVerifier

    init() throws {
        chain = try SigningChain.make()
        verifier = try Payloads.verifier(chain, environments: [.production, .sandbox])
    }

    private func notification(_ payload: String) throws -> AppStore.Notification {
        let body =
            "{\"signedPayload\":\"\(String(decoding: try chain.sign(payload), as: UTF8.self))\"}"
        return try verifier.verifyNotification(
            signedPayload: try AppStore.NotificationBody(Array(body.utf8)).signedPayload,
            now: Payloads.now
        )
    }

    @Test func aNotificationHasItsTransactionAndRenewalInfo() throws {
        let notification = try notification(Payloads.notification())
        #expect(notification.notificationType == .didRenew)
        #expect(notification.subtype?.rawValue == "BILLING_RECOVERY")
        #expect(
            notification.notificationUUID
                == UUID(uuidString: "002e14d5-51f5-4503-b5a8-c3a1af68eb20")
        )
        #expect(notification.version == "2.0")
        #expect(notification.signedDate == 1_759_999_999_500)
        let data = try #require(notification.data)
        #expect(data.environment == .production)
        #expect(data.appAppleID == Payloads.appAppleID)
        #expect(data.bundleID == Payloads.bundleID)
        #expect(data.bundleVersion == "42")
        #expect(data.status?.rawValue == 1)
        let transaction = try #require(data.transaction)
        #expect(
            String(decoding: transaction.json.rawBytes, as: UTF8.self) == Payloads.transaction()
        )
        #expect(data.renewalInfo?.originalTransactionID == transaction.originalTransactionID)
    }

    @Test func aTransactionHasAllFields() throws {
        let payload = Payloads.transaction([
            "revocationDate": "1759991000000", "revocationReason": "1",
            "revocationType": "\"REFUND_PRORATED\"", "revocationPercentage": "50000",
            "isUpgraded": "true", "offerType": "4", "offerIdentifier": "\"back\"",
            "offerDiscountType": "\"PAY_AS_YOU_GO\"", "offerPeriod": "\"P1M\"",
            "advancedCommerceInfo": "{\"taxCode\":\"C003\"}", "billingPlanType": "\"MONTHLY\"",
            "commitmentInfo":
                "{\"billingPeriodNumber\":3,\"commitmentExpiresDate\":1790000000000,"
                + "\"commitmentPrice\":119880,\"totalBillingPeriods\":12}",
            "previousOriginalTransactionId": "\"7\"",
            "bundleProductId": "\"all\"", "bundleSubscriptionGroupIdentifier": "\"21\"",
            "bundleTransactionId": "\"31\"", "bundleOriginalTransactionId": "\"30\"",
            "additionalTransactionReason": "\"SEAT_ADDITION\"",
            "multiSeatInfo": "{\"invitationManagement\":\"APPLE\",\"revokedSeatQuantity\":2,"
                + "\"priceTiers\":[{\"price\":9990,\"quantity\":5}]}",
            "newerThanThis": "[1]",
        ])
        let transaction = try verifier.verifyTransaction(try chain.sign(payload), now: Payloads.now)
        #expect(transaction.transactionID == "2000000123456790")
        #expect(transaction.originalTransactionID == "2000000123456789")
        #expect(transaction.webOrderLineItemID == "2000000034567890")
        #expect(transaction.bundleID == Payloads.bundleID)
        #expect(transaction.productID == "pro.monthly")
        #expect(transaction.subscriptionGroupIdentifier == "20912345")
        #expect(transaction.purchaseDate == 1_759_990_000_000)
        #expect(transaction.originalPurchaseDate == 1_757_398_000_000)
        #expect(transaction.expiresDate == 1_762_582_000_000)
        #expect(transaction.quantity == 1)
        #expect(transaction.type == .autoRenewableSubscription)
        #expect(
            transaction.appAccountToken == UUID(uuidString: "7e3fb20b-4cdb-47cc-936d-99d65f608138")
        )
        #expect(transaction.inAppOwnershipType == .purchased)
        #expect(transaction.signedDate == 1_759_999_999_000)
        #expect(transaction.revocationDate == 1_759_991_000_000)
        #expect(transaction.revocationReason == .issueInApp)
        #expect(transaction.revocationType?.rawValue == "REFUND_PRORATED")
        #expect(transaction.revocationPercentage == 50000)
        #expect(transaction.isUpgraded == true)
        #expect(transaction.offerType?.rawValue == 4)
        #expect(transaction.offerIdentifier == "back")
        #expect(transaction.offerDiscountType?.rawValue == "PAY_AS_YOU_GO")
        #expect(transaction.offerPeriod == "P1M")
        #expect(transaction.environment == .production)
        #expect(transaction.storefront == "USA")
        #expect(transaction.storefrontID == "143441")
        #expect(transaction.transactionReason?.rawValue == "RENEWAL")
        #expect(transaction.price == 9990)
        #expect(transaction.currency == "USD")
        #expect(transaction.appTransactionID == "704289572311513293")
        #expect(transaction.advancedCommerceInfo?["taxCode"]?.string == "C003")
        #expect(transaction.billingPlanType?.rawValue == "MONTHLY")
        #expect(transaction.commitmentInfo?.billingPeriodNumber == 3)
        #expect(transaction.commitmentInfo?.commitmentExpiresDate == 1_790_000_000_000)
        #expect(transaction.commitmentInfo?.commitmentPrice == 119_880)
        #expect(transaction.commitmentInfo?.totalBillingPeriods == 12)
        #expect(transaction.previousOriginalTransactionID == "7")
        #expect(transaction.invitationManagement == "APPLE")
        #expect(transaction.additionalTransactionReason == "SEAT_ADDITION")
        #expect(transaction.bundleProductID == "all")
        #expect(transaction.bundleSubscriptionGroupIdentifier == "21")
        #expect(transaction.bundleTransactionID == "31")
        #expect(transaction.bundleOriginalTransactionID == "30")
        #expect(transaction.multiSeatInfo?.priceTiers.map(\.price) == [9990])
        #expect(transaction.multiSeatInfo?.priceTiers.map(\.quantity) == [5])
        #expect(transaction.revokedSeatQuantity == 2)
        #expect(transaction.json["newerThanThis"]?.count == 1)
    }

    @Test func seatsAreReadWhereverTheyStand() throws {
        func transaction(_ changes: KeyValuePairs<String, String?>) throws -> AppStore.Transaction {
            let payload = Payloads.transaction(changes)
            return try verifier.verifyTransaction(try chain.sign(payload), now: Payloads.now)
        }
        let bare = try transaction(["revokedSeatQuantity": "3", "invitationManagement": "\"X\""])
        #expect(bare.revokedSeatQuantity == 3 && bare.invitationManagement == "X")
        #expect(bare.multiSeatInfo == nil)
        let tiers = "[{\"price\":1,\"quantity\":1},{\"price\":\"x\"}]"
        let half = try transaction(["multiSeatInfo": "{\"priceTiers\":\(tiers)}"])
        #expect(half.multiSeatInfo?.priceTiers.isEmpty == true)
        let odd = try transaction(["multiSeatInfo": "{\"priceTiers\":7}"])
        #expect(odd.multiSeatInfo?.priceTiers.isEmpty == true && odd.revokedSeatQuantity == nil)
        #expect(try transaction(["multiSeatInfo": "[]"]).multiSeatInfo == nil)
    }

    @Test func renewalInfoHasAllFields() throws {
        let payload = Payloads.renewalInfo([
            "expirationIntent": "2", "isInBillingRetryPeriod": "true",
            "gracePeriodExpiresDate": "1763000000000", "priceIncreaseStatus": "1",
            "offerType": "2", "offerIdentifier": "\"half\"", "offerDiscountType": "\"FREE_TRIAL\"",
            "offerPeriod": "\"P1W\"", "eligibleWinBackOfferIds": "[\"a\",\"b\"]",
            "appAccountToken": "\"7E3FB20B-4CDB-47CC-936D-99D65F608138\"",
            "advancedCommerceInfo": "{}", "renewalBillingPlanType": "\"BILLED_UPFRONT\"",
            "commitmentInfo":
                "{\"commitmentAutoRenewProductId\":\"pro.yearly\",\"commitmentAutoRenewStatus\":0,"
                + "\"commitmentRenewalBillingPlanType\":\"MONTHLY\","
                + "\"commitmentRenewalDate\":1790000000000,\"commitmentRenewalPrice\":5}",
            "renewalQuantity": "4",
        ])
        let info = try verifier.verifyRenewalInfo(try chain.sign(payload), now: Payloads.now)
        #expect(info.originalTransactionID == "2000000123456789")
        #expect(info.productID == "pro.monthly")
        #expect(info.autoRenewProductID == "pro.monthly")
        #expect(info.autoRenewStatus == .on)
        #expect(info.expirationIntent?.rawValue == 2)
        #expect(info.isInBillingRetryPeriod == true)
        #expect(info.gracePeriodExpiresDate == 1_763_000_000_000)
        #expect(info.priceIncreaseStatus?.rawValue == 1)
        #expect(info.offerType?.rawValue == 2)
        #expect(info.offerIdentifier == "half")
        #expect(info.offerDiscountType?.rawValue == "FREE_TRIAL")
        #expect(info.offerPeriod == "P1W")
        #expect(info.renewalDate == 1_762_582_000_000)
        #expect(info.renewalPrice == 9990)
        #expect(info.currency == "USD")
        #expect(info.recentSubscriptionStartDate == 1_757_398_000_000)
        #expect(info.eligibleWinBackOfferIDs == ["a", "b"])
        #expect(info.appAccountToken == UUID(uuidString: "7e3fb20b-4cdb-47cc-936d-99d65f608138"))
        #expect(info.appTransactionID == "704289572311513293")
        #expect(info.environment == .production)
        #expect(info.signedDate == 1_759_999_999_000)
        #expect(info.advancedCommerceInfo?.kind == .object)
        #expect(info.renewalBillingPlanType?.rawValue == "BILLED_UPFRONT")
        #expect(info.commitmentInfo?.autoRenewProductID == "pro.yearly")
        #expect(info.commitmentInfo?.autoRenewStatus?.rawValue == 0)
        #expect(info.commitmentInfo?.renewalBillingPlanType?.rawValue == "MONTHLY")
        #expect(info.commitmentInfo?.renewalDate == 1_790_000_000_000)
        #expect(info.commitmentInfo?.renewalPrice == 5)
        #expect(info.renewalQuantity == 4)
    }

    @Test func anAppTransactionHasAllFields() throws {
        let app = try verifier.verifyAppTransaction(
            try chain.sign(Payloads.appTransaction()),
            now: Payloads.now
        )
        #expect(app.receiptType == .production)
        #expect(app.appAppleID == Payloads.appAppleID)
        #expect(app.bundleID == Payloads.bundleID)
        #expect(app.applicationVersion == "1.2.3")
        #expect(app.versionExternalIdentifier == 512)
        #expect(app.receiptCreationDate == 1_759_999_999_000)
        #expect(app.originalPurchaseDate == 1_757_398_000_000)
        #expect(app.originalApplicationVersion == "1.0")
        #expect(app.deviceVerification == "B0ty41")
        #expect(
            app.deviceVerificationNonce == UUID(uuidString: "48ccfa42-7431-4f22-9908-7e88983e105a")
        )
        #expect(app.preorderDate == 1_757_397_000_000)
        #expect(app.appTransactionID == "704289572311513293")
        #expect(app.originalPlatform?.rawValue == "iOS")
    }

    @Test func aRealtimeRequestHasAllFields() throws {
        let request = try verifier.verifyRealtimeRequest(
            signedPayload: try chain.sign(Payloads.realtimeRequest()),
            now: Payloads.now
        )
        #expect(request.originalTransactionID == "2000000123456789")
        #expect(request.appAppleID == Payloads.appAppleID)
        #expect(request.productID == "pro.monthly")
        #expect(request.userLocale == "en-US")
        #expect(
            request.requestIdentifier == UUID(uuidString: "48ccfa42-7431-4f22-9908-7e88983e105a")
        )
        #expect(request.environment == .production)
        #expect(request.signedDate == 1_759_999_999_000)
        let foreign = Payloads.realtimeRequest().replacing("\(Payloads.appAppleID)", with: "7")
        let signed = try chain.sign(foreign)
        let refused = refusal {
            _ = try verifier.verifyRealtimeRequest(signedPayload: signed, now: Payloads.now)
        }
        #expect(refused?.rule == .appAppleID)
    }

    @Test func theOtherPartsOfNotificationsAreDecoded() throws {
        let identity = "\"bundleId\":\"\(Payloads.bundleID)\",\"appAppleId\":\(Payloads.appAppleID)"
        let summary = try notification(
            Payloads.notification([
                "notificationType": "\"RENEWAL_EXTENSION\"", "subtype": "\"SUMMARY\"", "data": nil,
                "summary":
                    "{\(identity),\"environment\":\"Production\",\"requestIdentifier\":\"r\","
                    + "\"productId\":\"p\",\"storefrontCountryCodes\":[\"USA\",\"JPN\"],"
                    + "\"succeededCount\":5,\"failedCount\":2}",
            ])
        ).summary
        #expect(summary?.requestIdentifier == "r")
        #expect(summary?.productID == "p")
        #expect(summary?.storefrontCountryCodes == ["USA", "JPN"])
        #expect(summary?.succeededCount == 5)
        #expect(summary?.failedCount == 2)

        let token = try notification(
            Payloads.notification([
                "notificationType": "\"EXTERNAL_PURCHASE_TOKEN\"", "subtype": "\"UNREPORTED\"",
                "data": nil,
                "externalPurchaseToken":
                    "{\(identity),\"externalPurchaseId\":\"SANDBOX_b2\","
                    + "\"tokenCreationDate\":1759990000000,\"tokenType\":\"SERVICES\","
                    + "\"tokenExpirationDate\":1769990000000}",
            ])
        ).externalPurchaseToken
        #expect(token?.environment == .sandbox)
        #expect(token?.tokenCreationDate == 1_759_990_000_000)
        #expect(token?.tokenExpirationDate == 1_769_990_000_000)
        #expect(token?.tokenType == "SERVICES")

        let appData = try notification(
            Payloads.notification([
                "notificationType": "\"RESCIND_CONSENT\"", "subtype": nil, "data": nil,
                "appData":
                    "{\(identity),\"environment\":\"Production\",\"signedAppTransactionInfo\":"
                    + "\"\(Payloads.inner(Payloads.appTransaction()))\"}",
            ])
        ).appData
        #expect(appData?.appTransaction?.originalPlatform?.rawValue == "iOS")

        let consumption = try notification(
            Payloads.notification(
                ["notificationType": "\"CONSUMPTION_REQUEST\"", "subtype": nil],
                data: Payloads.data(["consumptionRequestReason": "\"LEGAL\"", "status": nil])
            )
        )
        #expect(consumption.data?.consumptionRequestReason?.rawValue == "LEGAL")
        #expect(consumption.data?.status == nil)
        #expect(consumption.subtype == nil)
    }

    @Test func valuesThatAreNewerThanThisCodeAreKept() throws {
        let data = Payloads.data(
            ["status": "9"],
            transaction: Payloads.transaction(["type": "\"Lease\"", "offerType": "77"])
        )
        let notification = try notification(
            Payloads.notification(
                ["notificationType": "\"NEW_THING\"", "subtype": "\"SO\""],
                data: data
            )
        )
        #expect(notification.notificationType.rawValue == "NEW_THING")
        #expect(notification.subtype?.rawValue == "SO")
        #expect(notification.data?.status?.rawValue == 9)
        #expect(notification.data?.transaction?.type?.rawValue == "Lease")
        #expect(notification.data?.transaction?.offerType?.rawValue == 77)
    }

    @Test func almostEveryFieldMayBeAbsent() throws {
        let least =
            "{\"transactionId\":\"1\",\"signedDate\":1759999999000,\"bundleId\":"
            + "\"\(Payloads.bundleID)\",\"environment\":\"Sandbox\",\"price\":null}"
        let transaction = try verifier.verifyTransaction(try chain.sign(least), now: Payloads.now)
        #expect(transaction.transactionID == "1")
        #expect(transaction.price == nil)
        #expect(transaction.isUpgraded == nil)
    }
}
