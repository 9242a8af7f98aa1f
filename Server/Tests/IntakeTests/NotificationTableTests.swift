import AppStoreAPI
import AppStoreConnector
import Foundation
import Stores
import StrictJSON
import Testing
import TollgateCore

/// Every notification type and subtype of Apple's documentation, row by row: which facts it becomes
/// and what they say of access.
///
/// The type explains; status and signed objects decide.
@Suite("Every notification type")
struct NotificationTableTests {
    static let day: Int64 = 86_400_000
    static let start: Int64 = 1_760_000_000_000
    static let end = start + 30 * day

    /// One row of the table.
    struct Row: Sendable, CustomTestStringConvertible {
        var type: String
        var subtype: String?
        var status: Int?
        /// What the transaction and the renewal info say besides.
        var transaction: [String: String?] = [:]
        var renewalInfo: [String: String?]? = [:]
        /// When it is signed, in days from the period's start.
        var signed = 1.0
        /// Days from the period's start, and whether there is access then, knowing only this.
        var access: [Double: Bool]

        var testDescription: String { subtype.map { "\(type)/\($0)" } ?? type }
    }

    /// Of a period of 30 days; it is over, with the leeway of two hours, at 30.1.
    static let renews: [Double: Bool] = [0: true, 29.9: true, 30.01: true, 30.1: false]
    static let ends: [Double: Bool] = [0: true, 29.9: true, 30.01: false]

    static func row(
        _ type: String,
        _ subtype: String? = nil,
        status: Int? = 1,
        transaction: [String: String?] = [:],
        renewalInfo: [String: String?]? = [:],
        signed: Double = 1,
        _ access: [Double: Bool] = renews
    ) -> Row {
        Row(
            type: type,
            subtype: subtype,
            status: status,
            transaction: transaction,
            renewalInfo: renewalInfo,
            signed: signed,
            access: access
        )
    }

    static func at(_ days: Double) -> String { "\(start + Int64(days * Double(day)))" }
    static let off: [String: String?] = ["autoRenewStatus": "0", "expirationIntent": "1"]
    static func oneTime(_ kind: String) -> [String: String?] {
        ["type": "\"\(kind)\"", "expiresDate": nil, "webOrderLineItemId": nil]
    }
    static let refunded: [String: String?] = ["revocationDate": at(5), "revocationReason": "0"]

