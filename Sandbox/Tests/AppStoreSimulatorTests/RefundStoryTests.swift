import AppStoreSimulator
import Testing

@Suite struct RefundStories {
    @Test func aRefundOfTheRunningPeriodRevokesTheSubscription() async throws {
        let test = try await TestStore()
        let customer = try await test.store.createCustomer()
        let bought = try await test.store.buy("monthly", customer: customer.id)
        await test.pass(days: 3)
        try await test.store.refund(bought.transactionID, reason: 1)
        let payload = try await test.lastPayload()
        #expect(payload.string("notificationType") == "REFUND")
        #expect(payload.status == 5)
        let transaction = try payload.transaction()
        #expect(transaction.int("revocationDate") == TestStore.start + 3 * TestStore.day)
        #expect(transaction.int("revocationReason") == 1)
        await test.pass(days: 60)
        #expect(await test.told().last == "REFUND")
    }

    @Test func aRefundOfAnOlderPeriodLeavesTheNewerOne() async throws {
        let test = try await TestStore()
        let customer = try await test.store.createCustomer()
        let bought = try await test.store.buy("monthly", customer: customer.id)
        await test.pass(days: 40)
        try await test.store.refund(bought.transactionID)
        let payload = try await test.lastPayload()
        #expect(payload.status == 1)
        #expect(try payload.transaction().string("transactionId") == bought.transactionID)
    }

    @Test func aReversalRestoresWithoutMovingTheDate() async throws {
        let test = try await TestStore()
        let customer = try await test.store.createCustomer()
        let bought = try await test.store.buy("monthly", customer: customer.id)
        let end = try JWSPayload(bought.jws).int("expiresDate")
        try await test.store.refund(bought.transactionID)
        await test.pass(days: 3)
        try await test.store.reverseRefund(bought.transactionID)
        let payload = try await test.lastPayload()
        #expect(payload.string("notificationType") == "REFUND_REVERSED")
        #expect(payload.status == 1)
        #expect(try payload.transaction().int("revocationDate") == nil)
        #expect(try payload.transaction().int("expiresDate") == end)
    }

    @Test func aSwitchToABundleIsReversedOnlyOnceTheBundleIsRefunded() async throws {
        let test = try await TestStore()
        let customer = try await test.store.createCustomer()
        let bought = try await test.store.buy("monthly", customer: customer.id)
        let bundle = try await test.store.switchToBundle(bought.transactionID)
        await #expect(throws: SimulatedAppStore.Refusal.self) {
            try await test.store.reverseRefund(bought.transactionID)
        }
        try await test.store.refund(bundle.transactionID)
        try await test.store.reverseRefund(bought.transactionID)
    }

    @Test func oneTimePurchasesAreChargedOnceAndRefunded() async throws {
        let test = try await TestStore()
        let customer = try await test.store.createCustomer()
        let coins = try await test.store.buy("coins", customer: customer.id, quantity: 3)
        #expect(try JWSPayload(coins.jws).int("price") == 2_970)
        let unlocked = try await test.store.buy("unlock", customer: customer.id)
        let again = try await test.store.buy("unlock", customer: customer.id)
        #expect(again.transactionID == unlocked.transactionID)
        try await test.store.refund(coins.transactionID)
        #expect(await test.told() == ["ONE_TIME_CHARGE", "ONE_TIME_CHARGE", "REFUND"])
        #expect(try await test.lastPayload().status == nil)
    }
}
