import Foundation
import FoundationNetworking
import Network
import StoreKit
import Testing
import TollgateAPI
import UIKit

@testable import BillingSDK

extension OnePhone {
    /// Buying in the App Store: what is asked before, and what the server's word means after.
    @Suite @MainActor struct PurchaseTests {
        let store = _FakeAppStore.shared

        init() { store._reset() }

        private func error(of body: () async throws -> some Sendable) async -> BillingSDKError? {
            do {
                _ = try await body()
                return nil
            } catch {
                return error as? BillingSDKError
            }
        }

        // MARK: - Before

        @Test func theServerIsAskedBeforeAnythingIsBought() async throws {
            let app = await launched()
            _ = try await app.billing.purchase(Product(_stub: "monthly"))
            #expect(app.server.world.withLock { $0.prepared } == ["monthly"])
            #expect(store.lastOptions == [.appAccountToken(FakeServer.token(of: "cus_ada"))])
        }

        @Test func aPurchaseInASceneIsAskedForAndTiedToTheCustomerToo() async throws {
            let app = await launched()
            guard
                case .purchased = try await app.billing.purchase(
                    Product(_stub: "monthly"),
                    confirmIn: UIWindowScene()
                )
            else {
                Issue.record("not purchased")
                return
            }
            #expect(app.server.world.withLock { $0.prepared } == ["monthly"])
            #expect(store._sheets == ["purchase"] && store.finished == [1])
            #expect(store.lastOptions == [.appAccountToken(FakeServer.token(of: "cus_ada"))])
        }

        @Test func anAccountTokenOfTheAppsIsRefusedBeforeAnythingIsAsked() async throws {
            let app = await launched()
            let (product, scene) = (Product(_stub: "monthly"), UIWindowScene())
            let options: Set<Product.PurchaseOption> = [.quantity(2), .appAccountToken(UUID())]
            let refused = [
                await error { try await app.billing.purchase(product, options: options) },
                await error {
                    try await app.billing.purchase(product, confirmIn: scene, options: options)
                },
            ]
            #expect(refused.map { $0?.name } == ["invalidConfiguration", "invalidConfiguration"])
            #expect(app.server.world.withLock { $0.prepared.isEmpty })
            #expect(store.lastOptions.isEmpty && store._sheets.isEmpty)
        }

        @Test func otherOptionsOfTheAppsReachTheAppStore() async throws {
            let app = await launched()
            // It holds a UUID, too.
            let offer = Product.PurchaseOption.promotionalOffer(
                offerID: "come_back",
                keyID: "key",
                nonce: UUID(),
                signature: Data([1]),
                timestamp: 1
            )
            let options: Set<Product.PurchaseOption> = [.quantity(2), offer]
            _ = try await app.billing.purchase(Product(_stub: "monthly"), options: options)
            let token = FakeServer.token(of: "cus_ada")
            #expect(store.lastOptions == options.union([.appAccountToken(token)]))
        }

        @Test func whatTheCustomerHasAlreadyIsNotSoldAgain() async throws {
            let app = await launched()
            app.server.mood(.answers(409, .alreadyActive), on: .appStorePurchases)
            let refused = await error { try await app.billing.purchase(Product(_stub: "monthly")) }
            guard case .requestRefused(409, "already_active", _)? = refused else {
                Issue.record("got \(String(describing: refused))")
                return
            }
            #expect(store.lastOptions.isEmpty)
        }

        @Test func whatTheCustomerHasAlreadyIsNotSoldWithAnOfferEither() async throws {
            let app = await launched()
            app.server.mood(.answers(409, .alreadyActive), on: .appStorePurchases)
            let refused = await error {
                try await app.billing.purchase(Product(_stub: "monthly"), offer: "come_back")
            }
            #expect(refused?.name == "requestRefused")
            #expect(store.lastOptions.isEmpty)
        }

        @Test func theNextCustomerOfTheAppleAccountBuysUnderTheirOwnToken() async throws {
            let app = await launched()
            _ = try await app.billing.purchase(Product(_stub: "monthly"))
            await app.billing.reset()
            app.signIn("cus_bob")
            _ = try await app.billing.purchase(Product(_stub: "monthly"))
            #expect(store.lastOptions == [.appAccountToken(FakeServer.token(of: "cus_bob"))])
        }

