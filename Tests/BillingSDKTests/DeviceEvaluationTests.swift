import Foundation
import Testing
import TollgateAPI
import TollgateCore

@testable import BillingSDK

/// A device that never had an answer, and StoreKit on it.
@Suite struct DeviceEvaluationTests {
    static let catalog = Catalog(
        entitlements: [.init(lookupKey: "pro", name: "Pro features")],
        products: [
            .init(
                id: "pro_monthly",
                name: "Pro",
                kind: .autoRenewable,
                appStoreProductID: "monthly",
                entitlements: ["pro"]
            ),
            .init(
                id: "pass",
                name: "Pass",
                kind: .nonRenewing,
                appStoreProductID: "pass30",
                entitlements: ["pro"],
                duration: CalendarDuration(days: 30)
            ),
        ]
    )

    /// A transaction as the App Store signs it; times are seconds from the test clock's start.
    static func transaction(
        _ product: String = "monthly",
        type: String = "Auto-Renewable Subscription",
        from start: Int64 = 0,
        to end: Int64? = 30 * 86400,
        revoked: Int64? = nil,
        token: UUID? = nil,
        offer: Int? = nil
    ) -> Data {
        let zero: Int64 = 1_800_000_000
        var payload: [String: Any] = [
            "transactionId": "1", "originalTransactionId": "1", "webOrderLineItemId": "w1",
            "bundleId": "com.example.app", "productId": product, "type": type,
            "purchaseDate": (zero + start) * 1000, "signedDate": (zero + start) * 1000,
            "environment": "Sandbox", "quantity": 1, "inAppOwnershipType": "PURCHASED",
        ]
        payload["appAccountToken"] = token?.uuidString
        payload["offerType"] = offer
        payload["expiresDate"] = end.map { (zero + $0) * 1000 }
        payload["revocationDate"] = revoked.map { (zero + $0) * 1000 }
        return (try? JSONSerialization.data(withJSONObject: payload)) ?? Data()
    }

    /// A phone whose app has seen the catalog, but never an answer about its customer.
    private func phone() async throws -> OfflineTests.Phone {
        let phone = OfflineTests.Phone()
        phone.server.world.withLock { $0.catalog = Self.catalog }
        let first = phone.launch()
        _ = try await first.billing.getBuyButton(id: "buy_btn_monthly")
        await first.settled()
        phone.server.mood(.answers(503, .storageUnavailable))
        return phone
    }

    private func statements(_ transactions: Data...) -> @Sendable () async -> [StoreKitStatement] {
        { transactions.map { StoreKitStatement(transaction: $0) } }
    }

