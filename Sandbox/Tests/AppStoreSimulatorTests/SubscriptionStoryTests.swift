import AppStoreSimulator
import Testing

@Suite struct SubscriptionStories {
    @Test func aSubscriptionRenewsUntilCancelledAndThenEnds() async throws {
        let test = try await TestStore()
        let customer = try await test.store.createCustomer()
        let bought = try await test.store.buy("monthly", customer: customer.id)
        await test.pass(days: 32)
        try await test.store.cancel(bought.originalTransactionID)
        await test.pass(days: 60)
        #expect(
            await test.told() == [
                "SUBSCRIBED/INITIAL_BUY", "DID_RENEW",
                "DID_CHANGE_RENEWAL_STATUS/AUTO_RENEW_DISABLED", "EXPIRED/VOLUNTARY",
            ]
        )
        let payload = try await test.lastPayload()
        #expect(payload.status == 2)
        let transaction = try payload.transaction()
        #expect(transaction.string("originalTransactionId") == bought.transactionID)
        #expect(transaction.string("transactionReason") == "RENEWAL")
        #expect(payload.int("signedDate") == transaction.int("expiresDate"))
        #expect(try payload.renewalInfo().int("expirationIntent") == 1)
    }

    @Test func monthsAreCountedFromTheFirstDayEvenAcrossFebruary() async throws {
        let january31 = TestStore.start + 30 * TestStore.day
        let test = try await TestStore(start: january31)
        let customer = try await test.store.createCustomer()
        _ = try await test.store.buy("monthly", customer: customer.id)
        await test.pass(days: 70)
        let ends = try await test.store.transactions(customer: customer.id)
            .compactMap(\.expiresDate).map { ($0 - TestStore.start) / TestStore.day }
        // 28 February, 31 March and 30 April of 2026, as days since 1 January.
        #expect(ends == [58, 89, 119])
    }

    @Test func aRenewalBeginsWhereItsPredecessorEnds() async throws {
        let test = try await TestStore()
        let customer = try await test.store.createCustomer()
        _ = try await test.store.buy("monthly", customer: customer.id)
        await test.pass(days: 400)
        let transactions = try await test.store.transactions(customer: customer.id)
        #expect(transactions.count == 14)
        for (earlier, later) in zip(transactions, transactions.dropFirst()) {
            #expect(later.purchaseDate == earlier.expiresDate)
            #expect(later.webOrderLineItemID != earlier.webOrderLineItemID)
        }
    }

    @Test func aLapsedCustomerResubscribesUnderTheSameOriginalTransaction() async throws {
        let test = try await TestStore()
        let customer = try await test.store.createCustomer()
        let first = try await test.store.buy("monthly", customer: customer.id)
        try await test.store.cancel(first.originalTransactionID)
        await test.pass(days: 100)
        let second = try await test.store.buy("yearly", customer: customer.id)
        #expect(second.originalTransactionID == first.transactionID)
        #expect(second.transactionID != first.transactionID)
        #expect(await test.told().last == "SUBSCRIBED/RESUBSCRIBE")
    }

    @Test func anUpgradeReplacesTheRunningPeriodAtOnce() async throws {
        let test = try await TestStore()
        let customer = try await test.store.createCustomer()
        let first = try await test.store.buy("monthly", customer: customer.id)
        await test.pass(days: 10)
        let upgraded = try await test.store.buy("gold", customer: customer.id)
        #expect(upgraded.originalTransactionID == first.originalTransactionID)
        #expect(await test.told().last == "DID_CHANGE_RENEWAL_PREF/UPGRADE")
        let old = try JWSPayload(try await test.store.signedTransaction(first.transactionID).jws)
        #expect(old.fields["isUpgraded"] as? Bool == true)
        #expect(try JWSPayload(upgraded.jws).fields["isUpgraded"] == nil)
        let view = try await test.store.entitlements(customer: customer.id)
        #expect(view.currentEntitlements.count == 1)
    }

    @Test func aDowngradeWaitsForTheNextRenewal() async throws {
        let test = try await TestStore()
        let customer = try await test.store.createCustomer()
        let bought = try await test.store.buy("gold", customer: customer.id)
        _ = try await test.store.changePlan(bought.originalTransactionID, to: "monthly")
        #expect(await test.told().last == "DID_CHANGE_RENEWAL_PREF/DOWNGRADE")
        let info = try await test.lastPayload().renewalInfo()
        #expect(info.string("productId") == "gold")
        #expect(info.string("autoRenewProductId") == "monthly")
        await test.pass(days: 32)
        #expect(await test.told().last == "DID_RENEW")
        #expect(try await test.lastPayload().transaction().string("productId") == "monthly")
    }

    @Test func aFailedChargeGoesThroughGraceAndRecovers() async throws {
        let test = try await TestStore()
        let customer = try await test.store.createCustomer()
        let bought = try await test.store.buy("monthly", customer: customer.id)
        let end = try #require(try JWSPayload(bought.jws).int("expiresDate"))
        try await test.store.failBilling(customer: customer.id)
        await test.pass(days: 33)
        let failed = try await test.lastPayload()
        #expect(await test.told().last == "DID_FAIL_TO_RENEW/GRACE_PERIOD")
        #expect(failed.status == 4)
        let info = try failed.renewalInfo()
        #expect(info.int("gracePeriodExpiresDate") == end + 16 * TestStore.day)
        #expect(info.fields["isInBillingRetryPeriod"] as? Bool == true)
        try await test.store.recoverBilling(customer: customer.id)
        let recovered = try await test.lastPayload()
        #expect(await test.told().last == "DID_RENEW/BILLING_RECOVERY")
        #expect(recovered.status == 1)
        // The cycle is what it would have been: the first of March.
        #expect(
            try recovered.transaction().int("expiresDate") == TestStore.start + 59 * TestStore.day
        )
    }

    @Test func graceRunsOutThenRetryThenItEnds() async throws {
        let test = try await TestStore()
        let customer = try await test.store.createCustomer()
        _ = try await test.store.buy("monthly", customer: customer.id)
        try await test.store.failBilling(customer: customer.id)
        await test.pass(days: 120)
        #expect(
            await test.told() == [
                "SUBSCRIBED/INITIAL_BUY", "DID_FAIL_TO_RENEW/GRACE_PERIOD",
                "GRACE_PERIOD_EXPIRED", "EXPIRED/BILLING_RETRY",
            ]
        )
        #expect(
            try await test.lastPayload().int("signedDate") == TestStore.start + 91 * TestStore.day
        )
    }

    @Test func withoutGraceAFailedChargeSuspendsAtOnce() async throws {
        let test = try await TestStore(graceDays: nil)
        let customer = try await test.store.createCustomer()
        _ = try await test.store.buy("monthly", customer: customer.id)
        try await test.store.failBilling(customer: customer.id)
        await test.pass(days: 32)
        #expect(await test.told().last == "DID_FAIL_TO_RENEW")
        #expect(try await test.lastPayload().status == 3)
    }

    @Test func theSandboxRenewsTwelveTimesInMinutes() async throws {
        let test = try await TestStore(environment: .sandbox)
        let customer = try await test.store.createCustomer()
        _ = try await test.store.buy("monthly", customer: customer.id)
        await test.pass(days: 1)
        let told = await test.told()
        #expect(told.filter { $0 == "DID_RENEW" }.count == 12)
        #expect(told.last == "EXPIRED/VOLUNTARY")
        #expect(try await test.lastPayload().int("signedDate") == TestStore.start + 13 * 300_000)
    }

    /// The table of App Store Connect's `subscriptionRenewalRate`, in seconds.
    struct Rate: Sendable, CustomTestStringConvertible {
        var rate: SimulatedAppStore.Renewals.Rate
        var lengths: [(period: String, seconds: Int64)]
        var weeklyGrace: Int64
        var grace: Int64
        var retry: Int64
        var testDescription: String { rate.rawValue }

        init(
            _ rate: SimulatedAppStore.Renewals.Rate,
            _ seconds: [Int64],
            weeklyGrace: Int64,
            grace: Int64,
            retry: Int64
        ) {
            self.rate = rate
            lengths = zip(["P1W", "P1M", "P2M", "P3M", "P6M", "P1Y"], seconds).map { ($0, $1) }
            self.weeklyGrace = weeklyGrace
            self.grace = grace
            self.retry = retry
        }
    }

    static let rates = [
        Rate(
            .everyFiveMinutes,
            [180, 300, 600, 900, 1800, 3600],
            weeklyGrace: 154,
            grace: 150,
            retry: 600
        ),
        Rate(
            .everyFifteenMinutes,
            [300, 900, 1800, 2700, 5400, 10_800],
            weeklyGrace: 257,
            grace: 450,
            retry: 1800
        ),
        Rate(
            .everyThirtyMinutes,
            [600, 1800, 3600, 5400, 10_800, 21_600],
            weeklyGrace: 514,
            grace: 900,
            retry: 3600
        ),
        Rate(
            .everyHour,
            [900, 3600, 7200, 10_800, 21_600, 43_200],
            weeklyGrace: 771,
            grace: 1800,
            retry: 7200
        ),
    ]

    @Test(arguments: rates)
    func theSandboxCompressesEachPeriodItsGraceAndItsRetry(_ rate: Rate) async throws {
        for (period, seconds) in rate.lengths {
            let test = try await TestStore(
                environment: .sandbox,
                renewals: .compressed(rate.rate),
                products: [TestStore.product("plan", period: period)]
            )
            let customer = try await test.store.createCustomer()
            let bought = try JWSPayload(
                try await test.store.buy("plan", customer: customer.id).jws
            )
            let end = try #require(bought.int("expiresDate"))
            #expect(end - TestStore.start == seconds * 1000, "\(period)")
            try await test.store.failBilling(customer: customer.id)
            await test.pass(days: 0, milliseconds: seconds * 1000 + 1)
            let info = try await test.lastPayload().renewalInfo()
            let grace = period == "P1W" ? rate.weeklyGrace : rate.grace
            #expect(info.int("gracePeriodExpiresDate") == end + grace * 1000, "\(period)")
            await test.pass(days: 2)
            #expect(await test.told().last == "EXPIRED/BILLING_RETRY", "\(period)")
            #expect(
                try await test.lastPayload().int("signedDate") == end + rate.retry * 1000,
                "\(period)"
            )
        }
    }

    @Test func aTrialComesOnceAndThenCosts() async throws {
        let trial = SimulatedAppStore.Offer(
            kind: .introductory,
            discount: .freeTrial,
            period: try #require(.init("P1W"))
        )
        let test = try await TestStore(products: [
            TestStore.product("trial", price: 4_990, level: 2, introductory: trial)
        ])
        let customer = try await test.store.createCustomer()
        let bought = try JWSPayload(
            try await test.store.buy("trial", customer: customer.id).jws
        )
        #expect(bought.int("offerType") == 1)
        #expect(bought.string("offerDiscountType") == "FREE_TRIAL")
        #expect(bought.int("price") == 0)
        #expect(bought.int("expiresDate") == TestStore.start + 7 * TestStore.day)
        await test.pass(days: 8)
        let renewed = try await test.lastPayload().transaction()
        #expect(renewed.int("price") == 4_990)
        #expect(renewed.int("offerType") == nil)
        // A month from the end of the trial: 8 February.
        #expect(renewed.int("expiresDate") == TestStore.start + 38 * TestStore.day)
    }

    @Test func anUnansweredPriceIncreaseEndsTheSubscription() async throws {
        let test = try await TestStore()
        let customer = try await test.store.createCustomer()
        _ = try await test.store.buy("monthly", customer: customer.id)
        try await test.store.raisePrice(of: "monthly", to: 12_990, consentRequired: true)
        #expect(try await test.lastPayload().renewalInfo().int("priceIncreaseStatus") == 0)
        await test.pass(days: 32)
        #expect(
            await test.told().suffix(2) == ["PRICE_INCREASE/PENDING", "EXPIRED/PRICE_INCREASE"]
        )
    }

    @Test func anExtensionMovesTheRenewal() async throws {
        let test = try await TestStore()
        let customer = try await test.store.createCustomer()
        let bought = try await test.store.buy("monthly", customer: customer.id)
        try await test.store.extend(bought.originalTransactionID, days: 10)
        let payload = try await test.lastPayload()
        #expect(await test.told().last == "RENEWAL_EXTENDED")
        let newEnd = TestStore.start + 41 * TestStore.day
        #expect(try payload.transaction().int("expiresDate") == newEnd)
        #expect(try payload.renewalInfo().int("renewalDate") == newEnd)
        await test.pass(days: 42)
        #expect(try await test.lastPayload().transaction().int("purchaseDate") == newEnd)
    }

    @Test func aRestoreMayMakeANewTransactionOfTheSamePeriod() async throws {
        var behaviour = SimulatedAppStore.Behaviour()
        behaviour.restoreMakesNewTransactionIDs = true
        let test = try await TestStore(behaviour: behaviour)
        let customer = try await test.store.createCustomer()
        let bought = try await test.store.buy("monthly", customer: customer.id)
        let restored = try #require(try await test.store.restore(customer: customer.id).first)
        #expect(restored.transactionID != bought.transactionID)
        #expect(restored.originalTransactionID == bought.originalTransactionID)
        let (first, alias) = (try JWSPayload(bought.jws), try JWSPayload(restored.jws))
        #expect(first.string("webOrderLineItemId") == alias.string("webOrderLineItemId"))
        #expect(first.int("expiresDate") == alias.int("expiresDate"))
        await test.pass(days: 32)
        #expect(await test.told().last == "DID_RENEW")
    }

    @Test func renewalsMayBeChargedAheadOfTheEnd() async throws {
        let test = try await TestStore(renewalLead: TestStore.day)
        let customer = try await test.store.createCustomer()
        let bought = try JWSPayload(
            try await test.store.buy("monthly", customer: customer.id).jws
        )
        await test.pass(days: 30)
        let payload = try await test.lastPayload()
        #expect(payload.string("notificationType") == "DID_RENEW")
        #expect(payload.int("signedDate") == TestStore.start + 30 * TestStore.day)
        #expect(try payload.transaction().int("purchaseDate") == bought.int("expiresDate"))
        try await test.store.raisePrice(of: "monthly", to: 12_990, consentRequired: true)
        await test.pass(days: 40)
        #expect(await test.told().last == "EXPIRED/PRICE_INCREASE")
        #expect(
            try await test.lastPayload().int("signedDate")
                == TestStore.start + 59 * TestStore.day
        )
    }

    @Test func aFamilyFollowsItsBuyer() async throws {
        let test = try await TestStore(products: [
            TestStore.product("family", price: 14_990, level: 2, shared: true)
        ])
        let buyer = try await test.store.createCustomer(family: "f")
        let member = try await test.store.createCustomer(family: "f")
        let bought = try await test.store.buy("family", customer: buyer.id)
        let shared = try #require(try await test.store.transactions(customer: member.id).first)
        #expect(shared.ownership == .familyShared)
        #expect(shared.originalID != bought.originalTransactionID)
        await test.pass(days: 32)
        #expect(try await test.store.transactions(customer: member.id).count == 2)
        try await test.store.revokeFamilyShare(shared.originalID)
        #expect(await test.told().last == "REVOKE")
        #expect(try await test.lastPayload().status == 5)
        let view = try await test.store.entitlements(customer: member.id)
        #expect(view.currentEntitlements.isEmpty)
    }
}
