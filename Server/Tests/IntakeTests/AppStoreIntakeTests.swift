import AppStoreAPI
import AppStoreConnector
import Foundation
import Stores
import StrictJSON
import Testing
import TollgateCore

@Suite("From Apple's words to facts")
struct AppStoreTranslatorTests {
    static let signed: Int64 = 1_759_999_999_000
    static let key = Purchase.Key(
        store: .appStore,
        environment: .production,
        application: "com.example.app",
        id: "2000000123456789"
    )
    static let uuid = "002e14d5-51f5-4503-b5a8-c3a1af68eb20"

    static func object(_ members: [String: String]) -> String {
        let text = members.sorted { $0.key < $1.key }.map { "\"\($0.key)\":\($0.value)" }
        return "{" + text.joined(separator: ",") + "}"
    }

    static func transaction(_ changes: [String: String?] = [:]) -> String {
        var members: [String: String] = [
            "transactionId": "\"2000000123456790\"",
            "originalTransactionId": "\"2000000123456789\"",
            "webOrderLineItemId": "\"2000000034567890\"", "bundleId": "\"com.example.app\"",
            "productId": "\"pro.monthly\"", "purchaseDate": "1759990000000",
            "expiresDate": "1762582000000", "quantity": "1",
            "type": "\"Auto-Renewable Subscription\"",
            "appAccountToken": "\"7E3FB20B-4CDB-47CC-936D-99D65F608138\"",
            "inAppOwnershipType": "\"PURCHASED\"", "signedDate": "\(signed)",
            "environment": "\"Production\"", "price": "9990", "currency": "\"USD\"",
        ]
        for (name, value) in changes { members[name] = value }
        return object(members)
    }

    static func renewalInfo(_ changes: [String: String?] = [:]) -> String {
        var members: [String: String] = [
            "originalTransactionId": "\"2000000123456789\"",
            "autoRenewProductId": "\"pro.yearly\"", "productId": "\"pro.monthly\"",
            "autoRenewStatus": "1", "signedDate": "1759999999100",
            "environment": "\"Production\"", "renewalDate": "1762582000000",
        ]
        for (name, value) in changes { members[name] = value }
        return object(members)
    }

    /// A signed string; the outer signature covers it, so its own is not looked at here.
    static func inner(_ payload: String) -> String {
        func base64URL(_ bytes: Data) -> String {
            bytes.base64EncodedString().replacingOccurrences(of: "+", with: "-")
                .replacingOccurrences(of: "/", with: "_").replacingOccurrences(of: "=", with: "")
        }
        return "e30.\(base64URL(Data(payload.utf8))).\(base64URL(Data(count: 64)))"
    }

    static func notification(
        _ type: String,
        status: Int? = 1,
        transaction: String? = transaction(),
        renewalInfo: String? = renewalInfo()
    ) throws -> AppStore.Notification {
        var data: [String: String] = [
            "environment": "\"Production\"", "bundleId": "\"com.example.app\"",
        ]
        if let status { data["status"] = "\(status)" }
        if let transaction { data["signedTransactionInfo"] = "\"\(inner(transaction))\"" }
        if let renewalInfo { data["signedRenewalInfo"] = "\"\(inner(renewalInfo))\"" }
        let text = object([
            "notificationType": "\"\(type)\"", "notificationUUID": "\"\(uuid)\"",
            "signedDate": "1759999999500", "version": "\"2.0\"", "data": object(data),
        ])
        return try AppStore.Notification(json: JSON(Array(text.utf8)))
    }

    static func facts(_ message: Translation.Meaning) -> [Fact] {
        if case .facts(let facts, _) = message { facts } else { [] }
    }

    static func period(_ changes: [String: String?] = [:]) throws -> (Purchase.Key, Period)? {
        let transaction = try AppStore.Transaction(json: JSON(Array(transaction(changes).utf8)))
        guard case .facts(let facts, let key) = AppStoreTranslator.message(transaction),
            case .period(let period)? = facts.first?.statement
        else { return nil }
        return (key, period)
    }

