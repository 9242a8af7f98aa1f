import AppStoreSimulator
import Foundation
import Testing

@Suite struct Legacy {
    private func verify(_ url: String, _ body: [String: Any]) async throws -> [String: Any] {
        let json = try JSONSerialization.data(withJSONObject: body)
        let answer = try await post(url, String(decoding: json, as: UTF8.self))
        #expect(answer.status == 200)
        let object = try JSONSerialization.jsonObject(with: Data(answer.body.utf8))
        return try #require(object as? [String: Any])
    }

    @Test func verifyReceiptAnswersForTheWholeCustomer() async throws {
        let test = try await TestStore()
        let customer = try await test.store.createCustomer()
        let bought = try await test.store.buy("monthly", customer: customer.id)
        let receipt = try await test.store.receipt(customer: customer.id)
        _ = try await test.store.buy("unlock", customer: customer.id)
        await test.pass(days: 40)
        let secret = await test.store.sharedSecret
        try await listening(to: test.store.router()) { port in
            let url = "http://127.0.0.1:\(port)/verifyReceipt"
            let answer = try await verify(url, ["receipt-data": receipt, "password": secret])
            #expect(answer["status"] as? Int == 0)
            #expect(answer["environment"] as? String == "Production")
            let latest = try #require(answer["latest_receipt_info"] as? [[String: String]])
            #expect(latest.map { $0["product_id"] } == ["monthly", "unlock", "monthly"])
            #expect(latest[0]["expires_date_pst"] == "2026-02-28 16:00:00 America/Los_Angeles")
            #expect(latest[0]["expires_date_ms"] == "1772323200000")
            #expect(latest[2]["transaction_id"] == bought.transactionID)
            let pending = try #require(answer["pending_renewal_info"] as? [[String: String]])
            #expect(pending.map { $0["auto_renew_status"] } == ["1"])
            let only = try await verify(
                url,
                ["receipt-data": receipt, "password": secret, "exclude-old-transactions": true]
            )
            #expect((only["latest_receipt_info"] as? [Any])?.count == 2)
            let again = try #require(answer["latest_receipt"] as? String)
            let second = try await verify(url, ["receipt-data": again, "password": secret])
            #expect(second["status"] as? Int == 0)
            for (body, status) in [
                (["receipt-data": receipt], 21004),
                (["receipt-data": receipt, "password": "no"], 21004),
                (["receipt-data": "bm9uc2Vuc2U="], 21002), (["receipt": receipt], 21002),
            ] {
                #expect(try await verify(url, body)["status"] as? Int == status)
            }
            var damaged = try #require(Data(base64Encoded: receipt))
            let place = try #require(damaged.range(of: Data("monthly".utf8))).lowerBound
            damaged[place] = UInt8(ascii: "M")
            let forged = try await verify(
                url,
                ["receipt-data": damaged.base64EncodedString(), "password": secret]
            )
            #expect(forged["status"] as? Int == 21003)
        }
    }

    @Test func aSandboxReceiptIsSentToTheSandbox() async throws {
        let sandbox = try await TestStore(environment: .sandbox)
        let production = try await TestStore()
        let customer = try await sandbox.store.createCustomer()
        let receipt = try await sandbox.store.receipt(customer: customer.id)
        try await listening(to: production.store.router()) { port in
            let answer = try await verify(
                "http://127.0.0.1:\(port)/verifyReceipt",
                ["receipt-data": receipt]
            )
            #expect(answer["status"] as? Int == 21007)
        }
    }

    @Test func aProductionReceiptIsSentToProduction() async throws {
        let sandbox = try await TestStore(environment: .sandbox)
        let production = try await TestStore()
        let customer = try await production.store.createCustomer()
        let receipt = try await production.store.receipt(customer: customer.id)
        try await listening(to: sandbox.store.router()) { port in
            let url = "http://127.0.0.1:\(port)/verifyReceipt"
            #expect(try await verify(url, ["receipt-data": receipt])["status"] as? Int == 21008)
            // What is no POST is no request.
            let answer = try await get(url, Token(await sandbox.store.apiKey))
            #expect(answer.body.contains("21000"))
        }
    }

    @Test func anOldTransactionReceiptExpires() async throws {
        let test = try await TestStore()
        let customer = try await test.store.createCustomer()
        let bought = try await test.store.buy("monthly", customer: customer.id)
        let receipt = try await test.store.transactionReceipt(bought.transactionID)
        let secret = await test.store.sharedSecret
        try await listening(to: test.store.router()) { port in
            let url = "http://127.0.0.1:\(port)/verifyReceipt"
            let body = ["receipt-data": receipt, "password": secret]
            let answer = try await verify(url, body)
            #expect(answer["status"] as? Int == 0)
            #expect(answer["latest_receipt_info"] is [String: String])
            try await test.store.cancel(bought.originalTransactionID)
            await test.pass(days: 40)
            #expect(try await verify(url, body)["status"] as? Int == 21006)
        }
    }

    /// Three more tries in 78 hours; but only for three days after the switch to version 2.
    @Test(
        arguments: [
            (nil, [0, 6, 30, 78]), (0, [0, 6, 30]), (5, [0, 6, 30]), (6, [0, 6, 30, 78]),
        ] as [(Int64?, [Int64])]
    )
    func versionOneRetriesThriceAndGoesOnForThreeDaysAfterTheSwitch(
        _ switched: Int64?,
        _ hours: [Int64]
    ) async throws {
        let test = try await TestStore()
        await test.store.setNotificationVersion(1)
        await test.inbox.answer(Array(repeating: .noResponse, count: 4))
        let customer = try await test.store.createCustomer()
        let bought = try await test.store.buy("monthly", customer: customer.id)
        if let switched {
            await test.pass(days: 0, milliseconds: switched * 3_600_000)
            await test.store.setNotificationVersion(2)
        }
        await test.pass(days: 10)
        let first = try #require(await test.store.notifications().first)
        #expect(
            first.attempts.map { ($0.attemptDate - TestStore.start) / 3_600_000 } == hours
        )
        let body = try #require(
            try JSONSerialization.jsonObject(
                with: Data(await test.inbox.payloads[hours.count - 1].utf8)
            ) as? [String: Any]
        )
        #expect(body["notification_type"] as? String == "INITIAL_BUY")
        #expect(body["environment"] as? String == "PROD")
        #expect(body["original_transaction_id"] as? String == bought.transactionID)
        #expect(body["auto_renew_status"] as? String == "true")
        guard switched != nil else { return }
        try await test.store.cancel(bought.originalTransactionID)
        #expect(
            try await test.lastPayload().string("notificationType") == "DID_CHANGE_RENEWAL_STATUS"
        )
    }

}
