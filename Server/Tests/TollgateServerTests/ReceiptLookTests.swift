import AppStoreAPI
import AppStoreSimulator
import Foundation
import Testing
import TollgateAssembly
import TollgateCore
import TollgateSimulation

@testable import AppStoreConnector

@Suite("When a receipt is looked at again")
struct ReceiptLookTests {
    static let minute: Int64 = 60_000
    static let day = 1440 * minute
    static let end = AppStoreWorld.start + 7 * day

    /// A look at a week that ends at minute 0, and what the receipt says of its renewal.
    struct Story: Sendable, CustomTestStringConvertible {
        var testDescription: String
        /// When it is looked at, in minutes after the end.
        var look: Int64
        var renewal: [String: String] = ["auto_renew_status": "1"]
        var purchase: [String: String] = [:]
        /// In how many minutes it is looked at again.
        var expected: Int64
    }

    static let stories = [
        Story(testDescription: "two days before the end", look: -2880, expected: 1440),
        Story(testDescription: "an hour before the end", look: -60, expected: 61),
        Story(testDescription: "a minute late: within the leeway", look: 1, expected: 10),
        Story(testDescription: "the leeway is nearly over", look: 119, expected: 10),
        Story(testDescription: "the leeway is over", look: 120, expected: 60),
        Story(testDescription: "nearly a day late", look: 1439, expected: 60),
        Story(testDescription: "a day late", look: 1440, expected: 1440),
        Story(
            testDescription: "it will not renew",
            look: 1,
            renewal: ["auto_renew_status": "0"],
            expected: 1440
        ),
        Story(
            testDescription: "it has expired",
            look: 1,
            renewal: ["auto_renew_status": "1", "expiration_intent": "2"],
            expected: 1440
        ),
        Story(
            testDescription: "billing is tried again",
            look: 1,
            renewal: ["auto_renew_status": "1", "is_in_billing_retry_period": "1"],
            expected: 1440
        ),
        Story(
            testDescription: "the grace period ends today",
            look: 1,
            renewal: [
                "auto_renew_status": "1", "is_in_billing_retry_period": "1",
                "grace_period_expires_date_ms": "\(end + 600 * minute)",
            ],
            expected: 600
        ),
        Story(
            testDescription: "it was refunded",
            look: 1,
            purchase: ["cancellation_date_ms": "\(end - day)"],
            expected: 1440
        ),
    ]

    @Test("often while a renewal is late, else at the next end or once a day", arguments: stories)
    func nextLook(_ story: Story) async throws {
        let body = try Self.answer(renewal: story.renewal, purchase: story.purchase)
        let client = AppStore.ReceiptClient(
            sharedSecret: "00",
            transport: { _ in AppStore.HTTPResponse(status: 200, body: body) }
        )
        let receipt = try await client.verify("AA==")
        let now = Instant(milliseconds: Self.end + story.look * Self.minute)
        let next = receipt.nextLook(after: now, leeway: 120 * Self.minute)
        #expect(next.milliseconds - now.milliseconds == story.expected * Self.minute)
    }

    @Test("A payer whose renewal comes late on receipts is looked at again within the leeway")
    func lateRenewal() async throws {
        var setup = ReceiptTests.setup(serverAPI: false)
        let answer = try Self.answer(renewal: ["auto_renew_status": "1"], purchase: [:])
        setup.receiptAnswer = String(decoding: answer, as: UTF8.self)
        try await AppStoreWorld.run(on: .sqlite, setup) { world in
            let (id, buyer) = try await ReceiptTests.customer("user", world)
            let receipt = try await world.appStore.receipt(customer: buyer)
            _ = try await ReceiptTests.post(receipt, of: id, to: world)
            func looks() async throws -> Int {
                try await world.tollgate.appStore.receipts.revalidate()?.receipts ?? 0
            }
            await world.pass(days: 7.002)
            #expect(try await looks() == 1)
            #expect(try await looks() == 0)
            for _ in 0..<3 {
                await world.pass(days: 10.1 / 1440)
                #expect(try await looks() == 1)
            }
        }
    }

    /// What `verifyReceipt` answers about a week that ends at ``end``.
    private static func answer(
        renewal: [String: String],
        purchase: [String: String]
    ) throws -> [UInt8] {
        let period = [
            "product_id": AppStoreWorld.weekly, "transaction_id": "12",
            "original_transaction_id": "11", "web_order_line_item_id": "99", "quantity": "1",
            "purchase_date_ms": "\(AppStoreWorld.start)", "expires_date_ms": "\(end)",
        ].merging(purchase) { $1 }
        let terms = renewal.merging(["original_transaction_id": "11"]) { $1 }
        let answer: [String: Any] = [
            "status": 0, "environment": "Sandbox", "latest_receipt_info": [period],
            "pending_renewal_info": [terms],
            "receipt": [
                "bundle_id": TestServer.bundleID, "receipt_type": "ProductionSandbox",
                "request_date_ms": "\(AppStoreWorld.start)",
            ],
        ]
        return Array(try JSONSerialization.data(withJSONObject: answer))
    }
}