    @Test("a notification states the period, the terms and the status, each with its own clock")
    func renewal() throws {
        let message = AppStoreTranslator.message(try Self.notification("DID_RENEW"))
        guard case .facts(let facts, let key) = message else {
            Issue.record("\(message)")
            return
        }
        #expect(key == Self.key)
        let instants = facts.map(\.stated.instant.milliseconds)
        #expect(instants == [Self.signed, 1_759_999_999_100, 1_759_999_999_100])
        #expect(facts.allSatisfy { $0.source == Self.uuid && $0.purchase == key })
        #expect(facts.allSatisfy { !$0.stated.isRead })
        let renewalDate = Instant(milliseconds: 1_762_582_000_000)
        #expect(
            facts.map(\.statement) == [
                .period(
                    Period(
                        id: "2000000034567890",
                        transactionID: "2000000123456790",
                        product: "pro.monthly",
                        kind: .autoRenewable,
                        start: Instant(milliseconds: 1_759_990_000_000),
                        end: renewalDate,
                        token: "7e3fb20b-4cdb-47cc-936d-99d65f608138",
                        price: 9990,
                        currency: "USD"
                    )
                ),
                .renewal(
                    RenewalTerms(
                        willRenew: true,
                        nextProduct: "pro.yearly",
                        renewalDate: renewalDate
                    )
                ),
                .status(SubscriptionStatus(value: 1, reachesTo: renewalDate)),
            ]
        )
    }

    // https://developer.apple.com/documentation/appstoreserverapi/originalpurchasedate
    @Test(
        "what is bought once counts from its original purchase, whenever it was restored",
        arguments: [
            ("Non-Consumable", true), ("Non-Renewing Subscription", true), ("Consumable", true),
            ("Auto-Renewable Subscription", false),
        ]
    )
    func restored(_ type: String, isBoughtOnce: Bool) throws {
        let (_, period) = try #require(
            try Self.period([
                "type": "\"\(type)\"", "originalPurchaseDate": "1752214000000",
                "expiresDate": isBoughtOnce ? nil : "1762582000000",
            ])
        )
        #expect(period.start.milliseconds == (isBoughtOnce ? 1_752_214_000_000 : 1_759_990_000_000))
    }

    @Test("terms: what ends, waits or is tolerated")
    func terms() throws {
        let renewalInfo = Self.renewalInfo([
            "autoRenewStatus": "0", "gracePeriodExpiresDate": "1762900000000",
            "priceIncreaseStatus": "0", "isInBillingRetryPeriod": "true",
            "expirationIntent": "2", "renewalDate": nil,
        ])
        let notification = try Self.notification(
            "DID_FAIL_TO_RENEW",
            status: 4,
            renewalInfo: renewalInfo
        )
        #expect(
            Self.facts(AppStoreTranslator.message(notification)).dropFirst().map(\.statement) == [
                .renewal(
                    RenewalTerms(
                        willRenew: false,
                        nextProduct: "pro.yearly",
                        graceEnd: Instant(milliseconds: 1_762_900_000_000),
                        awaitsConsent: true,
                        isInBillingRetry: true,
                        expirationIntent: 2
                    )
                ),
                .status(SubscriptionStatus(value: 4)),
            ]
        )
    }

    @Test("REFUND_REVERSED is a fact of its own, by the notification's clock")
    func reversal() throws {
        let facts = Self.facts(AppStoreTranslator.message(try Self.notification("REFUND_REVERSED")))
        #expect(facts.last?.statement == .refundReversed(period: "2000000034567890"))
        #expect(facts.last?.stated.instant.milliseconds == 1_759_999_999_500)
        let others = Self.facts(AppStoreTranslator.message(try Self.notification("REFUND")))
        #expect(!others.contains { $0.kind == "refund_reversed" })
    }

    @Test("a refund states its date and its share")
    func refund() throws {
        let (_, period) = try #require(
            try Self.period([
                "revocationDate": "1760000000000", "revocationPercentage": "33333",
                "isUpgraded": "true",
            ])
        )
        #expect(period.revoked == Instant(milliseconds: 1_760_000_000_000))
        #expect(period.revokedShare == 33_333)
        #expect(period.isUpgraded)
    }

    @Test(
        "what renews belongs to its original transaction, all else is on its own",
        arguments: [
            ("Auto-Renewable Subscription", Period.Kind.autoRenewable),
            ("Non-Renewing Subscription", .nonRenewing), ("Non-Consumable", .nonConsumable),
            ("Consumable", .consumable),
        ]
    )
    func kinds(type: String, kind: Period.Kind) throws {
        let (key, period) = try #require(try Self.period(["type": "\"\(type)\""]))
        #expect(period.kind == kind)
        let renews = kind == .autoRenewable
        #expect(key.id == "2000000123456789")
        #expect(period.id == (renews ? "2000000034567890" : "2000000123456789"))
    }

    @Test("a family member's share is one, and the sandbox is its own world")
    func familyAndSandbox() throws {
        let (key, period) = try #require(
            try Self.period([
                "inAppOwnershipType": "\"FAMILY_SHARED\"", "environment": "\"Sandbox\"",
                "appAccountToken": nil, "quantity": "3",
            ])
        )
        #expect(period.isFamilyShared && period.token == nil && period.quantity == 3)
        #expect(key.environment == .sandbox)
    }

    static let seats = [
        "type": "\"Auto-Renewable Subscription\"", "quantity": "8",
        "multiSeatInfo": "{\"invitationManagement\":\"APPLE\",\"priceTiers\":["
            + "{\"price\":9990,\"quantity\":5},{\"price\":7990,\"quantity\":3}]}",
        "price": "9240",
    ]

    @Test("a multiseat purchase is kept by transaction, at what was charged for all seats")
    func multiSeat() throws {
        let (_, period) = try #require(try Self.period(Self.seats))
        #expect(period.id == "2000000034567890@1759990000000")
        #expect(period.quantity == 8 && period.price == 73_920)
        #expect(period.additionalReason == nil && period.revokedSeats == nil)
        let added = Self.seats.merging([
            "transactionId": "\"2000000123456795\"", "purchaseDate": "1760500000000",
            "quantity": "2", "additionalTransactionReason": "\"SEAT_ADDITION\"",
            "multiSeatInfo": "{\"priceTiers\":[]}", "price": "7990",
        ]) { $1 }
        let (key, addition) = try #require(try Self.period(added))
        #expect(key == Self.key)
        #expect(addition.id == "2000000034567890@1760500000000")
        #expect(addition.additionalReason == "SEAT_ADDITION" && addition.price == 15_980)
        let (_, restated) = try #require(
            try Self.period(
                Self.seats.merging(["additionalTransactionReason": "\"SEAT_ADDITION\""]) { $1 }
            )
        )
        #expect(restated.id == period.id, "what was there before keeps its name")
    }

    @Test(
        "refunded seats are counted wherever they stand, and revoke nothing",
        arguments: [
            ["revokedSeatQuantity": "3"], ["multiSeatInfo": "{\"revokedSeatQuantity\":3}"],
        ]
    )
    func refundedSeats(_ changes: [String: String]) throws {
        let (_, period) = try #require(
            try Self.period(Self.seats.merging(changes) { $1 })
        )
        #expect(period.quantity == 8 && period.revokedSeats == 3)
        #expect(period.revoked == nil && period.revokedShare == nil)
    }

    @Test("a revocation of every seat is one of the transaction")
    func everySeat() throws {
        // Apple states the date only when every seat of the transaction is revoked.
        let changes = ["revokedSeatQuantity": "3", "revocationDate": "1760000000000"]
        let (_, period) = try #require(try Self.period(Self.seats.merging(changes) { $1 }))
        #expect(period.revoked == Instant(milliseconds: 1_760_000_000_000))
        #expect(period.revokedSeats == nil)
        let (_, unrevoked) = try #require(
            try Self.period(Self.seats.merging(["revokedSeatQuantity": "8"]) { $1 })
        )
        #expect(unrevoked.revoked == nil, "its date alone revokes")
    }

    @Test("no price of seats ends the process")
    func seatsBeyondNumbers() throws {
        let tiers = "{\"priceTiers\":[{\"price\":9223372036854775807,\"quantity\":2}]}"
        let (_, period) = try #require(try Self.period(["multiSeatInfo": tiers]))
        #expect(period.price == nil)
    }

    @Test("an assigned seat is no purchase of its holder's")
    func assigned() throws {
        let (_, period) = try #require(try Self.period(["inAppOwnershipType": "\"ASSIGNED\""]))
        #expect(period.isFamilyShared)
    }

    @Test("what a purchase continues is stated")
    func previous() throws {
        let (_, period) = try #require(
            try Self.period(["previousOriginalTransactionId": "\"7\""])
        )
        #expect(period.previous == "7")
    }

    @Test(
        "a month of a yearly commitment is a part of it; what is billed at once is whole",
        arguments: ["MONTHLY", "BILLED_UPFRONT", nil]
    )
    func installments(_ plan: String?) throws {
        let (_, period) = try #require(
            try Self.period([
                "billingPlanType": plan.map { "\"\($0)\"" },
                "commitmentInfo": "{\"billingPeriodNumber\":3,\"totalBillingPeriods\":12}",
            ])
        )
        #expect(period.installment == (plan == "MONTHLY" ? Installment(3, of: 12) : nil))
    }

    @Test(
        "only a reason that Apple documents for refunds, or a refund's type, is a refund",
        arguments: [
            ("0", nil, false), ("1", nil, false), (nil, nil, false), ("2", nil, true),
            ("2", "REFUND_PRORATED", false), ("2", "REFUND_FULL", false), ("3", "NEW", true),
        ] as [(String?, String?, Bool)]
    )
    func switched(reason: String?, type: String?, isSwitched: Bool) throws {
        let (_, period) = try #require(
            try Self.period([
                "revocationDate": "1760000000000", "revocationReason": reason,
                "revocationType": type.map { "\"\($0)\"" },
            ])
        )
        #expect(period.revoked != nil)
        #expect(period.isSwitched == (isSwitched ? true : nil))
        let (_, unrevoked) = try #require(try Self.period(["revocationReason": reason]))
        #expect(unrevoked.isSwitched == nil)
    }

    @Test(
        "what is genuine but lacks what a purchase needs is parked",
        arguments: [
            "transactionId", "originalTransactionId", "productId", "purchaseDate", "signedDate",
            "type", "environment", "bundleId",
        ]
    )
    func incomplete(_ field: String) throws {
        let text = Self.transaction([field: nil as String?])
        let transaction = try AppStore.Transaction(json: JSON(Array(text.utf8)))
        guard case .parked = AppStoreTranslator.message(transaction) else {
            Issue.record("it was not parked")
            return
        }
    }

    @Test(
        "an environment or product type of tomorrow is parked",
        arguments: [("environment", "\"Xcode\""), ("type", "\"Rental\"")]
    )
    func unknown(field: String, value: String) throws {
        #expect(try Self.period([field: value]) == nil)
    }

    @Test("a notification about no purchase is of no consequence", arguments: ["TEST"])
    func nothing(_ type: String) throws {
        let notification = try Self.notification(
            type,
            status: nil,
            transaction: nil,
            renewalInfo: nil
        )
        #expect(AppStoreTranslator.message(notification) == .nothing(reason: type))
    }

    @Test(
        "what only the app's team can do is left to it",
        arguments: [
            ("RESCIND_CONSENT", true), ("UNCLAIM_SEATS", true), ("DID_RENEW", false),
            ("CONSUMPTION_REQUEST", false), ("EXTERNAL_PURCHASE_TOKEN", false),
        ]
    )
    func leftToTheTeam(type: String, isLeft: Bool) throws {
        let notification = try Self.notification(type, status: nil, renewalInfo: nil)
        #expect((AppStoreTranslator.leftToTheTeam(by: notification) != nil) == isLeft)
    }

    @Test("a request for consumption asks for an answer, no other notification does")
    func consumption() throws {
        let request = try Self.notification("CONSUMPTION_REQUEST")
        let question = Wanted(kind: .consumption, object: "2000000123456790")
        #expect(AppStoreTranslator.wanted(by: request) == [question])
        #expect(AppStoreTranslator.wanted(by: try Self.notification("REFUND")).isEmpty)
    }

    @Test("a type of tomorrow is read by what it carries")
    func typeOfTomorrow() throws {
        let facts = Self.facts(
            AppStoreTranslator.message(try Self.notification("NOT_YET_INVENTED"))
        )
        #expect(facts.count == 3)
    }
}
