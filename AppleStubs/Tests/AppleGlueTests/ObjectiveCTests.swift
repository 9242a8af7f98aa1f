import Foundation
import SafariServices
import StoreKit
import Testing
import TollgateAPI
import UIKit

@testable import BillingSDK

extension OnePhone {
    /// The classes for Objective-C, called as its code would call them.
    @Suite @MainActor struct ObjectiveCTests {
        let store = _FakeAppStore.shared

        init() {
            store._reset()
            UIApplication.shared._openedURLs = []
        }

        private var opened: [String] { UIApplication.shared._openedURLs.map(\.absoluteString) }

        /// Waits for a completion handler that is called once, on the main thread.
        private func answer<Value: Sendable>(
            _ call: (@escaping @MainActor @Sendable (Value) -> Void) -> Void
        ) async -> Value {
            await withCheckedContinuation { continuation in
                call { continuation.resume(returning: $0) }
            }
        }

        private func error(
            _ call: (@escaping @MainActor @Sendable ((any Error)?) -> Void) -> Void
        ) async -> NSError? {
            await answer(call) as? NSError
        }

        private func entitlement(_ key: String, of billing: TGBilling) async -> (Bool, NSError?) {
            let (has, error) = await answer { done in
                billing.hasEntitlement(lookupKey: key) { done(($0, $1)) }
            }
            return (has, error as? NSError)
        }

        // MARK: - The customer

        @Test func anSDKIsMadeFromAKeyAndAnAddress() async throws {
            let server = try #require(URL(string: "https://tollgate.example"))
            let billing = TGBilling(
                publishableKey: "pk_test_x",
                serverURL: server,
                maximumStaleEntitlementsDuration: 60,
                handlesAppStoreTransactions: false
            )
            let configuration = billing.sdk.client.configuration
            #expect(configuration.maximumStaleEntitlementsDuration == 60)
            #expect(!configuration.handlesAppStoreTransactions)
            let wrong = TGBilling(publishableKey: "sk_test_x", serverURL: server)
            let failure = await error { done in wrong.openCustomerPortal { done($0) } }
            // Nobody is signed in, which is known before the key is needed.
            #expect(failure?.code == TGBillingErrorCode.unauthenticated.rawValue)
        }

        private nonisolated static func adasSession(_ server: FakeServer)
            -> TGBillingCustomerSession
        {
            let session = server.session(for: "cus_ada")
            return TGBillingCustomerSession(
                clientSecret: session.clientSecret,
                expiresAt: session.expiresAt,
                customer: session.customer
            )
        }

        @Test func theSessionProviderAnswersThroughABlock() async throws {
            let app = TestApp()
            app.server.grant("premium", to: "cus_ada")
            let billing = TGBilling(sdk: app.billing)
            let server = app.server
            billing.setCustomerSessionProvider { done in
                done(Self.adasSession(server), nil)
                // Once more changes nothing.
                done(nil, URLError(.timedOut))
            }
            #expect(await entitlement("premium", of: billing).0)
            #expect(await entitlement("gold", of: billing) == (false, nil))
        }

        @Test func aProviderThatFailsIsNotTakenForASignOut() async throws {
            let billing = TGBilling(sdk: TestApp().billing)
            billing.setCustomerSessionProvider { $0(nil, URLError(.timedOut)) }
            let (has, failure) = await entitlement("premium", of: billing)
            #expect(!has && failure?.domain == TGBilling.errorDomain)
            #expect(
                failure?.code == TGBillingErrorCode.customerSessionProviderFailed.rawValue
            )
            #expect(failure?.userInfo[NSUnderlyingErrorKey] is URLError)
            billing.setCustomerSessionProvider { $0(nil, nil) }
            #expect(await entitlement("premium", of: billing) == (false, nil))
        }

        @Test func aProviderThatNeverAnswersHoldsUpNobodyOnceTheCustomerHasChanged() async throws {
            let app = TestApp()
            app.server.grant("premium", to: "cus_ada")
            let billing = TGBilling(sdk: app.billing)
            let (server, calls) = (app.server, Locked(0))
            billing.setCustomerSessionProvider { done in
                let isFirst = calls.withLock { calls in
                    calls += 1
                    return calls == 1
                }
                if !isFirst { done(Self.adasSession(server), nil) }
            }
            let waiting = Task { await entitlement("premium", of: billing) }
            while calls.withLock(\.self) == 0 { await Task.yield() }
            await answer { done in billing.customerDidChange { done(()) } }
            // Its handler runs, whatever it says: it asked before the customer changed.
            _ = await waiting.value
            #expect(await entitlement("premium", of: billing).0)
        }

