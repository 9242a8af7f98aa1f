import Foundation
import GooglePlayAPI
import Storage
import Stores
import StrictJSON
import TollgateCore
import TollgateService

@testable import GooglePlayConnector
@testable import SecondOpinion

// Google Play's: https://developer.android.com/google/play/billing/lifecycle/subscriptions,
// https://developer.android.com/google/play/billing/lifecycle/one-time and
// https://developers.google.com/android-publisher/voided-purchases.
extension Story {
    static let googlePlay = [
        Story(
            testDescription: "a plan is read as active, and nothing more",
            words: [.read(0, plan("ACTIVE"))],
            expected: [10: .yes, 29.9: .yes, 30.5: .open, 31.5: .no]
        ),
        Story(
            testDescription: "Google cannot be asked whether a plan was renewed",
            words: [
                .read(0, plan("ACTIVE")), .read(30.5, "{\"tollgate_outage\":true}"),
                .read(50, "{\"tollgate_outage\":true}"),
            ],
            expected: [29.9: .yes, 31.4: .open, 31.6: .no, 50.5: .no]
        ),
        Story(
            testDescription: "a plan is cancelled, and ends with what is paid",
            words: [.read(0, plan("ACTIVE")), .read(5, plan("CANCELED", renews: false))],
            expected: [29.9: .yes, 30.5: .no]
        ),
        Story(
            testDescription: "a renewal is declined: grace is extended, then comes account hold",
            words: [
                .read(0, plan("ACTIVE")), .read(30, plan("IN_GRACE_PERIOD", to: 33)),
                .read(33, plan("ON_HOLD", to: 33)),
            ],
            expected: [32: .yes, 34: .no]
        ),
        Story(
            testDescription: "a plan is paused, and resumed",
            words: [
                .read(0, plan("ACTIVE")), .read(30, plan("PAUSED")),
                .read(40, plan("ACTIVE", to: 70)),
            ],
            expected: [35: .no, 50: .yes]
        ),
        Story(
            testDescription: "a plan is revoked, and an older state is read once more",
            words: [
                .read(0, plan("ACTIVE")), .read(10, plan("EXPIRED", to: 10, renews: false)),
                .read(11, plan("ACTIVE")),
            ],
            expected: [9: .yes, 12: .no]
        ),
        Story(
            testDescription: "a plan is to be paid in cash",
            words: [.read(0, plan("PENDING", from: nil, to: nil))],
            expected: [1: .no]
        ),
        Story(
            testDescription: "a prepaid plan runs out",
            words: [.read(0, plan("ACTIVE", isPrepaid: true))],
            expected: [29.9: .yes, 30.5: .no]
        ),
        Story(
            testDescription:
                "a plan of three payments is cancelled, and ends with the last of them",
            words: [
                .read(0, plan("ACTIVE", committed: 2)),
                .read(30, plan("ACTIVE", to: 60, committed: 1)),
                .read(60, plan("ACTIVE", to: 90, committed: 0)),
            ],
            expected: [89.9: .yes, 90.5: .no]
        ),
        Story(
            testDescription:
                "a plan of three payments is cancelled, and goes on within its commitment",
            words: [.read(0, plan("ACTIVE", committed: 2))],
            expected: [29.9: .yes, 30.5: .open, 31.5: .no]
        ),
        Story(
            testDescription: "a plan is changed at once: of the old token nothing more is heard",
            words: [
                .read(0, plan("ACTIVE")),
                .read(10, token: "t2", plan("ACTIVE", "yearly", from: 10, to: 375, linked: "t1")),
            ],
            expected: [5: .no, 20: .yes, 300: .yes],
            lookupKey: "archive"
        ),
        Story(
            testDescription: "another purchase took a plan's place: whose, is not known here",
            words: [
                .read(0, plan("ACTIVE")),
                .read(10, plan("CANCELED", renews: false, isReplaced: true)),
            ],
            expected: [5: .yes, 20: .open, 31: .no]
        ),
        Story(
            testDescription: "a change waits for the renewal: the new plan has no end yet",
            words: [
                .read(0, plan("ACTIVE", "yearly", to: 365)),
                .read(
                    10,
                    token: "t2",
                    plan("ACTIVE", "yearly", from: 10, to: 365, linked: "t1", next: "monthly")
                ),
            ],
            expected: [20: .yes, 364: .yes],
            lookupKey: "archive"
        ),
        Story(
            testDescription: "a change names nobody: whose it is, only the former purchase knows",
            words: [
                .read(0, plan("ACTIVE")),
                .read(10, token: "t2", plan("ACTIVE", from: 10, to: 40, linked: "t1", user: nil)),
            ],
            expected: [5: .yes, 20: .open]
        ),
        Story(
            testDescription: "a change is not paid: the old plan goes on",
            words: [
                .read(0, plan("ACTIVE")),
                .read(10, token: "t2", plan("PENDING", from: nil, to: nil, linked: "t1")),
            ],
            expected: [20: .yes]
        ),
        Story(
            testDescription: "an unlock is paid after two days, and charged back",
            words: [
                .read(0, bought("lifetime", "PENDING", paid: nil)),
                .read(2, bought("lifetime", paid: 2)), .read(50, voided(at: 50)),
            ],
            expected: [1: .no, 3: .yes, 51: .no]
        ),
        Story(
            testDescription: "a pass lasts for the catalog's duration",
            words: [.read(0, bought("pass", paid: 0))],
            expected: [29: .yes, 31: .no]
        ),
    ]