    @Test func storeKitDecidesWhereTheServerNeverHas() async throws {
        let phone = try await phone()
        let app = phone.launch(storeKit: statements(Self.transaction()))
        #expect(
            try await app.billing.getActiveEntitlements()
                == [Entitlement(id: "ent_pro", feature: "Pro features", lookupKey: "pro")]
        )
        #expect(app.heardSets == [["pro"]])
        #expect(await billingError { try await app.keys(forceRefresh: true) } != nil)
    }

    @Test(arguments: [true, nil])
    func theDeviceSaysWhetherItRenewsAndByWhichOffer(_ renews: Bool?) async throws {
        let terms = #"{"autoRenewStatus":1,"signedDate":1800000000000}"#
        let statement = StoreKitStatement(
            transaction: Self.transaction(offer: 1),
            renewalInfo: renews.map { _ in Data(terms.utf8) },
            status: 1
        )
        let phone = try await phone()
        let app = phone.launch(storeKit: { [statement] })
        let pro = try #require(try await app.billing.getActiveEntitlements().first)
        #expect(pro.willRenew == renews && pro.offer == .introductory)
    }

    @Test func aPeriodEndsOnTheDeviceToo() async throws {
        let phone = try await phone()
        let app = phone.launch(storeKit: statements(Self.transaction(to: 1000)))
        phone.server.clock.advance(by: 999)
        #expect(try await app.keys() == ["pro"])
        phone.server.clock.advance(by: 1)
        #expect(await billingError { try await app.keys() }?.name == "serverUnavailable")
    }

    @Test func theCatalogsDurationHoldsForWhatDoesNotRenew() async throws {
        let phone = try await phone()
        let pass = Self.transaction(
            "pass30",
            type: "Non-Renewing Subscription",
            from: -20 * 86400,
            to: nil
        )
        let app = phone.launch(storeKit: statements(pass))
        phone.server.clock.advance(by: 10 * 86400 - 1)
        #expect(try await app.keys() == ["pro"])
        phone.server.clock.advance(by: 1)
        #expect(await billingError { try await app.keys() } != nil)
    }

    @Test func whatWasRefundedGivesNothing() async throws {
        let phone = try await phone()
        phone.server.clock.advance(by: 10)
        let app = phone.launch(storeKit: statements(Self.transaction(revoked: 5)))
        #expect(await billingError { try await app.keys() } != nil)
    }

    /// What was bought on the web is not known to StoreKit, so it cannot say no.
    @Test func storeKitWithoutPurchasesIsNoAnswer() async throws {
        let phone = try await phone()
        for app in [
            phone.launch(storeKit: statements()),
            phone.launch(storeKit: statements(Self.transaction("unheard_of"))),
            phone.launch(storeKit: statements(Data("{".utf8), Data())),
        ] {
            #expect(await billingError { try await app.keys() }?.name == "serverUnavailable")
            #expect(app.heardSets == [])
        }
    }

    // MARK: - Paid during an outage

    /// A phone whose customer was answered with `premium` alone, before an outage of a hundred seconds.
    private func answeredPhone() async throws -> OfflineTests.Phone {
        let phone = OfflineTests.Phone()
        phone.server.world.withLock { $0.catalog = Self.catalog }
        #expect(try await phone.launch().keys() == ["premium"])
        phone.server.mood(.unreachable)
        phone.server.clock.advance(by: 100)
        return phone
    }

    @Test func whoPaysDuringAnOutageIsLetInWhateverAnEarlierAnswerSaid() async throws {
        let phone = try await answeredPhone()
        let app = phone.launch(storeKit: statements(Self.transaction(from: 50)))
        #expect(try await app.keys() == ["premium", "pro"])
        #expect(app.heardSets == [["premium", "pro"]])
    }

    /// The server knew it when it answered, and had its reasons: a refund, another owner.
    @Test func whatIsOlderThanTheAnswerDoesNotOutrankIt() async throws {
        let phone = try await answeredPhone()
        let app = phone.launch(storeKit: statements(Self.transaction(from: -50)))
        #expect(try await app.keys() == ["premium"])
    }

    @Test func whatBearsAnotherCustomersTokenDoesNotCount() async throws {
        let phone = try await answeredPhone()
        let tokens = AccountTokens(storage: phone.launch().billing.client.storage)
        tokens.keep(FakeServer.token(of: "cus_ada"), of: "cus_ada")
        for (customer, keys) in [("cus_ada", ["premium", "pro"]), ("cus_bob", ["premium"])] {
            let bought = Self.transaction(from: 50, token: FakeServer.token(of: customer))
            #expect(try await phone.launch(storeKit: statements(bought)).keys() == keys)
        }
    }

    /// At a launch where the app's backend is away too, whose the answer is says which token counts.
    @Test func whatBearsAnotherCustomersTokenDoesNotCountAtALaunchWithoutABackend() async throws {
        let phone = try await answeredPhone()
        let tokens = AccountTokens(storage: phone.launch().billing.client.storage)
        tokens.keep(FakeServer.token(of: "cus_ada"), of: "cus_ada")
        for (customer, keys) in [("cus_ada", ["premium", "pro"]), ("cus_bob", ["premium"])] {
            let bought = Self.transaction(from: 50, token: FakeServer.token(of: customer))
            let app = phone.launch(storeKit: statements(bought))
            app.backend.withLock { $0.failure = URLError(.notConnectedToInternet) }
            #expect(try await app.keys() == keys)
        }
    }

    // MARK: - Paid while only writes fail

    private static let jws = "e30.e30." + String(repeating: "s", count: 86)

    /// A phone on which `premium` holds, and an app whose purchase of `pro` the server cannot take.
    private func bought(
        token: UUID? = FakeServer.token(of: "cus_ada"),
        mode: AppStoreSubmission.Mode = .purchased,
        from start: Int64 = 0,
        mood: FakeServer.Mood = .answers(503, .storageUnavailable)
    ) async throws -> (
        phone: OfflineTests.Phone, app: TestApp,
        storeKit: @Sendable () async -> [StoreKitStatement], transaction: SignedTransaction
    ) {
        let phone = OfflineTests.Phone()
        phone.server.world.withLock { $0.catalog = Self.catalog }
        let statement = StoreKitStatement(
            transaction: Self.transaction(from: start, token: token),
            signedTransaction: Self.jws
        )
        let storeKit: @Sendable () async -> [StoreKitStatement] = { [statement] }
        let app = phone.launch(storeKit: storeKit)
        #expect(try await app.keys() == ["premium"])
        let tokens = AccountTokens(storage: app.billing.client.storage)
        tokens.keep(FakeServer.token(of: "cus_ada"), of: "cus_ada")
        phone.server.clock.advance(by: 120)
        phone.server.mood(mood, on: .appStoreTransactions)
        let transaction = SignedTransaction(id: 1, jwsRepresentation: Self.jws) {}
        _ = try? await app.delivery.deliver(transaction, mode: mode)
        return (phone, app, storeKit, transaction)
    }

    @Test func whoPaysWhileOnlyWritesFailIsLetInUntilTheServerHasIt() async throws {
        let (phone, app, storeKit, transaction) = try await bought()
        #expect(try await app.keys(forceRefresh: true) == ["premium", "pro"])
        // After a relaunch, too, and if reads fail as well from then on.
        let next = phone.launch(storeKit: storeKit)
        #expect(try await next.keys() == ["premium", "pro"])
        phone.server.mood(.unreachable)
        #expect(try await phone.launch(storeKit: storeKit).keys() == ["premium", "pro"])
        // The server takes it, and its word counts.
        phone.server.mood(.well)
        phone.server.mood(nil, on: .appStoreTransactions)
        _ = try await next.delivery.deliver(transaction, mode: .observed)
        #expect(try await next.keys() == ["premium"])
        #expect(try await phone.launch(storeKit: storeKit).keys() == ["premium"])
    }

    @Test(arguments: [409, 422])
    func whatTheServerRefusesForGoodEndsAtOnce(_ status: Int) async throws {
        let (phone, app, storeKit, transaction) = try await bought()
        #expect(try await app.keys(forceRefresh: true) == ["premium", "pro"])
        phone.server.mood(.answers(status, .appMismatch), on: .appStoreTransactions)
        _ = try await app.delivery.deliver(transaction, mode: .observed)
        #expect(try await app.keys() == ["premium"])
        #expect(try await phone.launch(storeKit: storeKit).keys() == ["premium"])
    }

    @Test(arguments: [401, 403, 404])
    func whatTheServerDoesNotTakeNowIsNoOutage(_ status: Int) async throws {
        let (phone, app, storeKit, _) = try await bought(
            mood: .answers(status, .resourceMissing)
        )
        #expect(try await app.keys(forceRefresh: true) == ["premium"])
        #expect(try await phone.launch(storeKit: storeKit).keys() == ["premium"])
    }

    @Test(arguments: [AppStoreSubmission.Mode.restored, .observed])
    func onlyWhatWasBoughtHereCounts(_ mode: AppStoreSubmission.Mode) async throws {
        let (phone, app, _, _) = try await bought(mode: mode)
        #expect(try await app.keys(forceRefresh: true) == ["premium"])
        _ = phone
    }

    @Test func whoAlsoRestoresDuringTheOutageHasStillBought() async throws {
        let (phone, app, _, transaction) = try await bought()
        _ = try? await app.delivery.deliver(transaction, mode: .restored)
        #expect(try await app.keys(forceRefresh: true) == ["premium", "pro"])
        _ = phone
    }

    @Test func whatWasBoughtLongBeforeIsGivenAgainWithoutACharge() async throws {
        let (phone, app, _, _) = try await bought(from: -3600)
        #expect(try await app.keys(forceRefresh: true) == ["premium"])
        _ = phone
    }

    @Test func aTransactionThatIsSignedAnewEndsTheClaimToo() async throws {
        let (phone, _, storeKit, _) = try await bought()
        let next = phone.launch(storeKit: storeKit)
        #expect(try await next.keys() == ["premium", "pro"])
        phone.server.mood(nil, on: .appStoreTransactions)
        let anew = "e30.e30." + String(repeating: "t", count: 86)
        let transaction = SignedTransaction(id: 1, jwsRepresentation: anew) {}
        _ = try await next.delivery.deliver(transaction, mode: .observed)
        #expect(phone.server.world.withLock { $0.submitted.last?.mode } == .purchased)
        #expect(try await next.keys() == ["premium"])
        #expect(try await phone.launch(storeKit: storeKit).keys() == ["premium"])
    }

    @Test func whatOneCustomerBoughtIsNoClaimOfTheNextOnes() async throws {
        let (phone, app, _, _) = try await bought()
        app.signIn("cus_bob")
        app.billing.client.customerChanged()
        _ = try await app.keys()
        await app.delivery.retryNow()
        let sent = phone.server.requests("POST", "/v1/app_store/transactions").last?.body
        let body = try APIJSON.decode(API.AppStoreTransactionRequest.self, from: #require(sent))
        #expect(body.mode == .observed)
        app.signIn("cus_ada")
        app.billing.client.customerChanged()
        #expect(try await app.keys(forceRefresh: true) == ["premium", "pro"])
    }

    @Test func aRefusedSessionThatWasMendedDoesNotLockOutDuringAnOutage() async throws {
        let (phone, app, _, transaction) = try await bought(mood: .answers(403, .resourceMissing))
        #expect(try await app.keys(forceRefresh: true) == ["premium"])
        phone.server.mood(.answers(503, .storageUnavailable), on: .appStoreTransactions)
        _ = try? await app.delivery.deliver(transaction, mode: .observed)
        #expect(try await app.keys(forceRefresh: true) == ["premium", "pro"])
    }

    @Test func whatBearsAnotherTokenOrIsAnotherCustomersIsNotAdded() async throws {
        let (_, other, _, _) = try await bought(token: FakeServer.token(of: "cus_bob"))
        #expect(try await other.keys(forceRefresh: true) == ["premium"])
        let (phone, app, storeKit, _) = try await bought()
        await app.billing.reset()
        #expect(try await app.keys() == ["premium"])
        let (shared, _, held, _) = try await bought()
        let bobs = shared.launch(storeKit: held)
        bobs.signIn("cus_bob")
        #expect(try await bobs.keys() == [])
        _ = (phone, storeKit)
    }

    @Test func anAnswerInMemoryIsOutrankedToo() async throws {
        let phone = OfflineTests.Phone()
        phone.server.world.withLock { $0.catalog = Self.catalog }
        let bought = Locked<[StoreKitStatement]>([])
        let app = phone.launch(storeKit: { bought.withLock { $0 } })
        #expect(try await app.keys() == ["premium"])
        bought.withLock { $0 = [StoreKitStatement(transaction: Self.transaction(from: 10))] }
        phone.server.clock.advance(by: 20)
        phone.server.mood(.unreachable)
        let transaction = SignedTransaction(id: 1, jwsRepresentation: "e30.e30.c2ln") {}
        _ = await billingError { try await app.delivery.deliver(transaction, mode: .purchased) }
        #expect(try await app.keys() == ["premium", "pro"])
    }

    @Test(arguments: [401, 403, 404])
    func aServerThatWillNotVouchAnyMoreEndsItToo(_ status: Int) async throws {
        let phone = try await phone()
        #expect(
            try await phone.launch(storeKit: statements(Self.transaction())).keys() == ["pro"]
        )
        phone.server.mood(.answers(status, .customerErased))
        let refused = phone.launch(storeKit: statements(Self.transaction()))
        #expect(await billingError { try await refused.keys() } != nil)
        phone.server.mood(.unreachable)
        let later = phone.launch(storeKit: statements(Self.transaction()))
        #expect(await billingError { try await later.keys() }?.name == "networkUnavailable")
    }

    @Test func anAnswerOfTheServerCountsMoreThanStoreKit() async throws {
        let phone = OfflineTests.Phone()
        phone.server.world.withLock { $0.catalog = Self.catalog }
        phone.server.grant(to: "cus_ada")
        _ = try await phone.launch().keys()
        phone.server.mood(.unreachable)
        phone.server.clock.advance(by: 3600)
        #expect(try await phone.launch(storeKit: statements(Self.transaction())).keys() == [])
    }

    @Test func nobodySignedInHasNothingEvenWhereStoreKitHasPurchases() async throws {
        let phone = try await phone()
        let app = phone.launch(storeKit: statements(Self.transaction()))
        app.signIn(nil)
        #expect(try await app.keys() == [])
        // Nor at the next launch, where not even the app's backend can be asked.
        let next = phone.launch(storeKit: statements(Self.transaction()))
        next.backend.withLock { $0.failure = URLError(.notConnectedToInternet) }
        #expect(
            await billingError { try await next.keys() }?.name == "customerSessionProviderFailed"
        )
    }

    @Test func theFirstLaunchMayBeWithoutAnyNetwork() async throws {
        let phone = try await phone()
        phone.server.mood(.unreachable)
        let app = phone.launch(storeKit: statements(Self.transaction()))
        app.backend.withLock { $0.failure = URLError(.notConnectedToInternet) }
        #expect(try await app.keys() == ["pro"])
    }

    @Test func withoutASliceThatHoldsThereIsNoAnswer() async throws {
        let phone = try await phone()
        phone.server.clock.advance(by: 30 * 86400)
        let app = phone.launch(storeKit: statements(Self.transaction(to: 90 * 86400)))
        #expect(await billingError { try await app.keys() }?.name == "serverUnavailable")
        let fresh = OfflineTests.Phone()
        fresh.server.mood(.unreachable)
        let never = fresh.launch(storeKit: statements(Self.transaction()))
        #expect(await billingError { try await never.keys() }?.name == "networkUnavailable")
    }

    @Test func aForgedSliceIsWorthNothing() async throws {
        let phone = OfflineTests.Phone()
        phone.server.world.withLock { world in
            world.catalog = Self.catalog
            world.signCatalog = { OfflineTests.Phone.signed($0) + "AA" }
        }
        _ = try await phone.launch().billing.getBuyButton(id: "buy_btn_monthly")
        phone.server.mood(.unreachable)
        let app = phone.launch(storeKit: statements(Self.transaction()))
        #expect(await billingError { try await app.keys() }?.name == "networkUnavailable")
    }

    // MARK: - What the server is told

    /// A phone on which StoreKit holds a plan, and whose server has an answer.
    private func phoneWithPlan() -> (OfflineTests.Phone, @Sendable () async -> [StoreKitStatement])
    {
        let phone = OfflineTests.Phone()
        phone.server.world.withLock { $0.catalog = Self.catalog }
        let statement = StoreKitStatement(
            transaction: Self.transaction(to: 90 * 86400),
            signedTransaction: "e30.e30.c2ln"
        )
        return (phone, { [statement] })
    }

    /// Asks, and waits until what StoreKit holds was compared.
    private func ask(_ app: TestApp) async throws -> [String] {
        let keys = try await app.keys(forceRefresh: true)
        await app.billing.client.observations.task.withLock { $0 }?.value
        return keys
    }

    @Test func signingOutLeavesNothingOfWhatWasTold() async throws {
        let (phone, storeKit) = phoneWithPlan()
        let app = phone.launch(storeKit: storeKit)
        _ = try await ask(app)
        let told = phone.file.deletingLastPathComponent().appendingPathComponent("observation")
        #expect(try String(contentsOf: told, encoding: .utf8).contains("cus_ada"))
        await app.billing.reset()
        #expect(!FileManager.default.fileExists(atPath: told.path))
    }

    @Test func aNoDespiteWhatStoreKitHoldsIsToldOnceADay() async throws {
        let (phone, storeKit) = phoneWithPlan()
        let app = phone.launch(storeKit: storeKit)
        #expect(try await ask(app) == ["premium"])
        let told = API.AppStoreObservation(
            signedTransactions: ["e30.e30.c2ln"],
            lookupKeys: ["pro"]
        )
        #expect(phone.server.world.withLock { $0.observed } == [told])
        // Nor again after a relaunch, until a day has gone by.
        phone.server.clock.advance(by: 86_399)
        _ = try await ask(app)
        let next = phone.launch(storeKit: storeKit)
        _ = try await ask(next)
        #expect(phone.server.world.withLock { $0.observed.count } == 1)
        phone.server.clock.advance(by: 1)
        _ = try await ask(next)
        #expect(phone.server.world.withLock { $0.observed.count } == 2)
    }

    @Test func aYesIsNotToldNorWhatIsNotSigned() async throws {
        let (phone, storeKit) = phoneWithPlan()
        phone.server.grant("premium", "pro", to: "cus_ada")
        _ = try await ask(phone.launch(storeKit: storeKit))
        phone.server.grant("premium", to: "cus_ada")
        _ = try await ask(phone.launch(storeKit: statements(Self.transaction())))
        _ = try await ask(phone.launch(storeKit: statements()))
        #expect(phone.server.requests("POST", APIPath.appStoreObservations.path).isEmpty)
    }

    @Test func whatTheServerSettlesIsThereAtOnce() async throws {
        let (phone, storeKit) = phoneWithPlan()
        let server = phone.server
        let app = phone.launch(storeKit: {
            // By the time that it is told, the server has taken it in.
            server.grant("premium", "pro", to: "cus_ada")
            return await storeKit()
        })
        #expect(try await ask(app) == ["premium"])
        #expect(app.billing.client.cachedAnswer(lookupKey: "pro") == true)
    }

    @Test func aServerThatHasHeardItIsLeftAloneForADayAndOneOutOfReachIsNot() async throws {
        let refusals = [400, 429, 503].map { FakeServer.Mood.answers($0, .parameterInvalid) }
        for (mood, count) in refusals.map({ ($0, 1) }) + [(.unreachable, 2)] {
            let (phone, storeKit) = phoneWithPlan()
            let server = phone.server
            let app = phone.launch(storeKit: {
                server.mood(mood)
                return await storeKit()
            })
            for _ in 0..<2 {
                server.mood(.well)
                _ = try await ask(app)
            }
            let told = server.requests("POST", APIPath.appStoreObservations.path).count
            #expect(told == count, "\(mood)")
        }
    }

    @Test func answersThatComeTogetherTellOnce() async throws {
        let (phone, storeKit) = phoneWithPlan()
        let app = phone.launch(storeKit: storeKit)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<8 { group.addTask { _ = try await app.keys(forceRefresh: true) } }
            try await group.waitForAll()
        }
        _ = try await ask(app)
        #expect(phone.server.world.withLock { $0.observed.count } == 1)
    }

    @Test func aSignedAnswerIsNoSlice() async throws {
        let phone = OfflineTests.Phone()
        phone.server.world.withLock { world in
            world.signCatalog = { slice in
                var other = slice
                other.aud = API.SignedAnswer.audience
                return OfflineTests.Phone.signed(other)
            }
            world.catalog = Self.catalog
        }
        _ = try await phone.launch().billing.getBuyButton(id: "buy_btn_monthly")
        phone.server.mood(.unreachable)
        let app = phone.launch(storeKit: statements(Self.transaction()))
        #expect(await billingError { try await app.keys() } != nil)
    }
}