    static let rows: [Row] = [
        row("SUBSCRIBED", "INITIAL_BUY"), row("SUBSCRIBED", "RESUBSCRIBE"),
        row("DID_RENEW"), row("DID_RENEW", "BILLING_RECOVERY"),
        row("DID_CHANGE_RENEWAL_PREF", "UPGRADE"),
        row(
            "DID_CHANGE_RENEWAL_PREF",
            "DOWNGRADE",
            renewalInfo: ["autoRenewProductId": "\"basic\""]
        ),
        row("DID_CHANGE_RENEWAL_PREF"),
        row("DID_CHANGE_RENEWAL_STATUS", "AUTO_RENEW_ENABLED"),
        row("DID_CHANGE_RENEWAL_STATUS", "AUTO_RENEW_DISABLED", renewalInfo: off, ends),
        row("OFFER_REDEEMED", transaction: ["offerType": "2"]),
        row("OFFER_REDEEMED", "UPGRADE", transaction: ["offerType": "2"]),
        row("OFFER_REDEEMED", "DOWNGRADE", renewalInfo: ["offerType": "2"]),
        row(
            "DID_FAIL_TO_RENEW",
            "GRACE_PERIOD",
            status: 4,
            renewalInfo: [
                "isInBillingRetryPeriod": "true", "gracePeriodExpiresDate": at(46),
                "expirationIntent": "2",
            ],
            signed: 30,
            [29: true, 45.9: true, 46.1: false]
        ),
        row(
            "DID_FAIL_TO_RENEW",
            status: 3,
            renewalInfo: ["isInBillingRetryPeriod": "true", "expirationIntent": "2"],
            signed: 30,
            ends
        ),
        row(
            "GRACE_PERIOD_EXPIRED",
            status: 3,
            renewalInfo: [
                "isInBillingRetryPeriod": "true", "gracePeriodExpiresDate": at(46),
                "expirationIntent": "2",
            ],
            signed: 46,
            [29: true, 46.1: false]
        ),
        row("EXPIRED", "VOLUNTARY", status: 2, renewalInfo: off, signed: 30, ends),
        row(
            "EXPIRED",
            "BILLING_RETRY",
            status: 2,
            renewalInfo: ["autoRenewStatus": "0", "expirationIntent": "2"],
            signed: 90,
            ends
        ),
        row(
            "EXPIRED",
            "PRICE_INCREASE",
            status: 2,
            renewalInfo: ["expirationIntent": "3", "priceIncreaseStatus": "0"],
            signed: 30,
            ends
        ),
        row(
            "EXPIRED",
            "PRODUCT_NOT_FOR_SALE",
            status: 2,
            renewalInfo: ["expirationIntent": "4"],
            signed: 30,
            ends
        ),
        row("EXPIRED", status: 2, renewalInfo: ["expirationIntent": "5"], signed: 30, ends),
        row("PRICE_INCREASE", "PENDING", renewalInfo: ["priceIncreaseStatus": "0"], ends),
        row("PRICE_INCREASE", "ACCEPTED", renewalInfo: ["priceIncreaseStatus": "1"]),
        // Of an old period while a newer one runs, of the newest, and of other products.
        row(
            "REFUND",
            status: 1,
            transaction: refunded,
            renewalInfo: ["renewalDate": at(60)],
            signed: 6,
            [4: true, 35: true, 59: true]
        ),
        row(
            "REFUND",
            status: 5,
            transaction: refunded,
            renewalInfo: off,
            signed: 6,
            [4: true, 5.1: false, 29: false]
        ),
        row(
            "REFUND",
            status: nil,
            transaction: oneTime("Non-Consumable").merging(refunded) { $1 },
            renewalInfo: nil,
            signed: 6,
            [4: true, 5.1: false]
        ),
        row(
            "REFUND",
            "SEATS",
            transaction: [
                "quantity": "5", "multiSeatInfo": "{\"revokedSeatQuantity\":2}",
            ],
            signed: 6
        ),
        row("REFUND_REVERSED", transaction: ["revocationDate": at(5)], signed: 6),
        row("REFUND_DECLINED"), row("CONSUMPTION_REQUEST"),
        row(
            "REVOKE",
            status: 5,
            transaction: [
                "inAppOwnershipType": "\"FAMILY_SHARED\"", "revocationDate": at(5),
                "revocationType": "\"FAMILY_REVOKE\"",
            ],
            renewalInfo: off,
            signed: 5,
            [4: true, 5.1: false]
        ),
        row(
            "RENEWAL_EXTENDED",
            transaction: ["expiresDate": at(40)],
            renewalInfo: ["renewalDate": at(40)],
            [39: true, 40.1: false]
        ),
        row("RENEWAL_EXTENSION", "FAILURE"),
        row(
            "ONE_TIME_CHARGE",
            status: nil,
            transaction: oneTime("Non-Consumable"),
            renewalInfo: nil,
            [0: true, 3000: true]
        ),
        row(
            "ONE_TIME_CHARGE",
            status: nil,
            transaction: oneTime("Non-Renewing Subscription"),
            renewalInfo: nil,
            [0: true, 9.9: true, 10.1: false]
        ),
        row(
            "ONE_TIME_CHARGE",
            status: nil,
            transaction: oneTime("Consumable"),
            renewalInfo: nil,
            [0: false, 1: false]
        ),
        row("METADATA_UPDATE"), row("MIGRATION"), row("PRICE_CHANGE"),
        row("PRICE_CHANGE", "INCREASE_QUANTITY", transaction: ["quantity": "7"]),
        row("PRICE_CHANGE", "DECREASE_QUANTITY", transaction: ["quantity": "3"]),
    ]

    static let catalog = Catalog(
        entitlements: [.init(lookupKey: "pro", name: "Pro")],
        products: [
            .init(
                id: "pro",
                name: "Pro",
                kind: .autoRenewable,
                appStoreProductID: "pro.monthly",
                entitlements: ["pro"],
                duration: CalendarDuration(days: 10)
            )
        ]
    )