    /// `SubscriptionPurchaseV2`.
    private static func plan(
        _ state: String,
        _ product: String = "monthly",
        from: Double? = 0,
        to: Double? = 30,
        renews: Bool = true,
        isPrepaid: Bool = false,
        linked: String? = nil,
        user: String? = "jenny",
        next: String? = nil,
        isReplaced: Bool = false,
        committed: Int? = nil
    ) -> String {
        let start = from.map { "\"startTime\":\"\(Instant.day($0))\"," } ?? ""
        let end = to.map { "\"expiryTime\":\"\(Instant.day($0))\"," } ?? ""
        let ending =
            isReplaced ? "\"canceledStateContext\":{\"replacementCancellation\":{}}," : ""
        let link = linked.map { "\"linkedPurchaseToken\":\"\($0)\"," } ?? ""
        let account = user.map { account in
            """
            "externalAccountIdentifiers":\
            {"obfuscatedExternalAccountId":"\(Counter.token(of: account))"},
            """
        }
        // A cancelled installment plan; Google leaves out a count of zero.
        let installments = committed.map { count in
            let left = count == 0 ? "" : "\"remainingCommittedPaymentsCount\":\(count),"
            return """
                ,"installmentDetails":{"initialCommittedPaymentsCount":3,\(left)\
                "pendingCancellation":{}}
                """
        }
        let renewal = renews && next == nil ? "\"autoRenewEnabled\":true" : ""
        let terms =
            isPrepaid
            ? "\"prepaidPlan\":{}"
            : "\"autoRenewingPlan\":{\(renewal)\(installments ?? "")}"
        var items = ["{\"productId\":\"\(product)\",\(end)\(terms)}"]
        if let next {
            items = [
                """
                {"productId":"\(product)",\(end)"deferredItemReplacement":{"productId":"\(next)"},\
                \(terms)}
                """,
                "{\"productId\":\"\(next)\",\"autoRenewingPlan\":{\"autoRenewEnabled\":true}}",
            ]
        }
        return """
            {"kind":"androidpublisher#subscriptionPurchaseV2","regionCode":"US",\(start)\(link)\
            \(ending)\(account ?? "")\
            "subscriptionState":"SUBSCRIPTION_STATE_\(state)","testPurchase":{},\
            "acknowledgementState":"ACKNOWLEDGEMENT_STATE_ACKNOWLEDGED",\
            "lineItems":[\(items.joined(separator: ","))]}
            """
    }

    /// `ProductPurchaseV2`.
    private static func bought(
        _ product: String,
        _ state: String = "PURCHASED",
        paid: Double?
    ) -> String {
        let completed = paid.map { "\"purchaseCompletionTime\":\"\(Instant.day($0))\"," } ?? ""
        return """
            {"kind":"androidpublisher#productPurchaseV2","orderId":"GPA.1","regionCode":"US",\
            "purchaseStateContext":{"purchaseState":"\(state)"},\(completed)\
            "acknowledgementState":"ACKNOWLEDGEMENT_STATE_ACKNOWLEDGED",\
            "obfuscatedExternalAccountId":"\(Counter.token(of: "jenny"))",\
            "testPurchaseContext":{"fopType":"TEST"},"productLineItem":[{"productId":"\(product)",\
            "productOfferDetails":{"quantity":1,"refundableQuantity":1}}]}
            """
    }

    /// An entry of the list of voided purchases.
    private static func voided(at day: Double) -> String {
        """
        {"kind":"androidpublisher#voidedPurchase","purchaseToken":"t1","orderId":"GPA.1",\
        "purchaseTimeMillis":"\(Instant.day(0).milliseconds)",\
        "voidedTimeMillis":"\(Instant.day(day).milliseconds)","voidedSource":2,"voidedReason":7}
        """
    }
}

extension Counter {
    /// Takes in what the Play Developer API answered about a token, as a read does.
    func take(_ text: String, about token: String, at instant: Instant) async throws {
        let body = Array(text.utf8)
        guard case .facts(let facts, let key) = try Self.meaning(of: body, token, at: instant)
        else {
            throw Unreadable()
        }
        _ = try await tollgate.store.submit(
            JournalItem.message(
                dedupeKey: RowKey("play read", token, "\(instant.milliseconds)"),
                subject: RecordStore.subject(of: key),
                kind: .fetched,
                stated: instant,
                facts: facts,
                received: body
            )
        )
    }

    private struct Unreadable: Error {}

    private static func meaning(
        of body: [UInt8],
        _ token: String,
        at instant: Instant
    ) throws -> Translation.Meaning {
        let json = try JSON(body)
        if json["voidedTimeMillis"] != nil {
            return GooglePlayTranslator.message(
                void: try GooglePlay.VoidedPurchase(json),
                of: bundleID,
                in: .sandbox,
                at: instant
            )
        }
        if json["productLineItem"] != nil {
            return GooglePlayTranslator.message(
                reading: try GooglePlay.ProductPurchase(json),
                token: token,
                of: bundleID,
                at: instant
            )
        }
        if json["tollgate_outage"] != nil {
            return GooglePlayTranslator.message(
                GooglePlayUnreadable(reason: "permissionDenied", isOutage: true),
                about: GooglePlayTranslator.key(token, of: bundleID, in: .sandbox),
                at: instant
            )
        }
        return GooglePlayTranslator.message(
            reading: try GooglePlay.SubscriptionPurchase(json),
            token: token,
            of: bundleID,
            at: instant
        )
    }
}
