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
        #expect(claimed.map(VisitorCheckouts.reference) == [reference])
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
            phone.server.world.withLock { $0.claimed.map(VisitorCheckouts.reference) }
                == [reference]
        )
    }

    @Test func whoIsSignedInNeedsNoReference() async throws {
        #expect(try await checkout(TestApp()) == nil)
    }

    // MARK: - In the App Store

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

    @Test func whatACustomerBoughtIsNotAVisitors() async throws {
        let token = FakeServer.token(of: "cus_ada")
        let (_, app) = phone(DeviceEvaluationTests.transaction(token: token))
        #expect(try await app.keys() == [])
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