    static func notification(_ row: Row) throws -> AppStore.Notification {
        let signed = at(row.signed)
        var transaction: [String: String?] = [
            "purchaseDate": "\(start)", "originalPurchaseDate": "\(start)",
            "expiresDate": "\(end)", "signedDate": signed, "productId": "\"pro.monthly\"",
        ]
        transaction.merge(row.transaction) { $1 }
        var renewalInfo: [String: String?] = ["renewalDate": "\(end)", "signedDate": signed]
        renewalInfo.merge(row.renewalInfo ?? [:]) { $1 }
        var data: [String: String] = [
            "environment": "\"Production\"", "bundleId": "\"com.example.app\"",
            "signedTransactionInfo":
                "\"\(AppStoreTranslatorTests.inner(AppStoreTranslatorTests.transaction(transaction)))\"",
        ]
        if let status = row.status { data["status"] = "\(status)" }
        if row.renewalInfo != nil {
            let inner = AppStoreTranslatorTests.inner(
                AppStoreTranslatorTests.renewalInfo(renewalInfo)
            )
            data["signedRenewalInfo"] = "\"\(inner)\""
        }
        var members = [
            "notificationType": "\"\(row.type)\"", "version": "\"2.0\"",
            "notificationUUID": "\"\(AppStoreTranslatorTests.uuid)\"", "signedDate": signed,
            "data": AppStoreTranslatorTests.object(data),
        ]
        if let subtype = row.subtype { members["subtype"] = "\"\(subtype)\"" }
        return try AppStore.Notification(
            json: JSON(Array(AppStoreTranslatorTests.object(members).utf8))
        )
    }

    @Test("it becomes facts that give the access it should", arguments: rows)
    func becomesFacts(_ row: Row) throws {
        let notification = try Self.notification(row)
        #expect(notification.notificationType.isKnown)
        guard case .facts(let facts, let key) = AppStoreTranslator.message(notification) else {
            Issue.record("no facts")
            return
        }
        // The period always; terms and status where they are stated.
        let expected =
            1 + (row.renewalInfo == nil ? 0 : 1) + (row.status == nil ? 0 : 1)
            + (row.type == "REFUND_REVERSED" ? 1 : 0)
        #expect(facts.count == expected)
        let record = Purchase(key: key, joining: facts)
        var history = CatalogHistory()
        history.adopt(
            .init(id: "1", adopted: Instant(milliseconds: 0), catalog: Self.catalog)
        )
        let shares = record.evaluate(in: history).shares
        let timeline = Timeline(shares.map { (key, $0.access) }, in: Self.catalog)
        for (days, isActive) in row.access.sorted(by: { $0.key < $1.key }) {
            let instant = Instant(milliseconds: Self.start + Int64(days * Double(Self.day)))
            #expect(timeline.active(at: instant).isEmpty != isActive, "day \(days)")
        }
        // Twice and in another order, it says the same.
        #expect(Purchase(key: key, joining: (facts + facts).reversed()) == record)
    }

    @Test(
        "what is about no purchase changes nothing, and is understood",
        arguments: [
            ("TEST", nil, "\"data\":{\"environment\":\"Production\",\"bundleId\":\"b\"}"),
            (
                "RENEWAL_EXTENSION", "SUMMARY",
                "\"summary\":{\"environment\":\"Production\",\"bundleId\":\"b\",\"succeededCount\":3}"
            ),
            (
                "EXTERNAL_PURCHASE_TOKEN", "UNREPORTED",
                "\"externalPurchaseToken\":{\"externalPurchaseId\":\"1\",\"bundleId\":\"b\"}"
            ),
            (
                "EXTERNAL_PURCHASE_TOKEN", "CREATED",
                "\"externalPurchaseToken\":{\"externalPurchaseId\":\"1\",\"bundleId\":\"b\"}"
            ),
            (
                "EXTERNAL_PURCHASE_TOKEN", "ACTIVE_TOKEN_REMINDER",
                "\"externalPurchaseToken\":{\"externalPurchaseId\":\"1\",\"bundleId\":\"b\"}"
            ),
            (
                "RESCIND_CONSENT", nil,
                "\"appData\":{\"environment\":\"Production\",\"bundleId\":\"b\"}"
            ),
            ("UNCLAIM_SEATS", nil, "\"unclaimInfo\":{\"unclaimSeatIds\":[\"a\"]}"),
        ] as [(String, String?, String)]
    )
    func changesNothing(type: String, subtype: String?, part: String) throws {
        let sub = subtype.map { ",\"subtype\":\"\($0)\"" } ?? ""
        let text =
            "{\"notificationType\":\"\(type)\"\(sub),\"notificationUUID\":\"\(AppStoreTranslatorTests.uuid)\",\(part)}"
        let notification = try AppStore.Notification(json: JSON(Array(text.utf8)))
        #expect(notification.notificationType.isKnown)
        #expect(AppStoreTranslator.message(notification) == .nothing(reason: type))
    }

    @Test("every type that is known is in this table")
    func complete() {
        let about = Set(Self.rows.map(\.type))
        let others: Set<String> = [
            "TEST", "EXTERNAL_PURCHASE_TOKEN", "RESCIND_CONSENT", "UNCLAIM_SEATS",
        ]
        let known = Set(AppStore.NotificationType.known.map(\.rawValue))
        #expect(about.union(others) == known)
    }
}
