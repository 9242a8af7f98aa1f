import BillingSDK
import Foundation
import SafariServices
import StoreKit
import SwiftUI
import Synchronization
import UIKit

@testable import ExampleApp

/// The sample app, running on stand-ins.
@MainActor final class RunningApp {
    private var shop: Shop
    private var promoted: PromotedPurchases
    private let makeShop: @MainActor () -> Shop
    private let signIns = KeptInMemory()
    /// The page that lies over the screen, what its closing does, and the sheet that holds both.
    private var page: (page: SFSafariViewController, dismiss: () -> Void, sheet: _Node)?

    init(tollgate: String, publishableKey: String, backend: String) {
        let configuration = BillingSDK.Configuration(
            publishableKey: publishableKey,
            maximumStaleEntitlementsDuration: 300,
            serverURL: URL(string: tollgate)
        )
        let backend = URL(string: backend) ?? URL(fileURLWithPath: "/")
        makeShop = { [signIns] in
            Shop(
                configuration: configuration,
                backend: Backend(url: backend),
                signIns: signIns
            )
        }
        shop = makeShop()
        promoted = PromotedPurchases(inbox: shop.billing.purchaseInbox)
        SKPaymentQueue.default().add(promoted)
    }

    /// The app is ended and launched again.
    private func relaunch() {
        SKPaymentQueue.default().remove(promoted)
        shop = makeShop()
        promoted = PromotedPurchases(inbox: shop.billing.purchaseInbox)
        SKPaymentQueue.default().add(promoted)
        // Some go on for as long as their view is there.
        for task in screen.all.compactMap(\.task) { Task { await task() } }
    }

    /// What the screen does when it appears.
    func start() async {
        for task in screen.all.compactMap(\.task).suffix(1) { await task() }
    }

    private var screen: _Node { _Stub.render(ContentView(shop: shop)) }

    private func texts() -> String {
        let texts = screen.texts
        let data = (try? JSONEncoder().encode(texts)) ?? Data()
        return String(decoding: data, as: UTF8.self)
    }

    /// Carries out one command and says what the screen shows then.
    func perform(_ words: [String]) async -> String {
        let rest = words.dropFirst().joined(separator: " ")
        switch words.first {
        case "wait": return await wait { self.screen.texts.contains { $0.contains(rest) } }
        case "gone": return await wait { !self.screen.texts.contains { $0.contains(rest) } }
        case "sign-in": await shop.signIn(rest)
        case "relaunch": relaunch()
        case "lock-keychain": signIns.lock()
        case "press":
            let button = screen.all.first { $0.action != nil && $0.texts.contains(rest) }
            guard let action = button?.action else { return "no button '\(rest)'" }
            action()
        case "link":
            guard let url = URL(string: rest) else { return "no link" }
            await shop.opened(url)
        case "opened":
            _ = await wait { !UIApplication.shared._openedURLs.isEmpty }
            defer { UIApplication.shared._openedURLs = [] }
            return UIApplication.shared._openedURLs.last?.absoluteString ?? "nothing"
        case "promote" where words.count > 1:
            let product = SKProduct(_stub: words[1])
            if words.last != "once" {
                product.subscriptionPeriod = SKProductSubscriptionPeriod(_stub: 1)
            }
            SKPaymentQueue.default()._promote(product)
        case "sell" where words.count == 2: _FakeAppStore.shared.nextJWS = words[1]
        case "page": return await lookAtPage()
        case "close":
            guard let (page, dismiss, _) = page else { return "no page to close" }
            page.delegate?.safariViewControllerDidFinish(page)
            guard !shop.isPortalShown else { return "the page stays open" }
            dismiss()
            self.page = nil
        case "has":
            let has = try? await shop.billing.hasEntitlement(lookupKey: rest, forceRefresh: true)
            return has.map { "\($0)" } ?? "no answer"
        default: break
        }
        return texts()
    }

    /// The address of the page over the screen, once it has appeared.
    private func lookAtPage() async -> String {
        guard let node = screen.all.first(where: { $0.sheet != nil }), let sheet = node.sheet,
            let dismiss = node.dismissSheet
        else { return "no page" }
        // What loads it; the tasks after that listen for as long as the page is there.
        for task in sheet().all.compactMap(\.tasks.first) { await task.1() }
        let shown = sheet()
        guard let page = shown.first("UIViewController")?.controller as? SFSafariViewController
        else { return "no page: \(shown.texts)" }
        self.page = (page, dismiss, shown)
        return page._url.absoluteString
    }

    private func wait(_ condition: () -> Bool) async -> String {
        let deadline = ContinuousClock.now + .seconds(20)
        while ContinuousClock.now < deadline {
            if condition() { return texts() }
            try? await Task.sleep(nanoseconds: 20_000_000)
        }
        return "waited in vain: " + texts()
    }
}

/// In the keychain's place, which only Apple's systems have.
private final class KeptInMemory: SignInKeeping {
    private struct Locked: Error {}

    private let state = Mutex<(signIn: SignIn?, isLocked: Bool)>((nil, false))

    /// Refuses every change from now on.
    func lock() { state.withLock { $0.isLocked = true } }

    func kept() -> SignIn? { state.withLock { $0.signIn } }

    func keep(_ signIn: SignIn?) throws {
        try state.withLock { state in
            if state.isLocked { throw Locked() }
            state.signIn = signIn
        }
    }
}