        @Test func anActivityWithoutALinkIsNoCheckout() async throws {
            let billing = TGBilling(sdk: TestApp().billing)
            let outcome = await answer { done in
                billing.handleCheckoutReturn(nil) { done($0) }
            }
            #expect(outcome == .notACheckout)
        }

        @Test func afterSignOutNothingIsLeft() async throws {
            let app = TestApp(maximumStale: 36000)
            app.server.grant("premium", to: "cus_ada")
            let billing = TGBilling(sdk: app.billing)
            await answer { done in billing.customerDidChange { done(()) } }
            #expect(await entitlement("premium", of: billing).0)
            app.signIn(nil)
            await answer { done in billing.reset { done(()) } }
            #expect(await entitlement("premium", of: billing) == (false, nil))
        }

        // MARK: - Entitlements

        @Test func anEntitlementSaysWhatIsKnownOfIt() async throws {
            let app = TestApp()
            let end = app.clock.now.addingTimeInterval(3600)
            app.server.grant("premium", to: "cus_ada", until: end, ground: .grace)
            let billing = TGBilling(sdk: app.billing)
            let (entitlements, failure) = await answer { done in
                billing.getActiveEntitlements { done(($0, $1)) }
            }
            let one = try #require(entitlements?.first)
            #expect(failure == nil && entitlements?.count == 1)
            #expect(one.lookupKey == "premium" && one.feature == "feat_premium")
            #expect(one.until == end && one.ground == "grace" && one.hasPaymentProblem)
            #expect(one.store == "app_store")
            #expect(one.managementURL?.host == "apps.apple.com")
            #expect(one.willRenew == nil && one.offer == nil)
            app.server.grant("premium", to: "cus_ada", willRenew: true, offer: "trial")
            _ = try await app.billing.getActiveEntitlements(forceRefresh: true)
            let (trial, _) = await answer { done in
                billing.getActiveEntitlements { done(($0, $1)) }
            }
            #expect(trial?.first?.willRenew == true && trial?.first?.offer == "trial")
        }

        @Test func aChangeIsPostedOnTheMainThread() async throws {
            let app = TestApp(maximumStale: 36000)
            let billing = TGBilling(sdk: app.billing)
            let heard = Locked<[[String]]>([])
            let observer = NotificationCenter.default.addObserver(
                forName: TGBilling.entitlementsDidChangeNotification,
                object: billing,
                queue: nil
            ) { notification in
                MainActor.preconditionIsolated()
                let set = notification.userInfo?[TGBilling.entitlementsKey]
                let keys = (set as? [TGBillingEntitlement])?.map(\.lookupKey) ?? ["none"]
                heard.withLock { $0.append(keys) }
            }
            defer { NotificationCenter.default.removeObserver(observer) }
            app.server.grant("premium", to: "cus_ada")
            await answer { done in billing.customerDidChange { done(()) } }
            #expect(await eventually { heard.withLock { $0 } == [["premium"]] })
        }

        @Test func nothingKeepsItAliveButTheApp() async throws {
            let app = TestApp()
            weak var gone: TGBilling?
            do {
                let billing = TGBilling(sdk: app.billing)
                gone = billing
                #expect(await entitlement("premium", of: billing) == (false, nil))
            }
            #expect(await eventually { gone == nil })
        }

        // MARK: - Buying and managing

        private func purchase(_ app: TestApp) async -> (TGBillingPurchaseResult, NSError?) {
            let billing = TGBilling(sdk: app.billing)
            let (outcome, error) = await answer { done in
                billing.purchase(productID: "monthly") { done(($0, $1)) }
            }
            return (outcome, error as? NSError)
        }

        @Test(arguments: [
            (_FakeAppStore.Behaviour.succeed, TGBillingPurchaseResult.purchased),
            (.pending, .pending), (.cancel, .cancelled),
        ])
        func aPurchaseSaysHowItWent(
            _ behaviour: _FakeAppStore.Behaviour,
            _ outcome: TGBillingPurchaseResult
        ) async throws {
            let app = await launched()
            store.products["monthly"] = Product(_stub: "monthly")
            store.behaviour = behaviour
            #expect(await purchase(app) == (outcome, nil))
        }

