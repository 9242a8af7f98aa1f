import AppStoreAPI
import Foundation
import Intake
import StrictJSON
import Testing
import TollgateCore

@Suite("From Apple's words to facts")
struct AppStoreIntakeTests {
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

    static func facts(_ message: StoreMessage) -> [Fact] {
        if case .facts(let facts, _) = message { facts } else { [] }
    }

    static func period(_ changes: [String: String?] = [:]) throws -> (Purchase.Key, Period)? {
        let transaction = try AppStore.Transaction(json: JSON(Array(transaction(changes).utf8)))
        guard case .facts(let facts, let key) = AppStoreIntake.message(transaction),
            case .period(let period)? = facts.first?.statement
        else { return nil }
        return (key, period)
    }

    @Test("a notification states the period, the terms and the status, each with its own clock")
    func renewal() throws {
        let message = AppStoreIntake.message(try Self.notification("DID_RENEW"))
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
            Self.facts(AppStoreIntake.message(notification)).dropFirst().map(\.statement) == [
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
        let facts = Self.facts(AppStoreIntake.message(try Self.notification("REFUND_REVERSED")))
        #expect(facts.last?.statement == .refundReversed)
        #expect(facts.last?.stated.instant.milliseconds == 1_759_999_999_500)
        let others = Self.facts(AppStoreIntake.message(try Self.notification("REFUND")))
        #expect(!others.contains { $0.statement == .refundReversed })
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
        guard case .parked = AppStoreIntake.message(transaction) else {
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
        #expect(AppStoreIntake.message(notification) == .nothing(reason: type))
    }

    @Test("a type of tomorrow is read by what it carries")
    func typeOfTomorrow() throws {
        let facts = Self.facts(AppStoreIntake.message(try Self.notification("NOT_YET_INVENTED")))
        #expect(facts.count == 3)
    }
}
