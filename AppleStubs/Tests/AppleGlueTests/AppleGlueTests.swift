import Foundation
import FoundationNetworking
import SafariServices
import StoreKit
import SwiftUI
import Testing
import TollgateAPI
import UIKit

@testable import BillingSDK

/// Waits until `condition` holds, by letting others run; false if it does not within ten seconds.
@MainActor
func eventually(_ condition: () -> Bool) async -> Bool {
    let deadline = ContinuousClock.now + .seconds(10)
    while ContinuousClock.now < deadline {
        if condition() { return true }
        await Task.yield()
    }
    return condition()
}

/// An app that has begun to listen to the App Store, so that it hears of a purchase as it happens and not
/// as of one that was there when it was launched.
func launched() async -> TestApp {
    let app = TestApp()
    #expect(await eventually { _FakeAppStore.shared._isWatched })
    return app
}

extension OnePhone {
    /// What only an Apple device runs, run against stand-ins; one at a time, since they are one phone.
    @Suite @MainActor struct AppleGlueTests {
        let store = _FakeAppStore.shared

        init() {
            store._reset()
            UIApplication.shared._openedURLs = []
        }

        private var opened: [String] { UIApplication.shared._openedURLs.map(\.absoluteString) }

        private func press(_ view: some View) throws {
            let action = try #require(_Stub.render(view).first("Button")?.action)
            action()
        }

        private func comeToForeground() {
            NotificationCenter.default.post(
                name: UIApplication.willEnterForegroundNotification,
                object: nil
            )
        }

        // MARK: - The buy button

        @Test func pressingTheButtonOpensTheCheckoutOfWhoIsSignedIn() async throws {
            let app = TestApp()
            let button = try await app.billing.getBuyButton(id: "buy_btn_monthly")
            let node = _Stub.render(button.view())
            #expect(node.texts.first == "Subscribe")
            #expect(node.texts.last?.contains("1,500") == true)
            try press(button.view())
            #expect(await eventually { opened == ["https://shop.example/cus_ada"] })
        }

        @Test func aButtonThatFailsOffersAnotherTry() async throws {
            let app = TestApp()
            let button = try await app.billing.getBuyButton(id: "buy_btn_monthly")
            let view = button.view()
            app.server.mood(.unreachable)
            try press(view)
            // The stand-in's locale is Japanese.
            #expect(await eventually { _Stub.render(view).texts.first == "もう一度試す" })
            #expect(_Stub.render(view).texts.last == "購入ページを開けませんでした。")
            #expect(opened.isEmpty)
            app.server.mood(.well)
            try press(view)
            #expect(await eventually { opened == ["https://shop.example/cus_ada"] })
        }

        @Test func theButtonIsDisabledWhereParentsForbidPayments() async throws {
            let app = TestApp()
            let button = try await app.billing.getBuyButton(id: "buy_btn_monthly")
            #expect(_Stub.render(button.view()).all.contains { $0.disabled } == false)
            store.canMakePayments = false
            #expect(_Stub.render(button.view()).all.contains { $0.disabled })
            #expect(BillingSDK.canMakePayments == false)
        }

        @Test func anActionOfTheAppsOwnReplacesTheCheckout() async throws {
            let app = TestApp()
            let button = try await app.billing.getBuyButton(id: "buy_btn_monthly")
            let presses = Locked(0)
            let view = button.view { presses.withLock { $0 += 1 } }
            try press(view)
            #expect(presses.withLock { $0 } == 1)
            #expect(opened.isEmpty)
        }

        // MARK: - The portal and the foreground

        @Test func closingThePortalRefreshesTheEntitlements() async throws {
            let app = TestApp(maximumStale: 36000)
            app.server.grant("premium", to: "cus_ada")
            _ = try await app.keys()
            let screen = UIViewController()
            try await app.billing.getCustomerPortal().presentCustomerPortal(from: screen)
            #expect(await eventually { screen.presentedViewController != nil })
            let page = try #require(screen.presentedViewController as? SFSafariViewController)
            #expect(page._url.absoluteString == "https://portal.example/cus_ada")
            app.server.grant("gold", to: "cus_ada")
            page.delegate?.safariViewControllerDidFinish(page)
            #expect(await eventually { app.heardSets == [["premium"], ["gold"]] })
        }

        @Test func swipingThePortalAwayRefreshesTheEntitlements() async throws {
            let app = TestApp(maximumStale: 36000)
            _ = try await app.keys()
            let screen = UIViewController()
            try await app.billing.getCustomerPortal().presentCustomerPortal(from: screen)
            #expect(await eventually { screen.presentedViewController != nil })
            app.server.grant("gold", to: "cus_ada")
            let presentation = try #require(screen.presentedViewController?.presentationController)
            presentation.delegate?.presentationControllerDidDismiss(presentation)
            #expect(await eventually { app.heardSets == [["gold"]] })
        }