        @Test func whatTheCustomerHasIsRefusedWithTheServersCode() async throws {
            let app = await launched()
            app.server.mood(.answers(409, .alreadyActive), on: .appStorePurchases)
            let (outcome, failure) = await purchase(app)
            #expect(outcome == .failed)
            #expect(failure?.code == TGBillingErrorCode.requestRefused.rawValue)
            #expect(failure?.userInfo[TGBilling.serverCodeKey] as? String == "already_active")
            #expect(failure?.userInfo[TGBilling.statusKey] as? Int == 409)
            #expect(failure?.localizedDescription.contains("already_active") == true)
        }

        @Test func aPurchaseThatTheServerHasNotTakenYetSaysWhy() async throws {
            let app = await launched()
            app.server.mood(.answers(503, .storageUnavailable), on: .appStoreTransactions)
            let (outcome, failure) = await purchase(app)
            #expect(outcome == .awaitingServer)
            #expect(failure?.code == TGBillingErrorCode.serverUnavailable.rawValue)
        }

        @Test func restoringCountsWhatTheServerHasTaken() async throws {
            let app = await launched()
            let billing = TGBilling(sdk: app.billing)
            store.entitled = [Transaction(_stub: 7, productID: "monthly", jws: "jws-7")]
            let restored = await answer { done in billing.restorePurchases { done(($0, $1)) } }
            #expect(restored.0 == 1 && restored.1 == nil)
            app.server.mood(.answers(422, .signatureInvalid), on: .appStoreTransactions)
            let refused = await answer { done in billing.restorePurchases { done(($0, $1)) } }
            #expect(refused.0 == 0)
            #expect((refused.1 as? NSError)?.code == TGBillingErrorCode.requestRefused.rawValue)
        }

        @Test func theCheckoutOfABuyButtonOpensAndItsReturnIsUnderstood() async throws {
            let app = TestApp()
            let billing = TGBilling(sdk: app.billing)
            let failure = await error { done in
                billing.openCheckout(buyButtonID: "buy_btn_monthly") { done($0) }
            }
            #expect(failure == nil && opened == ["https://shop.example/cus_ada"])
            app.server.world.withLock { $0.checkouts["cs_1"] = .confirmed }
            let back = try #require(
                URL(string: "https://tollgate.example/checkout_redirect/success")
            )
            #expect(
                await answer { billing.handleCheckoutReturn(back, completion: $0) } == .confirmed
            )
            let other = try #require(URL(string: "https://tollgate.example/news"))
            #expect(
                await answer { billing.handleCheckoutReturn(other, completion: $0) }
                    == .notACheckout
            )
            app.server.mood(.answers(404, .resourceMissing), on: .buyButton("buy_btn_gone"))
            let unknown = await error { done in
                billing.openCheckout(buyButtonID: "buy_btn_gone") { done($0) }
            }
            #expect(unknown?.code == TGBillingErrorCode.notFound.rawValue)
        }

        @Test func thePortalIsShownOrOpened() async throws {
            let app = TestApp()
            let billing = TGBilling(sdk: app.billing)
            let screen = UIViewController()
            let failure = await error { done in
                billing.presentCustomerPortal(from: screen) { done($0) }
            }
            #expect(failure == nil)
            #expect(await eventually { screen.presentedViewController is SFSafariViewController })
            #expect(await error { done in billing.openCustomerPortal { done($0) } } == nil)
            #expect(await eventually { opened == ["https://portal.example/cus_ada"] })
            app.server.world.withLock { $0.isPortalEnabled = false }
            let refused = await error { done in
                billing.presentCustomerPortal(from: screen) { done($0) }
            }
            #expect(refused?.code == TGBillingErrorCode.notPermitted.rawValue)
            #expect(refused?.userInfo[TGBilling.serverCodeKey] as? String == "component_disabled")
        }

        // MARK: - Errors

        @Test func everyErrorHasACodeOfItsOwnAndASentence() {
            let reason = URLError(.timedOut)
            let errors: [BillingSDKError] = [
                .unauthenticated, .customerSessionProviderFailed(reason), .sessionRejected("no"),
                .invalidPublishableKey("no"), .invalidConfiguration("no"),
                .notPermitted(code: "c", message: "no"), .notFound("no"),
                .requestRefused(status: 400, code: "c", message: "no"), .networkUnavailable(reason),
                .serverUnavailable(status: 503, message: "no"), .invalidResponse("no"),
                .interrupted,
            ]
            let made = errors.map { TGBilling.error($0) as NSError }
            #expect(made.map(\.code) == TGBillingErrorCode.allCases.map(\.rawValue))
            #expect(made.allSatisfy { $0.domain == TGBilling.errorDomain })
            #expect(made.map(\.localizedDescription) == errors.map(\.errorDescription))
            #expect(TGBilling.error(reason) is URLError)
        }
    }
}