        @Test func duringAnOutageTheTokenThatTheServerSaidBeforeIsUsed() async throws {
            let app = await launched()
            _ = try await app.billing.purchase(Product(_stub: "coins"))
            app.server.mood(.unreachable)
            guard
                case .awaitingServer = try await app.billing.purchase(Product(_stub: "monthly"))
            else {
                Issue.record("not bought")
                return
            }
            #expect(store.lastOptions == [.appAccountToken(FakeServer.token(of: "cus_ada"))])
        }

        @Test func theTokenOfAnotherCustomerDoesNotDoDuringAnOutage() async throws {
            let app = await launched()
            _ = try await app.billing.purchase(Product(_stub: "coins"))
            // In place of the other, without a sign-out.
            app.signIn("cus_bob")
            await app.billing.customerDidChange()
            app.server.mood(.unreachable, on: .appStorePurchases)
            let refused = await error { try await app.billing.purchase(Product(_stub: "monthly")) }
            #expect(refused?.name == "networkUnavailable")
            #expect(store.lastOptions == [.appAccountToken(FakeServer.token(of: "cus_ada"))])
        }

        @Test func withoutAnyTokenNothingIsSoldDuringAnOutage() async throws {
            let app = await launched()
            app.server.mood(.answers(503, .storageUnavailable), on: .appStorePurchases)
            let refused = await error { try await app.billing.purchase(Product(_stub: "monthly")) }
            #expect(refused?.name == "serverUnavailable")
            #expect(store.lastOptions.isEmpty)
        }

        @Test func whereTheAppAllowsItVisitorsBuyUnderATokenOfTheirOwn() async throws {
            let app = TestApp(configure: { $0.allowsPurchasesBeforeSignIn = true })
            app.signIn(nil)
            guard
                case .awaitingServer = try await app.billing.purchase(Product(_stub: "monthly"))
            else {
                Issue.record("not bought")
                return
            }
            let token = VisitorPurchases(client: app.billing.client).accountToken()
            #expect(store.lastOptions == [.appAccountToken(token)] && store.finished.isEmpty)
            #expect(app.server.world.withLock { $0.prepared.isEmpty })
            app.signIn("cus_ada")
            await app.billing.customerDidChange()
            #expect(await eventually { store.finished == [1] })
            let claimed = app.server.world.withLock { $0.claimed }
            #expect(claimed.map(VisitorPurchases.accountToken) == [token])
        }

