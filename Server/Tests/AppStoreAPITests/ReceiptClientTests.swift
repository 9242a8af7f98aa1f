import AppStoreAPI
import Foundation
import StrictJSON
import Testing

/// What `verifyReceipt` is asked, and how its answers are read.
@Suite struct ReceiptClientTests {
    actor Store {
        private(set) var requests: [AppStore.HTTPRequest] = []
        private(set) var waits = 0
        private var answers: [String]

        init(_ answers: [String]) { self.answers = answers }

        struct Unreachable: Error {}

        func answer(_ request: AppStore.HTTPRequest) throws -> AppStore.HTTPResponse {
            requests.append(request)
            guard !answers.isEmpty else { throw Unreachable() }
            let answer = answers.removeFirst()
            if let status = Int(answer) { return AppStore.HTTPResponse(status: status) }
            return AppStore.HTTPResponse(status: 200, body: Array(answer.utf8))
        }

        func wait() { waits += 1 }
    }

    private func client(_ store: Store) -> AppStore.ReceiptClient {
        AppStore.ReceiptClient(
            sharedSecret: "00ff",
            transport: { try await store.answer($0) },
            sleep: { _ in await store.wait() }
        )
    }

    @Test func aReceiptIsSentWithItsPassword() async throws {
        let store = Store(["{\"status\":0,\"environment\":\"Production\"}"])
        let receipt = try await client(store).verify("AA==", excludesOld: true)
        #expect(receipt.environment == .production && receipt.purchases.isEmpty)
        let request = try #require(await store.requests.first)
        #expect(request.method == "POST")
        #expect(request.url == "https://buy.itunes.apple.com/verifyReceipt")
        let body = try JSON(request.body ?? [])
        #expect(body["receipt-data"]?.string == "AA==")
        #expect(body["password"]?.string == "00ff")
        #expect(body["exclude-old-transactions"]?.bool == true)
    }

