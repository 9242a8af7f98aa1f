import AppStoreAPI
import AppStoreConnector
import Foundation
import Stores
import Testing
import TollgateCore

@Suite("From legacy receipts to facts")
struct ReceiptIntakeTests {
    static let now = Instant(milliseconds: 1_768_600_000_000)
    static let purchased: Int64 = 1_767_225_600_000

    /// What the App Store answers, read by the client.
    static func receipt(
        _ entries: [[String: String]],
        status: Int = 0,
        renewals: [[String: String]] = []
    ) async throws -> AppStore.VerifiedReceipt {
        let answer: [String: Any] = [
            "status": status, "latest_receipt_info": entries, "pending_renewal_info": renewals,
            "receipt": ["bundle_id": "com.example.app", "request_date_ms": "1768500000000"],
        ]
        let body = Array(try JSONSerialization.data(withJSONObject: answer))
        let client = AppStore.ReceiptClient(
            sharedSecret: "00",
            transport: { _ in AppStore.HTTPResponse(status: 200, body: body) }
        )
        return try await client.verify("AA==")
    }

    static func entry(_ changes: [String: String?] = [:]) -> [String: String] {
        var entry = [
            "product_id": "monthly", "transaction_id": "12", "original_transaction_id": "11",
            "purchase_date_ms": "\(purchased)", "expires_date_ms": "1769904000000",
            "web_order_line_item_id": "99", "quantity": "1",
        ]
        for (name, value) in changes { entry[name] = value }
        return entry
    }

    static func statements(
        _ receipt: AppStore.VerifiedReceipt
    ) -> [AppStoreReceiptTranslator.ReceiptStatement] {
        AppStoreReceiptTranslator.statements(receipt, bundleID: "com.example.app", at: now) {
            product,
            _ in
            switch product {
            case "monthly": (.autoRenewable, CalendarDuration(months: 1))
            case "reader": (.freeSubscription, nil)
            case "pass": (.nonRenewing, CalendarDuration(days: 30))
            case "coins": (.consumable, nil)
            case "lifetime": (.nonConsumable, nil)
            default: nil
            }
        }
    }

    static func facts(_ receipt: AppStore.VerifiedReceipt) -> [Fact] {
        statements(receipt).flatMap { statement -> [Fact] in
            if case .facts(let facts, _) = statement.message { facts } else { [] }
        }
    }

    @Test("a period is the one that signed data names, by its line item")
    func period() async throws {
        let facts = Self.facts(try await Self.receipt([Self.entry()]))
        #expect(facts.count == 1)
        let fact = try #require(facts.first)
        #expect(fact.purchase.canonical == "app_store/production/com.example.app/11")
        #expect(fact.stated.instant.milliseconds == 1_768_500_000_000, "the receipt's own clock")
        guard case .period(let period) = fact.statement else {
            Issue.record("no period")
            return
        }
        #expect(period.id == "99" && period.transactionID == "12")
        #expect(period.start.milliseconds == Self.purchased)
        #expect(period.end?.milliseconds == 1_769_904_000_000)
    }

    @Test(
        "without an expiry the catalog's duration counts from the purchase; a free one has no end"
    )
    func durations() async throws {
        let without: [String: String?] = ["expires_date_ms": nil, "web_order_line_item_id": nil]
        let cases: [(String, Period.Kind, Int64?)] = [
            ("monthly", .autoRenewable, 1_769_904_000_000), ("reader", .autoRenewable, nil),
            ("pass", .nonRenewing, nil), ("coins", .consumable, nil),
            ("lifetime", .nonConsumable, nil),
        ]
        for (product, kind, end) in cases {
            let entry = Self.entry(without.merging(["product_id": product]) { $1 })
            let facts = Self.facts(try await Self.receipt([entry]))
            guard case .period(let period)? = facts.first?.statement else {
                Issue.record("no period of \(product)")
                continue
            }
            #expect(period.kind == kind, "\(product)")
            #expect(period.end?.milliseconds == end, "\(product)")
            #expect(facts.first?.purchase.id == "11")
        }
    }