        @Test func openingThePortalAgainReleasesAPageThatTheAppDismissed() async throws {
            let app = TestApp()
            let portal = try await app.billing.getCustomerPortal()
            weak var visit: AnyObject?
            do {
                let screen = UIViewController()
                portal.presentCustomerPortal(from: screen)
                #expect(await eventually { screen.presentedViewController != nil })
                visit = (screen.presentedViewController as? SFSafariViewController)?.delegate
                #expect(visit != nil)
            }
            // These occupy the freed memory, so the next page gets another address.
            let url = try #require(URL(string: portal.url))
            let others = (0..<100).map { _ in SFSafariViewController(url: url) }
            defer { withExtendedLifetime(others) {} }
            let screen = UIViewController()
            portal.presentCustomerPortal(from: screen)
            #expect(await eventually { screen.presentedViewController != nil })
            #expect(visit == nil)
        }

        @Test func thePortalOpensInTheBrowser() async throws {
            let app = TestApp()
            try await app.billing.getCustomerPortal().redirectToCustomerPortal()
            #expect(await eventually { opened == ["https://portal.example/cus_ada"] })
        }

        @Test func comingToTheForegroundRefreshesTheEntitlements() async throws {
            let app = TestApp(maximumStale: 36000)
            _ = try await app.keys()
            app.server.grant("premium", to: "cus_ada")
            comeToForeground()
            #expect(await eventually { app.heardSets == [["premium"]] })
        }

        // MARK: - The App Store

        private func submitted(_ app: TestApp) -> [String] {
            app.server.world.withLock { $0.submitted.map { "\($0.signedTransaction) \($0.mode)" } }
        }

        @Test func aPurchaseIsFinishedOnceTheServerHasIt() async throws {
            let app = await launched()
            let product = try #require(
                try await app.billing.getAppStoreProducts(ids: ["coins"]).first
            )
            guard case .purchased = try await app.billing.purchase(product) else {
                Issue.record("not purchased")
                return
            }
            #expect(store.lastOptions == [.appAccountToken(FakeServer.token(of: "cus_ada"))])
            #expect(store.finished == [1])
            #expect(submitted(app) == ["jws-1 purchased"])
        }

        @Test func aPurchaseThatTheServerHasNotAcknowledgedStaysUnfinishedAndIsTriedAgain()
            async throws
        {
            let app = await launched()
            app.server.mood(.answers(503, .storageUnavailable), on: .appStoreTransactions)
            let purchase = try await app.billing.purchase(Product(_stub: "coins"))
            guard case .awaitingServer = purchase else {
                Issue.record("got \(purchase)")
                return
            }
            #expect(store.finished == [])
            app.server.mood(nil, on: .appStoreTransactions)
            comeToForeground()
            #expect(await eventually { store.finished == [1] })
            #expect(submitted(app) == ["jws-1 purchased"])
        }

        /// Buys while the server is away, in a process that then ends.
        private func buyAndQuit(_ server: FakeServer) async throws -> Locked<Weak> {
            let app = TestApp(server: server)
            server.mood(.answers(503, .storageUnavailable), on: .appStoreTransactions)
            let purchase = try await app.billing.purchase(Product(_stub: "coins"))
            guard case .awaitingServer(let error) = purchase else {
                Issue.record("got \(purchase)")
                return Locked(Weak())
            }
            #expect((error as? BillingSDKError)?.name == "serverUnavailable")
            return Locked(Weak(app: app))
        }

        private struct Weak { weak var app: TestApp? }

        @Test func aPurchaseThatTheServerHasNotAcknowledgedIsTriedAgainAtTheNextLaunch()
            async throws
        {
            let server = FakeServer(clock: TestClock())
            let former = try await buyAndQuit(server)
            #expect(await eventually { former.withLock { $0.app == nil } })
            server.mood(nil, on: .appStoreTransactions)
            // No process is there that could hear it.
            comeToForeground()
            #expect(store.finished == [])
            // It is told once it is known who is signed in, which an app asks for when it is launched.
            let app = TestApp(server: server)
            _ = try await app.keys()
            #expect(await eventually { store.finished == [1] })
            #expect(submitted(app) == ["jws-1 observed"])
            #expect(store.lastOptions == [.appAccountToken(FakeServer.token(of: "cus_ada"))])
            // A third launch has nothing left to tell.
            let again = TestApp(server: server)
            _ = try await again.keys()
            #expect(await eventually { again.isIdle })
            #expect(submitted(again) == ["jws-1 observed"])
        }

        @Test func cancelledAndPendingPurchasesAreNoErrors() async throws {
            let app = await launched()
            store.behaviour = .cancel
            guard case .cancelled = try await app.billing.purchase(Product(_stub: "coins")) else {
                Issue.record("not cancelled")
                return
            }
            store.behaviour = .pending
            guard case .pending = try await app.billing.purchase(Product(_stub: "coins")) else {
                Issue.record("not pending")
                return
            }
            #expect(submitted(app).isEmpty)
        }

