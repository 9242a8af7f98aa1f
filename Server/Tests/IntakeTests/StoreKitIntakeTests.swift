import AppStoreAPI
import AppStoreConnector
import Foundation
import Stores
import StrictJSON
import Testing
import TollgateCore

@testable import BillingSDK

/// The device's translator and the server's read the same payloads, and must find the same facts.
@Suite("From StoreKit's words to the same facts")
struct StoreKitIntakeTests {
    typealias Server = AppStoreTranslatorTests

    /// What may stand in a transaction; nil: the field is absent.
    private static let transactionFields: [String: [String?]] = [
        "transactionId": ["\"2000000000000001\"", nil], "originalTransactionId": ["\"9\"", nil],
        "webOrderLineItemId": ["\"77\"", nil], "productId": ["\"pass\"", nil],
        "bundleId": ["\"com.example.other\"", nil],
        "purchaseDate": ["0", "1759990000001", "7258118400000", nil],
        "expiresDate": ["1762582000001", nil], "signedDate": ["1759999999001", nil],
        "revocationDate": ["1760000000000"], "revocationPercentage": ["50000", "100000"],
        "type": [
            "\"Auto-Renewable Subscription\"", "\"Non-Renewing Subscription\"",
            "\"Non-Consumable\"", "\"Consumable\"", "\"Something New\"", nil,
        ],
        "isUpgraded": ["true", "false"], "quantity": ["3", nil],
        "appAccountToken": ["\"7e3fb20b-4cdb-47cc-936d-99d65f608139\"", nil],
        "inAppOwnershipType": ["\"FAMILY_SHARED\"", "\"ASSIGNED\"", "\"PURCHASED\"", nil],
        "revocationReason": ["0", "1", "2"],
        "revocationType": ["\"REFUND_FULL\"", "\"FAMILY_REVOKE\"", "\"SOMETHING_NEW\""],
        "previousOriginalTransactionId": ["\"8\"", "\"2000000123456789\""],
        "additionalTransactionReason": ["\"SEAT_ADDITION\""], "revokedSeatQuantity": ["1", "9"],
        "multiSeatInfo": [
            "{}", "{\"revokedSeatQuantity\":2,\"invitationManagement\":\"APPLE\"}",
            "{\"priceTiers\":[{\"price\":9990,\"quantity\":5},{\"price\":7990,\"quantity\":3}]}",
            "{\"priceTiers\":[{\"price\":9990}],\"revokedSeatQuantity\":\"2\"}",
            "{\"priceTiers\":[{\"price\":9223372036854775807,\"quantity\":2}]}",
        ],
        "environment": [
            "\"Sandbox\"", "\"Production\"", "\"Xcode\"", "\"LocalTesting\"", nil,
        ],
        "offerType": ["1", "2", "3", "4"], "offerDiscountType": ["\"FREE_TRIAL\"", nil],
        "offerIdentifier": ["\"spring\"", nil], "storefront": ["\"JPN\"", nil],
        "price": ["0", "-1", nil],
        "currency": ["\"JPY\"", nil], "unknownField": ["{\"a\":[1]}"],
    ]
    private static let renewalFields: [String: [String?]] = [
        "autoRenewStatus": ["0", "1", nil], "autoRenewProductId": ["\"pro.monthly\"", nil],
        "expirationIntent": ["1", "2", "5"], "isInBillingRetryPeriod": ["true", "false"],
        "gracePeriodExpiresDate": ["1762999999999"], "priceIncreaseStatus": ["0", "1"],
        "renewalDate": ["1762582000009", nil],
    ]

    @Test(
        "A transaction's fields, present or absent, come to the same facts",
        arguments: UInt64(1)...800
    )
    func sameTransaction(_ seed: UInt64) throws {
        var random = Random(state: seed)
        let text = Server.transaction(Self.choice(of: Self.transactionFields, &random))
        let payload = try AppStore.Transaction(json: JSON(Array(text.utf8)))
        let facts = StoreKitIntake.facts(StoreKitStatement(transaction: Data(text.utf8)))
        #expect(facts == Server.facts(AppStoreTranslator.message(payload)), "\(text)")
    }

    @Test(
        "Renewal info and status, in whatever state, come to the same facts",
        arguments: UInt64(1)...200
    )
    func sameTerms(_ seed: UInt64) throws {
        var random = Random(state: seed)
        let renewal = Server.renewalInfo(Self.choice(of: Self.renewalFields, &random))
        let status = Int(random.next() % 5) + 1
        let message = AppStoreTranslator.message(
            try Server.notification("DID_RENEW", status: status, renewalInfo: renewal)
        )
        let facts = StoreKitIntake.facts(
            StoreKitStatement(
                transaction: Data(Server.transaction().utf8),
                renewalInfo: Data(renewal.utf8),
                status: status
            )
        )
        #expect(facts.count == 3)
        #expect(Self.unsourced(facts) == Self.unsourced(Server.facts(message)), "\(renewal)")
    }

    @Test("A seat that somebody else pays for is no purchase of its holder's")
    func assigned() throws {
        let text = Server.transaction(["inAppOwnershipType": "\"ASSIGNED\""])
        let facts = StoreKitIntake.facts(StoreKitStatement(transaction: Data(text.utf8)))
        guard case .period(let period)? = facts.first?.statement else {
            Issue.record("no period")
            return
        }
        #expect(period.isFamilyShared)
    }

    @Test("A transaction alone comes to the same fact, its source included")
    func alone() throws {
        let text = Server.transaction()
        let payload = try AppStore.Transaction(json: JSON(Array(text.utf8)))
        let facts = StoreKitIntake.facts(StoreKitStatement(transaction: Data(text.utf8)))
        #expect(facts == Server.facts(AppStoreTranslator.message(payload)))
        #expect(facts.count == 1)
    }

    @Test(
        "What is no transaction states nothing",
        arguments: ["", "[]", "{}", "null", "{\"transactionId\":1}", "\u{0}"]
    )
    func rubbish(_ text: String) {
        #expect(StoreKitIntake.facts(StoreKitStatement(transaction: Data(text.utf8))).isEmpty)
    }

    /// The message that a fact came in is another one on the device.
    private static func unsourced(_ facts: [Fact]) -> [Fact] {
        facts.map { fact in
            var fact = fact
            fact.source = ""
            return fact
        }
    }

    /// Changes some fields.
    private static func choice(
        of fields: [String: [String?]],
        _ random: inout Random
    ) -> [String: String?] {
        var changes: [String: String?] = [:]
        for (name, values) in fields.sorted(by: { $0.key < $1.key })
        where random.next() % 4 == 0 {
            changes.updateValue(values[Int(random.next() % UInt64(values.count))], forKey: name)
        }
        return changes
    }

    /// A linear congruential generator, so that a seed names a case.
    private struct Random {
        var state: UInt64
        mutating func next() -> UInt64 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return state >> 33
        }
    }
}