    @Test(
        "what is bought once counts from its first purchase, which a restore dates anew",
        arguments: [("lifetime", true), ("pass", true), ("coins", true), ("monthly", false)]
    )
    func restored(_ product: String, isBoughtOnce: Bool) async throws {
        let first = Self.purchased - 90 * 86_400_000
        let entry = Self.entry([
            "product_id": product, "original_purchase_date_ms": "\(first)",
            "expires_date_ms": nil, "web_order_line_item_id": nil,
        ])
        let facts = Self.facts(try await Self.receipt([entry]))
        guard case .period(let period)? = facts.first?.statement else {
            Issue.record("no period of \(product)")
            return
        }
        #expect(period.start.milliseconds == (isBoughtOnce ? first : Self.purchased))
    }

    @Test(
        "what expires, has a line item or a group renews, whatever the catalog calls it",
        arguments: [
            ["expires_date_ms": "1769904000000"], ["web_order_line_item_id": "99"],
            ["subscription_group_identifier": "7"],
        ]
    )
    func renews(_ field: [String: String]) async throws {
        for product in ["monthly", "coins", "pass"] {
            let base: [String: String?] = [
                "product_id": product, "expires_date_ms": nil, "web_order_line_item_id": nil,
            ]
            let entry = Self.entry(base.merging(field.mapValues { $0 }) { $1 })
            let fact = Self.facts(try await Self.receipt([entry])).first
            guard case .period(let period)? = fact?.statement else {
                Issue.record("no period of \(product)")
                continue
            }
            #expect(period.kind == .autoRenewable)
            // How long a pass lasts is nothing of a plan's.
            let hasEnd = product == "monthly" || field["expires_date_ms"] != nil
            #expect((period.end != nil) == hasEnd, "\(product)")
        }
    }

    @Test(
        "whose it is by Family Sharing is no buyer's",
        arguments: [("FAMILY_SHARED", true), ("PURCHASED", false), (nil, false)]
            as [(String?, Bool)]
    )
    func family(word: String?, isShared: Bool) async throws {
        let receipt = try await Self.receipt([Self.entry(["in_app_ownership_type": word])])
        guard case .period(let period)? = Self.facts(receipt).first?.statement else {
            Issue.record("no period")
            return
        }
        #expect(period.isFamilyShared == isShared)
    }

    @Test(
        "offers are those that the receipt names",
        arguments: [
            ([:], nil, nil, nil), (["is_trial_period": "true"], 1, "FREE_TRIAL", nil),
            (["is_in_intro_offer_period": "true", "is_trial_period": "false"], 1, nil, nil),
            (["promotional_offer_id": "spring"], 2, nil, "spring"),
            (
                ["promotional_offer_id": "spring", "is_trial_period": "true"], 2, "FREE_TRIAL",
                "spring"
            ),
            (["offer_code_ref_name": "friends"], 3, nil, "friends"),
        ] as [([String: String], Int64?, String?, String?)]
    )
    func offers(fields: [String: String], type: Int64?, discount: String?, id: String?) async throws
    {
        let receipt = try await Self.receipt([Self.entry(fields.mapValues { $0 })])
        guard case .period(let period)? = Self.facts(receipt).first?.statement else {
            Issue.record("no period")
            return
        }
        #expect(period.offerType == type && period.discount == discount && period.offer == id)
    }

    @Test("a signed refund of half stays one, whenever the receipt comes")
    func partialRefund() async throws {
        let receipt = try await Self.receipt([
            Self.entry(["cancellation_date_ms": "1768000000000", "transaction_id": "12"])
        ])
        var signed = try #require(Self.facts(receipt).first)
        guard case .period(var period) = signed.statement else { return }
        period.revokedShare = 50_000
        period.price = 9990
        signed.statement = .period(period)
        signed.source = "12"
        for days in [-1, 1] {
            var fact = signed
            fact.stated = Stated(signed.stated.instant.advanced(by: Int64(days) * 86_400_000))
            let facts = Self.facts(receipt) + [fact]
            for order in [facts, facts.reversed()] {
                let record = Purchase(key: signed.purchase, joining: order)
                #expect(record.periods.map(\.period) == [period])
            }
        }
    }