    @Test func aSandboxReceiptIsSentToTheSandbox() async throws {
        let store = Store(["{\"status\":21007}", "{\"status\":0}"])
        let receipt = try await client(store).verify("AA==")
        #expect(receipt.environment == .sandbox)
        #expect(
            await store.requests.map(\.url) == [
                "https://buy.itunes.apple.com/verifyReceipt",
                "https://sandbox.itunes.apple.com/verifyReceipt",
            ]
        )
    }

    @Test(arguments: [
        (21000, false, 1), (21001, false, 1), (21002, false, 1), (21003, false, 1),
        (21004, false, 1), (21005, true, 3), (21008, false, 1), (21009, true, 3),
        (21010, false, 1), (21100, false, 1), (21199, false, 1), (29999, false, 1),
    ])
    func everyStatusSaysWhetherToAskAgain(
        status: Int,
        isRetryable: Bool,
        attempts: Int
    ) async throws {
        let answer = "{\"status\":\(status),\"is_retryable\":0}"
        let store = Store(Array(repeating: answer, count: 3))
        let error = await #expect(throws: AppStore.ReceiptError.self) {
            _ = try await client(store).verify("AA==")
        }
        #expect(error?.status?.rawValue == status)
        #expect(error?.isRetryable == isRetryable)
        #expect(await store.requests.count == attempts)
        #expect(error?.description.contains("\(status)") == true)
    }

    @Test func internalErrorsSayThemselvesWhetherToAskAgain() async throws {
        let store = Store(["{\"status\":21100,\"is_retryable\":1}", "503", "{\"status\":0}"])
        _ = try await client(store).verify("AA==")
        #expect(await store.requests.count == 3)
        #expect(await store.waits == 2)
    }

    @Test(arguments: ["", "[]", "{}", "{\"status\":\"no\"}", "400", "404"])
    func anUnreadableAnswerIsAnError(_ answer: String) async throws {
        let store = Store([answer])
        let error = await #expect(throws: AppStore.ReceiptError.self) {
            _ = try await client(store).verify("AA==")
        }
        #expect(error?.isRetryable == false)
        #expect(await store.requests.count == 1)
    }

    static let entry = """
        {"quantity":"2","product_id":"monthly","transaction_id":"12","original_transaction_id":"11",
        "purchase_date":"2026-01-01 00:00:00 Etc/GMT","purchase_date_ms":"1767225600000",
        "expires_date_ms":"1769904000000","web_order_line_item_id":"99","is_trial_period":"true",
        "cancellation_date_ms":"1768000000000","is_upgraded":"true",
        "subscription_group_identifier":"7","in_app_ownership_type":"FAMILY_SHARED",
        "app_account_token":"7e3fb20b-4cdb-47cc-936d-99d65f608138"}
        """

    @Test(arguments: ["latest_receipt_info", "latest_expired_receipt_info"], [true, false])
    func purchasesComeAsObjectOrArray(_ name: String, isArray: Bool) async throws {
        let info = isArray ? "[\(Self.entry),{\"broken\":1}]" : Self.entry
        let store = Store([
            """
            {"status":21006,"\(name)":\(info),"latest_receipt":"QUJD",
            "receipt":{"bundle_id":"com.example.app","request_date_ms":"1768500000000",
            "in_app":[\(Self.entry)]},
            "pending_renewal_info":[{"original_transaction_id":"11","auto_renew_status":"1",
            "product_id":"monthly","auto_renew_product_id":"yearly","expiration_intent":"2",
            "is_in_billing_retry_period":"1","grace_period_expires_date_ms":"1769000000000",
            "price_consent_status":"0"}]}
            """
        ])
        let receipt = try await client(store).verify("AA==")
        #expect(receipt.status == .expired)
        #expect(receipt.bundleID == "com.example.app")
        #expect(receipt.requestDate == 1_768_500_000_000)
        #expect(receipt.latestReceipt == "QUJD")
        #expect(receipt.purchases.count == 1)
        let purchase = try #require(receipt.purchases.first)
        #expect(purchase.transactionID == "12" && purchase.originalTransactionID == "11")
        #expect(purchase.quantity == 2 && purchase.productID == "monthly")
        #expect(purchase.purchaseDate == 1_767_225_600_000)
        #expect(purchase.expiresDate == 1_769_904_000_000)
        #expect(purchase.cancellationDate == 1_768_000_000_000)
        #expect(purchase.isUpgraded && purchase.isTrialPeriod)
        #expect(purchase.webOrderLineItemID == "99")
        #expect(purchase.ownershipType == .familyShared)
        let renewal = try #require(receipt.renewals.first)
        #expect(renewal.willRenew && renewal.isInBillingRetryPeriod)
        #expect(renewal.expirationIntent == 2 && renewal.priceConsentStatus == 0)
        #expect(renewal.gracePeriodExpiresDate == 1_769_000_000_000)
        #expect(renewal.autoRenewProductID == "yearly")
    }

    @Test func aReceiptOfIOS6IsItsOwnTransaction() async throws {
        let store = Store([
            """
            {"status":0,"receipt":{"bid":"com.example.app","transaction_id":"1",
            "product_id":"monthly","purchase_date_ms":"1767225600000",
            "expires_date":"1769904000000","quantity":"1"}}
            """
        ])
        let receipt = try await client(store).verify("AA==")
        #expect(receipt.bundleID == "com.example.app")
        #expect(receipt.purchases.map(\.transactionID) == ["1"])
        #expect(receipt.purchases.first?.originalTransactionID == "1")
        #expect(receipt.purchases.first?.expiresDate == 1_769_904_000_000)
    }

    @Test(arguments: ["-1", "253402300800000", "1e300", "soon", ""])
    func aDateOutOfRangeIsNone(_ date: String) async throws {
        let store = Store([
            """
            {"status":0,"latest_receipt_info":[{"transaction_id":"1","product_id":"p",
            "purchase_date_ms":"1767225600000","expires_date_ms":"\(date)"},
            {"transaction_id":"2","product_id":"p","purchase_date_ms":"\(date)"}]}
            """
        ])
        let receipt = try await client(store).verify("AA==")
        #expect(receipt.purchases.map(\.transactionID) == ["1"])
        #expect(receipt.purchases.first?.expiresDate == nil)
    }
}