        @Test func nothingIsBoughtForNobody() async throws {
            let app = await launched()
            app.signIn(nil)
            var error: BillingSDKError?
            do {
                _ = try await app.billing.purchase(Product(_stub: "coins"))
            } catch let thrown as BillingSDKError {
                error = thrown
            }
            #expect(error?.name == "unauthenticated")
            #expect(store.finished.isEmpty && submitted(app).isEmpty)
        }

        @Test func transactionsFromElsewhereArriveFromLaunchOn() async throws {
            let app = TestApp()
            let early = store.deliver(productID: "monthly")
            #expect(await eventually { store.finished.contains(early) })
            let late = store.deliver(productID: "monthly")
            #expect(await eventually { store.finished == [early, late] })
            #expect(submitted(app) == ["jws-1 observed", "jws-2 observed"])
        }

        @Test func aTransactionWaitsUntilSomebodySignsIn() async throws {
            let app = TestApp()
            app.signIn(nil)
            let id = store.deliver(productID: "monthly")
            #expect(await eventually { app.providerCalls > 0 && app.isIdle })
            #expect(store.finished.isEmpty && submitted(app).isEmpty)
            app.signIn("cus_ada")
            _ = try await app.keys()
            #expect(await eventually { store.finished == [id] })
        }

        @Test func restoringClaimsWhatTheAppleIDHasBought() async throws {
            let app = TestApp(configure: { $0.handlesAppStoreTransactions = false })
            _ = store.deliver(productID: "lifetime")
            #expect(try await app.billing.restoreAppStorePurchases() == 1)
            #expect(submitted(app) == ["jws-1 restored"])
            #expect(store.finished == [1])
        }

        @Test func anAppWithItsOwnStoreKitCodeIsLeftAlone() async throws {
            let app = TestApp(configure: { $0.handlesAppStoreTransactions = false })
            _ = try await app.keys()
            _ = store.deliver(productID: "monthly")
            comeToForeground()
            #expect(
                await eventually { app.entitlementRequests() == 2 }
            )
            #expect(store.finished.isEmpty && submitted(app).isEmpty)
        }

        // MARK: - Purchases that begin outside the app

        @Test func aPromotedPaymentIsHeldAndExactlyItIsQueuedLater() throws {
            let app = TestApp()
            let holder = PromotingPurchasePaymentHolder(inbox: app.billing.purchaseInbox)
            let product = SKProduct(_stub: "monthly")
            let payment = SKPayment(product: product)
            let purchase = holder.add(PromotingPurchasePayment(product: product, payment: payment))
            #expect(holder.pendingPayments.map(\.product.productIdentifier) == ["monthly"])
            #expect(holder.payment(for: purchase, product: product) === payment)
            holder.consume(purchase)
            #expect(holder.pendingPayments.isEmpty && app.billing.purchaseInbox.pending.isEmpty)
        }

        @Test func aPaymentOfAnotherProductIsAMistakeOfTheApps() async {
            await #expect(processExitsWith: .failure) {
                _ = PromotingPurchasePayment(
                    product: SKProduct(_stub: "monthly"),
                    payment: SKPayment(product: SKProduct(_stub: "yearly"))
                )
            }
            await #expect(processExitsWith: .success) {
                _ = PromotingPurchasePayment(
                    product: SKProduct(_stub: "monthly"),
                    payment: SKPayment(product: SKProduct(_stub: "monthly"))
                )
            }
        }

        @Test func afterARelaunchANewPaymentIsMadeFromWhatTheInboxKept() throws {
            let app = TestApp()
            let product = SKProduct(_stub: "coins_100")
            let purchase = app.billing.purchaseInbox.add(
                productID: "coins_100",
                quantity: 3,
                origin: .promotedPayment
            )
            let holder = PromotingPurchasePaymentHolder(inbox: app.billing.purchaseInbox)
            let payment = try #require(holder.payment(for: purchase, product: product))
            #expect(payment.productIdentifier == "coins_100" && payment.quantity == 3)
            #expect(holder.payment(for: purchase, product: SKProduct(_stub: "other")) == nil)
        }

        @Test func purchaseIntentsLandInTheInbox() async throws {
            let app = TestApp()
            var product = Product(_stub: "monthly")
            product.type = .autoRenewable
            store.sendIntent(product)
            let receiving = Task { await app.billing.receivePurchaseIntents() }
            #expect(await eventually { !app.billing.purchaseInbox.pending.isEmpty })
            receiving.cancel()
            let pending = try #require(app.billing.purchaseInbox.pending.first)
            #expect(pending.kind == .subscription && pending.origin == .purchaseIntent)
        }
    }
}
