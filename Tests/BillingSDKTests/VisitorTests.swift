import Foundation
import Testing
import TollgateAPI

@testable import BillingSDK

/// What is bought before anybody has signed in.
@Suite struct VisitorTests {
    /// FIPS 180-4's own examples, one, two and many blocks long.
    @Test(arguments: [
        ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
        (
            "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
        ),
        (
            String(repeating: "a", count: 1000),
            "41edece42d63e8d9bf515a9ba6932e1c20cbc9f5a5d134645adb5db1b9737ea3"
        ),
    ])
    func aSecretIsHashedAsTheServerHashesIt(_ text: String, _ hash: String) {
        let digest = SecureHash.portable(Data(text.utf8))
        #expect(digest.map { String(format: "%02x", $0) }.joined() == hash)
        #expect(SecureHash.of(Data(text.utf8)) == digest)
    }

    private func checkout(_ app: TestApp) async throws -> String? {
        _ = try await app.billing.getBuyButton(id: "buy_btn_monthly").checkout()
        return app.server.world.withLock { $0.checkoutBodies.last?.clientReferenceID }
    }

    @Test func aVisitorsCheckoutIsClaimedByWhoSignsIn() async throws {
        let app = TestApp()
        app.signIn(nil)
        let reference = try #require(try await checkout(app))
        #expect(try await checkout(app) == reference)
        app.signIn("cus_ada")
        app.server.grant("premium", to: "cus_ada")
        _ = try await app.keys()
        await app.settled()
        let claimed = app.server.world.withLock { $0.claimed }
        #expect(claimed.map(VisitorPurchases.reference) == [reference])
        // Once is enough, and the next visitor has another secret.
        await app.billing.reset()
        app.signIn(nil)
        #expect(try await checkout(app) != reference)
    }