        @Test func aVisitorsClaimThatFailedIsMadeAtTheNextForeground() async throws {
            let app = TestApp(configure: { $0.allowsPurchasesBeforeSignIn = true })
            app.signIn(nil)
            _ = try await app.billing.purchase(Product(_stub: "monthly"))
            app.server.mood(Self.away, on: .checkoutClaims)
            app.signIn("cus_ada")
            await app.billing.customerDidChange()
            #expect(
                await eventually {
                    !app.server.requests("POST", APIPath.checkoutClaims.path).isEmpty
                }
            )
            app.server.mood(nil, on: .checkoutClaims)
            comeToForeground()
            #expect(await eventually { app.server.world.withLock { $0.claimed.count } == 1 })
            // The sign-in and the foreground have read what is unfinished: the next test has a phone of
            // its own.
            #expect(
                await eventually {
                    store._unfinishedReads >= 2 && store.finished == [1] && app.isIdle
                }
            )
        }

        // MARK: - Refused for good

        private static let elsewhere = APIError.Code(rawValue: "owned_elsewhere")
        private static let away = FakeServer.Mood.answers(503, .storageUnavailable)

        private func posts(_ app: TestApp) -> Int {
            app.server.requests("POST", APIPath.appStoreTransactions.path).count
        }

        /// Holds back the server's answers about transactions until the gate opens.
        private func holdTransactions(_ app: TestApp) -> Gate {
            let gate = Gate()
            app.server.world.withLock { world in
                world.gate = gate
                world.gatedPath = APIPath.appStoreTransactions.path
            }
            return gate
        }

        private func modes(_ app: TestApp) -> [String] {
            app.server.world.withLock { $0.submitted.map { "\($0.signedTransaction) \($0.mode)" } }
        }

        private func comeToForeground() {
            NotificationCenter.default.post(
                name: UIApplication.willEnterForegroundNotification,
                object: nil
            )
        }

        @Test func aPurchaseThatIsRefusedForGoodIsFinishedAndItsCodeThrown() async throws {
            let app = await launched()
            // Sign-in reads what is unfinished; a read during the purchase would send its transaction, too.
            await app.billing.customerDidChange()
            #expect(await eventually { store._unfinishedReads > 0 })
            app.server.mood(.answers(422, .appMismatch), on: .appStoreTransactions)
            let refused = await error { try await app.billing.purchase(Product(_stub: "monthly")) }
            guard case .requestRefused(422, "app_mismatch", _)? = refused else {
                Issue.record("got \(String(describing: refused))")
                return
            }
            #expect(store.finished == [1])
            let reads = app.entitlementRequests()
            comeToForeground()
            #expect(await eventually { app.entitlementRequests() > reads && app.isIdle })
            #expect(posts(app) == 1 && app.refusals.withLock { $0 }.isEmpty)
        }

        @Test func whatWasChargedAndRefusedLeavesTheInbox() async throws {
            let app = await launched()
            let inbox = app.billing.purchaseInbox
            var readiness = PurchaseReadiness()
            readiness.isSetUp = true
            readiness.isSignedIn = true
            readiness.hasAcceptedTerms = true
            readiness.hasAcceptedSubscriptionTerms = true
            readiness.hasStatedAge = true
            // Refused before anything is charged, it stays.
            let pending = inbox.add(productID: "coins", origin: .promotedPayment)
            app.server.mood(.answers(409, .alreadyActive), on: .appStorePurchases)
            _ = await error { try await app.billing.purchase(pending) }
            #expect(inbox.next(readiness) == .proceed(pending))
            app.server.mood(nil, on: .appStorePurchases)
            app.server.mood(.answers(422, .appMismatch), on: .appStoreTransactions)
            let refused = await error { try await app.billing.purchase(pending) }
            guard case .requestRefused(422, "app_mismatch", _)? = refused else {
                Issue.record("got \(String(describing: refused))")
                return
            }
            #expect(inbox.next(readiness) == nil && inbox.pending.isEmpty)
        }

        @Test func aRefusalOfWhatNobodyWaitsForIsReportedOnce() async throws {
            let app = await launched()
            app.server.mood(.answers(422, .signatureInvalid), on: .appStoreTransactions)
            let id = store.deliver(productID: "monthly")
            #expect(await eventually { !app.refusals.withLock { $0 }.isEmpty })
            let reads = app.entitlementRequests()
            comeToForeground()
            #expect(await eventually { app.entitlementRequests() > reads && app.isIdle })
            let refusals = app.refusals.withLock { $0 }
            #expect(refusals.map(\.id) == [id] && refusals.map(\.code) == ["signature_invalid"])
            #expect(store.finished == [id] && posts(app) == 1)
        }

        @Test func aRenewalOfAnotherCustomersPurchaseEndsQuietly() async throws {
            let app = await launched()
            app.server.mood(.answers(409, Self.elsewhere), on: .appStoreTransactions)
            let id = store.deliver(productID: "monthly")
            #expect(await eventually { store.finished == [id] && app.isIdle })
            #expect(app.refusals.withLock { $0 }.isEmpty && app.pauses.asked.isEmpty)
        }

        @Test func aPurchaseOfAnotherCustomersIsReportedHoweverLateItIsRefused() async throws {
            let app = await launched()
            app.server.mood(Self.away, on: .appStoreTransactions)
            _ = try await app.billing.purchase(Product(_stub: "monthly"))
            #expect(await eventually { app.pauses.count == 1 })
            app.server.mood(.answers(409, Self.elsewhere), on: .appStoreTransactions)
            app.pauses.elapse()
            #expect(await eventually { !app.refusals.withLock { $0 }.isEmpty })
            let refusals = app.refusals.withLock { $0 }
            #expect(refusals.map(\.code) == ["owned_elsewhere"])
            #expect(refusals.map(\.mode) == [.purchased])
        }

        @Test(arguments: [401, 403, 404, 429, 500])
        func whatMayBeMendedCostsNoPurchase(_ status: Int) async throws {
            let app = await launched()
            app.server.mood(.answers(status, .resourceMissing), on: .appStoreTransactions)
            guard
                case .awaitingServer = try await app.billing.purchase(Product(_stub: "monthly"))
            else {
                Issue.record("not kept")
                return
            }
            #expect(store.finished.isEmpty)
        }

        // MARK: - Restoring

        /// An account with three purchases, of which the server refuses the second.
        private func mixed() async -> TestApp {
            let app = await launched()
            for number in 1...3 {
                let id = UInt64(100 + number)
                store.entitled.append(
                    Transaction(_stub: id, productID: "p\(number)", jws: "jws-\(number)")
                )
            }
            app.server.world.withLock { world in
                world.refusals["jws-2"] = .answers(409, Self.elsewhere)
            }
            return app
        }

        @Test func restoringGoesOnPastARefusedTransactionAndSaysWhichWereTaken() async throws {
            let app = await mixed()
            let restored = try await app.billing.restorePurchases()
            #expect(restored.map(\.productID) == ["p1", "p2", "p3"])
            #expect(restored.map(\.isTaken) == [true, false, true])
            guard case .refused(let refusal) = restored[1].outcome else {
                Issue.record("got \(restored[1])")
                return
            }
            #expect(refusal.code == "owned_elsewhere" && refusal.mode == .restored)
            #expect(modes(app) == ["jws-1 restored", "jws-3 restored"])
            // Who called has been told.
            #expect(app.refusals.withLock { $0 }.isEmpty)
        }

        @Test func restoringGoesOnPastOneThatHasToWait() async throws {
            let app = await mixed()
            app.server.world.withLock { $0.refusals["jws-2"] = Self.away }
            let restored = try await app.billing.restorePurchases()
            guard case .awaitingServer = restored[1].outcome else {
                Issue.record("got \(restored[1])")
                return
            }
            #expect(try await app.billing.restoreAppStorePurchases() == 2)
            app.server.world.withLock { $0.refusals = [:] }
            app.pauses.elapse()
            #expect(await eventually { modes(app).contains("jws-2 restored") })
        }

        @Test func restoringSignedOutFailsBeforeThePasswordPrompt() async throws {
            let app = await launched()
            app.signIn(nil)
            let refused = await error { try await app.billing.restorePurchases() }
            #expect(refused?.name == "unauthenticated")
        }

        @Test func whereNothingCouldBeTakenTheCountIsAnError() async throws {
            let app = await mixed()
            app.server.mood(.answers(409, Self.elsewhere), on: .appStoreTransactions)
            let refused = await error { try await app.billing.restoreAppStorePurchases() }
            #expect(refused?.name == "requestRefused")
        }

        // MARK: - Tried again

        @Test func whatMaySucceedLaterIsTriedAgainWithItsFirstModeAfterGrowingPauses()
            async throws
        {
            let app = await launched()
            app.server.mood(Self.away, on: .appStoreTransactions)
            _ = try await app.billing.purchase(Product(_stub: "monthly"))
            for pause in [2.0, 4, 8] {
                #expect(
                    await eventually { app.pauses.asked.last == pause && app.pauses.count == 1 }
                )
                if pause == 8 { app.server.mood(nil, on: .appStoreTransactions) }
                app.pauses.elapse()
            }
            #expect(await eventually { store.finished == [1] && app.isIdle })
            #expect(posts(app) == 4 && modes(app) == ["jws-1 purchased"])
            // The next outage begins with a short pause again.
            app.server.mood(Self.away, on: .appStoreTransactions)
            _ = try await app.billing.purchase(Product(_stub: "monthly"))
            #expect(await eventually { app.pauses.asked == [2, 4, 8, 2] })
        }

        @Test func theReturnOfTheNetworkTriesAgainAtOnce() async throws {
            let app = await launched()
            NWPathMonitor._change(.unsatisfied)
            app.server.mood(.unreachable, on: .appStoreTransactions)
            _ = try await app.billing.purchase(Product(_stub: "monthly"))
            app.server.mood(nil, on: .appStoreTransactions)
            NWPathMonitor._change(.satisfied)
            #expect(await eventually { store.finished == [1] })
            #expect(modes(app) == ["jws-1 purchased"])
        }

        @Test func theForegroundTriesAgainWhereTheAppHandlesTransactionsItself() async throws {
            let app = TestApp(configure: { $0.handlesAppStoreTransactions = false })
            app.server.mood(Self.away, on: .appStoreTransactions)
            _ = try await app.billing.purchase(Product(_stub: "monthly"))
            app.server.mood(nil, on: .appStoreTransactions)
            #expect(
                await eventually {
                    comeToForeground()
                    return store.finished == [1]
                }
            )
            #expect(modes(app) == ["jws-1 purchased"])
        }

        @Test func afterARelaunchAPurchaseIsStillOne() async throws {
            let phone = OfflineTests.Phone()
            phone.server.mood(Self.away, on: .appStoreTransactions)
            let app = phone.launch()
            _ = try await app.billing.purchase(Product(_stub: "monthly"))
            phone.server.mood(nil, on: .appStoreTransactions)
            let again = phone.launch()
            _ = try await again.keys()
            #expect(await eventually { store.finished.contains(1) })
            #expect(modes(again).contains("jws-1 purchased"))
        }

        @Test func theNextCustomerDoesNotClaimIt() async throws {
            let app = await launched()
            app.server.mood(Self.away, on: .appStoreTransactions)
            _ = try await app.billing.purchase(Product(_stub: "monthly"))
            await app.billing.reset()
            app.signIn("cus_bob")
            app.server.mood(nil, on: .appStoreTransactions)
            _ = try await app.keys()
            #expect(await eventually { store.finished == [1] })
            #expect(modes(app) == ["jws-1 observed"])
        }

        @Test func theNextCustomerDoesNotClaimItWithoutASignOutEither() async throws {
            let app = await launched()
            app.server.mood(Self.away, on: .appStoreTransactions)
            _ = try await app.billing.purchase(Product(_stub: "monthly"))
            app.signIn("cus_bob")
            await app.billing.customerDidChange()
            #expect(await eventually { app.pauses.count == 1 && app.isIdle })
            app.server.mood(nil, on: .appStoreTransactions)
            app.pauses.elapse()
            #expect(await eventually { store.finished == [1] })
            #expect(modes(app) == ["jws-1 observed"])
        }

        @Test func theNextCustomerDoesNotClaimWhatWasOnItsWayAtTheSignOut() async throws {
            let app = await launched()
            await app.billing.customerDidChange()
            #expect(await eventually { store._unfinishedReads > 0 })
            app.server.mood(Self.away, on: .appStoreTransactions)
            let gate = holdTransactions(app)
            let purchase = Task { try await app.billing.purchase(Product(_stub: "monthly")) }
            await gate.arrivals(1)
            await app.billing.reset()
            app.signIn("cus_bob")
            gate.open()
            _ = try await purchase.value
            _ = try await app.keys()
            #expect(await eventually { app.pauses.count == 1 && app.isIdle })
            app.server.mood(nil, on: .appStoreTransactions)
            // Bob's sign-in may have begun another pause meanwhile.
            #expect(
                await eventually {
                    app.pauses.elapse()
                    return store.finished == [1] && app.isIdle
                }
            )
            #expect(modes(app) == ["jws-1 observed"])
        }

        @Test func theNextCustomerDoesNotClaimWhatIsSentAgainAfterA401() async throws {
            let app = await launched()
            await app.billing.customerDidChange()
            #expect(await eventually { store._unfinishedReads > 0 })
            app.server.mood(.answers(401, .sessionExpired), on: .appStoreTransactions)
            let gate = holdTransactions(app)
            let purchase = Task { try await app.billing.purchase(Product(_stub: "monthly")) }
            await gate.arrivals(1)
            // From now on the server takes transactions; the answer to Ada's request is on its way.
            app.server.mood(nil, on: .appStoreTransactions)
            await app.billing.reset()
            app.signIn("cus_bob")
            gate.open()
            _ = try await purchase.value
            #expect(await eventually { store.finished == [1] && app.isIdle })
            #expect(modes(app) == ["jws-1 observed"])
        }

        @Test func signingOutEndsTheTries() async throws {
            let app = await launched()
            app.server.mood(Self.away, on: .appStoreTransactions)
            _ = try await app.billing.purchase(Product(_stub: "monthly"))
            #expect(await eventually { app.pauses.count == 1 })
            await app.billing.reset()
            #expect(app.pauses.count == 0)
            #expect(app.billing.client.deliveries.withLock { $0.waiting.isEmpty })
        }
    }
}