    @Test("a product that nobody knows the kind of is parked until the catalog does")
    func unknownProduct() async throws {
        let entry = Self.entry([
            "product_id": "novelty", "expires_date_ms": nil, "web_order_line_item_id": nil,
        ])
        let statements = Self.statements(try await Self.receipt([entry]))
        guard case .parked? = statements.first?.message else {
            Issue.record("not parked")
            return
        }
    }

    @Test("pending renewal info becomes terms, and a status where something has ended")
    func renewals() async throws {
        let base = ["original_transaction_id": "11", "auto_renew_status": "1"]
        let cases: [([String: String], Int64?)] = [
            (base, nil), (base.merging(["auto_renew_status": "0"]) { $1 }, nil),
            (base.merging(["expiration_intent": "1"]) { $1 }, 2),
            (
                base.merging(["is_in_billing_retry_period": "1", "expiration_intent": "2"]) { $1 },
                3
            ),
            (
                base.merging([
                    "is_in_billing_retry_period": "1",
                    "grace_period_expires_date_ms": "1769000000000",
                ]) { $1 }, 4
            ),
        ]
        for (renewal, status) in cases {
            let facts = Self.facts(try await Self.receipt([], renewals: [renewal]))
            guard case .renewal(let terms)? = facts.first?.statement else {
                Issue.record("no terms")
                continue
            }
            #expect(terms.willRenew == (renewal["auto_renew_status"] == "1"))
            guard let status else {
                #expect(facts.count == 1)
                continue
            }
            #expect(facts.last?.statement == .status(SubscriptionStatus(value: status)))
        }
    }

    @Test(
        "a price increase waits for consent until it is given",
        arguments: [("0", true), ("1", false), (nil, false)] as [(String?, Bool)]
    )
    func consent(status: String?, awaits: Bool) async throws {
        var renewal = ["original_transaction_id": "11", "auto_renew_status": "1"]
        renewal["price_consent_status"] = status
        let facts = Self.facts(try await Self.receipt([], renewals: [renewal]))
        guard case .renewal(let terms)? = facts.first?.statement else {
            Issue.record("no terms")
            return
        }
        #expect(terms.awaitsConsent == awaits)
    }

    @Test("grace that ends when the receipt is made is over")
    func graceIsOver() async throws {
        for (end, status) in [("1768500000001", 4), ("1768500000000", 3)] as [(String, Int64)] {
            let renewal = [
                "original_transaction_id": "11", "auto_renew_status": "1",
                "is_in_billing_retry_period": "1", "grace_period_expires_date_ms": end,
            ]
            let facts = Self.facts(try await Self.receipt([], renewals: [renewal]))
            #expect(facts.last?.statement == .status(SubscriptionStatus(value: status)))
        }
    }

    @Test("of several subscriptions 21006 is about the newest, and about none that says more")
    func newest() async throws {
        let dates = [("7", Self.purchased - 1), ("8", Self.purchased), ("9", Self.purchased - 2)]
        let entries = dates.map { id, date in
            Self.entry([
                "original_transaction_id": id, "transaction_id": id,
                "purchase_date_ms": "\(date)",
            ])
        }
        let facts = Self.facts(try await Self.receipt(entries, status: 21_006))
        #expect(facts.filter { $0.kind == "status" }.map(\.purchase.id) == ["8"])
        let renewal = ["original_transaction_id": "8", "auto_renew_status": "1"]
        let told = try await Self.receipt(entries, status: 21_006, renewals: [renewal])
        #expect(Self.facts(told).filter { $0.kind == "status" }.isEmpty)
    }

    @Test("21006 means that the newest subscription has expired")
    func expired() async throws {
        let facts = Self.facts(try await Self.receipt([Self.entry()], status: 21_006))
        #expect(facts.last?.statement == .status(SubscriptionStatus(value: 2)))
        #expect(facts.last?.purchase.id == "11")
    }
}