    @Test func aClaimThatTheServerHasNotHeardIsMadeAtTheNextLaunchByTheSameCustomerOnly()
        async throws
    {
        let phone = OfflineTests.Phone()
        let first = phone.launch()
        first.signIn(nil)
        let reference = try await checkout(first)
        phone.server.mood(.answers(503, .storageUnavailable), on: .checkoutClaims)
        first.signIn("cus_ada")
        _ = try await first.keys()
        phone.server.mood(nil, on: .checkoutClaims)
        await first.billing.reset()
        let bobs = phone.launch()
        bobs.signIn("cus_bob")
        _ = try await bobs.keys()
        #expect(phone.server.world.withLock { $0.claimed }.isEmpty)
        _ = try await phone.launch().keys()
        #expect(
            phone.server.world.withLock { $0.claimed.map(VisitorPurchases.reference) }
                == [reference]
        )
    }

    @Test func whoIsSignedInNeedsNoReference() async throws {
        #expect(try await checkout(TestApp()) == nil)
    }

    @Test func aVisitorWhoLeavesWithoutASignInLosesNothing() async throws {
        let phone = OfflineTests.Phone()
        let first = phone.launch()
        first.signIn(nil)
        let reference = try await checkout(first)
        await first.billing.reset()
        let second = phone.launch()
        second.signIn("cus_ada")
        _ = try await second.keys()
        #expect(
            phone.server.world.withLock { $0.claimed.map(VisitorPurchases.reference) }
                == [reference]
        )
    }

    @Test func aClaimThatFailedIsMadeAgainWhileTheAppRuns() async throws {
        let app = TestApp()
        app.signIn(nil)
        let reference = try await checkout(app)
        app.server.mood(.answers(503, .storageUnavailable), on: .checkoutClaims)
        app.signIn("cus_ada")
        _ = try await app.keys()
        app.server.mood(nil, on: .checkoutClaims)
        await app.billing.client.claimWhatVisitorsBought()
        #expect(
            app.server.world.withLock { $0.claimed.map(VisitorPurchases.reference) } == [reference]
        )
        // What is claimed is not claimed again.
        await app.billing.client.claimWhatVisitorsBought()
        #expect(app.server.requests("POST", APIPath.checkoutClaims.path).count == 2)
    }

    // MARK: - In the App Store

    @Test func oneSecretLeadsToCheckoutsAndToTheAppStore() async throws {
        let app = TestApp()
        app.signIn(nil)
        let reference = try await checkout(app)
        let token = VisitorPurchases(client: app.billing.client).accountToken()
        #expect(VisitorToken.isOne(token))
        app.signIn("cus_ada")
        _ = try await app.keys()
        let claimed = app.server.world.withLock { $0.claimed }
        #expect(claimed.map(VisitorPurchases.reference) == [reference])
        #expect(claimed.map(VisitorPurchases.accountToken) == [token])
        // The next visitor has another one.
        await app.billing.reset()
        #expect(VisitorPurchases(client: app.billing.client).accountToken() != token)
    }

    /// SHA-256 of "app_store:a secret that the SDK keeps" begins with e8a2a44ede4841a0.
    @Test func aVisitorsTokenIsAUUIDThatNobodyElseHas() throws {
        let token = VisitorPurchases.accountToken(of: "a secret that the SDK keeps")
        let text = token.uuidString.lowercased()
        #expect(text == "746c6774-e8a2-444e-9e48-41a052641155")
        for other in [UUID(), FakeServer.token(of: "cus_ada")] {
            #expect(!VisitorToken.isOne(other))
        }
    }

    private func phone(_ statements: Data..., isAllowed: Bool = true) -> (
        OfflineTests.Phone, TestApp
    ) {
        let phone = OfflineTests.Phone()
        phone.server.world.withLock { $0.catalog = DeviceEvaluationTests.catalog }
        let app = phone.launch(
            storeKit: { statements.map { StoreKitStatement(transaction: $0) } },
            allowsPurchasesBeforeSignIn: isAllowed
        )
        app.signIn(nil)
        return (phone, app)
    }

    @Test func whereTheAppAllowsItAVisitorHasWhatTheyBought() async throws {
        let (_, app) = phone(DeviceEvaluationTests.transaction())
        #expect(try await app.keys() == ["pro"])
        let (_, strict) = phone(DeviceEvaluationTests.transaction(), isAllowed: false)
        #expect(try await strict.keys() == [])
    }

    /// A phone on which a visitor has bought a plan in the App Store.
    private func boughtPhone() -> (OfflineTests.Phone, () -> TestApp) {
        let phone = OfflineTests.Phone()
        phone.server.world.withLock { $0.catalog = DeviceEvaluationTests.catalog }
        let shown = Locked<[StoreKitStatement]>([])
        let launch = {
            phone.launch(storeKit: { shown.withLock { $0 } }, allowsPurchasesBeforeSignIn: true)
        }
        let token = VisitorPurchases(client: launch().billing.client).accountToken()
        let bought = DeviceEvaluationTests.transaction(token: token)
        shown.withLock { $0 = [StoreKitStatement(transaction: bought)] }
        return (phone, launch)
    }

    @Test func whatAVisitorBoughtIsTheirsUntilSomebodySignsIn() async throws {
        let (phone, launch) = boughtPhone()
        let visitor = launch()
        visitor.signIn(nil)
        #expect(try await visitor.keys() == ["pro"])
        // Ada signs in; from now on it is hers, also once she has left.
        visitor.signIn("cus_ada")
        await visitor.billing.customerDidChange()
        await visitor.settled()
        #expect(phone.server.world.withLock { $0.claimed.count } == 1)
        visitor.signIn(nil)
        await visitor.billing.reset()
        #expect(try await visitor.keys() == [])
        let next = launch()
        next.signIn(nil)
        #expect(try await next.keys() == [])
    }

    @Test(arguments: [true, false])
    func duringAnOutageWhatAVisitorBoughtIsWhoseItBecame(_ isHeard: Bool) async throws {
        let (phone, launch) = boughtPhone()
        let first = launch()
        if !isHeard { phone.server.mood(.answers(503, .storageUnavailable), on: .checkoutClaims) }
        first.signIn("cus_ada")
        _ = try await first.keys()
        #expect(phone.server.world.withLock { $0.claimed.count } == (isHeard ? 1 : 0))
        for (customer, keys) in [("cus_bob", nil), ("cus_ada", ["pro"])] as [(String, [String]?)] {
            // Of Bob the server has never said anything to this phone, of Ada not since.
            let app = launch()
            app.signIn(customer)
            phone.server.mood(
                .answers(503, .storageUnavailable),
                on: APIPath(template: APIPath.customerEntitlements.path(id: customer))
            )
            await app.billing.reset()
            let held = try? await app.keys()
            #expect(held == keys)
        }
    }

    @Test func aVisitorWithANewPhoneHasWhatTheyBoughtOnTheOldOne() async throws {
        let token = VisitorPurchases.accountToken(of: "a secret that went with the old phone")
        let (_, app) = phone(DeviceEvaluationTests.transaction(token: token))
        #expect(try await app.keys() == ["pro"])
    }

    @Test func whatACustomerBoughtIsNotAVisitors() async throws {
        let token = FakeServer.token(of: "cus_ada")
        let (_, app) = phone(DeviceEvaluationTests.transaction(token: token))
        #expect(try await app.keys() == [])
    }

    @Test func aVisitorsPurchaseWaitsForItsClaimWhichIsTriedAgain() async throws {
        let app = TestApp()
        app.signIn(nil)
        let token = VisitorPurchases(client: app.billing.client).accountToken()
        let payload = Base64URL.encode(DeviceEvaluationTests.transaction(token: token))
        let finished = Locked(0)
        let transaction = SignedTransaction(id: 1, jwsRepresentation: "e30.\(payload).c2ln") {
            finished.withLock { $0 += 1 }
        }
        app.server.mood(.answers(503, .storageUnavailable), on: .checkoutClaims)
        app.signIn("cus_ada")
        let error = await billingError {
            try await app.delivery.deliver(transaction, mode: .observed)
        }
        await app.settled()
        // Only shown, it would be refused for good.
        #expect(error?.isTemporary == true && finished.withLock { $0 } == 0)
        #expect(app.server.world.withLock { $0.submitted }.isEmpty)
        app.server.mood(nil, on: .checkoutClaims)
        while app.pauses.count == 0 { await Task.yield() }
        app.pauses.elapse()
        while finished.withLock({ $0 }) == 0 { await Task.yield() }
        let claimed = app.server.world.withLock { $0.claimed }
        #expect(claimed.map(VisitorPurchases.accountToken) == [token])
        #expect(app.server.world.withLock { $0.submitted.map(\.mode) } == [.observed])
    }

    @Test func aVisitorsPurchaseIsKnownToTheServerAndFinishedAtSignIn() async throws {
        let (phone, app) = phone()
        let finished = Locked(0)
        let transaction = SignedTransaction(id: 1, jwsRepresentation: "e30.e30.c2ln") {
            finished.withLock { $0 += 1 }
        }
        let error = await billingError {
            try await app.delivery.deliver(transaction, mode: .purchased)
        }
        await app.settled()
        #expect(error?.name == "unauthenticated" && finished.withLock { $0 } == 0)
        #expect(phone.server.world.withLock { $0.submitted.map(\.mode) } == [.observed])
        app.signIn("cus_ada")
        _ = try await app.delivery.deliver(transaction, mode: .observed)
        #expect(finished.withLock { $0 } == 1)
    }
}
