import Foundation
import FoundationNetworking
import SafariServices
import StoreKit
import SwiftUI
import Testing
import TollgateAPI
import UIKit

@testable import BillingSDK

extension OnePhone {
    /// The SDK's views, rendered by stand-ins.
    @Suite @MainActor struct ViewTests {
        init() {
            _FakeAppStore.shared._reset()
            UIApplication.shared._openedURLs = []
        }

        private func english(_ view: some View) -> _Node {
            _Stub.render(view.environment(\.locale, Locale(identifier: "en_US")))
        }

        private func press(_ view: some View) throws {
            let action = try #require(english(view).first("Button")?.action)
            action()
        }

        private func host(_ view: some View) -> _Host {
            _Host(view.environment(\.locale, Locale(identifier: "en_US")))
        }

        /// Puts the view on a screen until `condition` holds.
        private func appear(
            _ view: some View,
            until condition: @escaping @MainActor (_Node) -> Bool
        ) async -> Bool {
            let host = host(view)
            defer { host.close() }
            return await eventually { condition(host.update()) }
        }

        private func modifiers(_ view: some View) -> [String] {
            english(view).all.flatMap(\.modifiers)
        }

        // MARK: - The buy button

        @Test func theButtonSaysWhatItIsToThoseWhoDoNotSeeIt() async throws {
            let app = TestApp()
            let button = try await app.billing.getBuyButton(id: "buy_btn_monthly")
            #expect(
                modifiers(button.view()).contains(
                    "accessibilityLabel(Subscribe, Monthly, ¥1,500 a month)"
                )
            )
            let node = _Stub.render(button.view())
            #expect(
                node.all.flatMap(\.modifiers).contains {
                    $0.hasPrefix("accessibilityLabel(Subscribe、")
                }
            )
        }

        @Test func whereParentsForbidPaymentsTheButtonSaysWhy() async throws {
            let app = TestApp()
            let button = try await app.billing.getBuyButton(id: "buy_btn_monthly")
            _FakeAppStore.shared.canMakePayments = false
            let node = english(button.view())
            #expect(node.all.contains { $0.disabled })
            #expect(node.texts.last == "Purchases are not allowed on this device.")
        }

        @Test func nothingHasAFixedSizeSoTextMayGrow() async throws {
            let app = TestApp()
            let button = try await app.billing.getBuyButton(id: "buy_btn_monthly")
            for view in [
                AnyView(button.view()), AnyView(LoadedBuyButton(id: "x", billing: app.billing)),
            ] {
                let all = modifiers(view)
                #expect(!all.contains { $0.hasPrefix("frame(max") || $0.hasPrefix("lineLimit") })
                #expect(!all.contains("fixedSize(true,true)"))
            }
        }

        @Test func aButtonLoadsItselfById() async throws {
            let app = TestApp()
            let view = LoadedBuyButton(id: "buy_btn_monthly", billing: app.billing)
            #expect(english(view).first("ProgressView") != nil)
            #expect(modifiers(view).contains("accessibilityLabel(Loading the offer)"))
            #expect(await appear(view) { $0.texts.first == "Subscribe" })
        }

        @Test func aButtonThatCannotBeLoadedOffersAnotherTry() async throws {
            let app = TestApp()
            app.server.mood(.unreachable)
            let screen = host(LoadedBuyButton(id: "buy_btn_monthly", billing: app.billing))
            defer { screen.close() }
            #expect(
                await eventually {
                    screen.update().texts == ["The offer could not be loaded.", "Try again"]
                }
            )
            app.server.mood(.well)
            screen.update().first("Button")?.action?()
            #expect(screen.update().first("ProgressView") != nil)
            #expect(await eventually { screen.update().texts.first == "Subscribe" })
        }

        // MARK: - Dark mode, right to left

        /// The words of a button that loads itself, once `text` is the last of them.
        private func loaded(
            _ app: TestApp,
            _ scheme: ColorScheme,
            until text: String
        ) async -> _Node {
            let screen = host(
                LoadedBuyButton(id: "buy_btn_monthly", billing: app.billing)
                    .environment(\.colorScheme, scheme)
            )
            defer { screen.close() }
            #expect(await eventually { screen.update().texts.contains(text) })
            return screen.update()
        }

        /// Every view of the SDK in every phase that has words in it.
        private func everyPhase(_ app: TestApp, _ scheme: ColorScheme) async throws -> [_Node] {
            let button = try await app.billing.getBuyButton(id: "buy_btn_monthly")
            let loaded = await loaded(app, scheme, until: "Subscribe")
            let gate = Text("premium").entitled(to: "premium", by: app.billing) { button.view() }
            #expect(await appear(gate) { $0.texts.first == "Subscribe" })

            app.server.mood(.unreachable)
            let unloaded = await self.loaded(app, scheme, until: "Try again")
            let unknown = Text("").entitled(to: "gold", by: TestApp(server: app.server).billing)
            #expect(await appear(unknown) { $0.texts.last == "Try again" })
            let portal = PortalSheet(billing: app.billing) {}
            #expect(await appear(portal) { $0.texts.last == "Close" })
            let unsold = button.view()
            try press(unsold)
            #expect(await eventually { self.english(unsold).texts.first == "Try again" })
            return [
                AnyView(button.view()), AnyView(gate), AnyView(unknown), AnyView(portal),
                AnyView(unsold),
            ].map { english($0.environment(\.colorScheme, scheme)) } + [loaded, unloaded]
        }

        @Test(arguments: ColorScheme.allCases)
        func everyWordIsSeenInLightModeAndInDark(_ scheme: ColorScheme) async throws {
            for view in try await everyPhase(TestApp(), scheme) {
                let words = view.all.filter { $0.kind == "Text" }
                #expect(!words.isEmpty)
                for word in words {
                    // The system chooses a button's colour, which WCAG allows 3 for.
                    let enough = word.isInButton ? 3 : 4.5
                    #expect(try #require(word.contrast) >= enough, "\(word.text ?? "")")
                }
            }
        }

        @Test func aFixedColourWouldNotBeSeenInOneOfTheTwo() {
            let seen = ColorScheme.allCases.map { scheme in
                english(
                    Text("text").foregroundColor(.black).environment(\.colorScheme, scheme)
                ).first("Text")?.contrast
            }
            #expect(seen == [21, 1])
        }

        @Test func theButtonIsMirroredWhereOneReadsFromTheRight() async throws {
            let app = TestApp()
            let view = try await app.billing.getBuyButton(id: "buy_btn_monthly").view()
            let rows = LayoutDirection.allCases.map { direction in
                english(view.environment(\.layoutDirection, direction)).first("HStack")?
                    .leftToRight.flatMap(\.texts)
            }
            #expect(
                rows == [["Subscribe", "¥1,500 a month"], ["¥1,500 a month", "Subscribe"]]
            )
        }

        @Test func inTheLargestTypeThePriceLiesBelowTheTitle() async throws {
            let app = TestApp()
            let view = try await app.billing.getBuyButton(id: "buy_btn_monthly").view()
            for size in DynamicTypeSize.allCases {
                let node = english(view.environment(\.dynamicTypeSize, size))
                #expect((node.first("HStack") == nil) == size.isAccessibilitySize)
                #expect(node.texts == ["Subscribe", "¥1,500 a month"])
            }
        }

        // MARK: - The gate

        private func gated(_ app: TestApp) -> some View {
            Text("premium").entitled(to: "premium", by: app.billing) { Text("locked") }
        }

        @Test func aViewIsShownOnlyToThoseWhoMayUseIt() async throws {
            let app = TestApp()
            let view = gated(app)
            #expect(english(view).first("ProgressView") != nil)
            #expect(await appear(view) { $0.texts == ["locked"] })
            app.server.grant("premium", to: "cus_ada")
            let other = TestApp(server: app.server)
            let entitled = gated(other)
            #expect(await appear(entitled) { $0.texts == ["premium"] })
            // What is known is there in the first frame.
            #expect(english(gated(other)).texts == ["premium"])
        }

        @Test func theGateFollowsEachChangeWhileItIsSeen() async throws {
            let app = TestApp(maximumStale: 36000)
            let host = host(gated(app))
            defer { host.close() }
            #expect(await eventually { host.update().texts == ["locked"] })
            app.server.grant("premium", to: "cus_ada")
            _ = try await app.keys(forceRefresh: true)
            #expect(await eventually { host.update().texts == ["premium"] })
            app.signIn(nil)
            await app.billing.reset()
            #expect(await eventually { host.update().texts == ["locked"] })
        }

        @Test func whoSignsInInPlaceOfAnotherIsNotLetIn() async throws {
            let app = TestApp(maximumStale: 36000)
            app.server.grant("premium", to: "cus_ada")
            let screen = host(gated(app))
            defer { screen.close() }
            #expect(await eventually { screen.update().texts == ["premium"] })
            // Without a reset, and with a backend that takes its time.
            let gate = Gate()
            app.backend.withLock { ($0.customer, $0.gate) = ("cus_bob", gate) }
            let change = Task { await app.billing.customerDidChange() }
            #expect(await eventually { screen.update().first("ProgressView") != nil })
            #expect(screen.update().texts.isEmpty)
            gate.open()
            await change.value
            #expect(await eventually { screen.update().texts == ["locked"] })
            // A session that is renewed for somebody else, without a word of the app's.
            app.backend.withLock { ($0.customer, $0.gate) = ("cus_ada", nil) }
            app.clock.advance(by: 1800)
            _ = try await app.keys(forceRefresh: true)
            #expect(await eventually { screen.update().texts == ["premium"] })
        }

        @Test func aBackendThatIsAwayLetsNobodyInInPlaceOfAnother() async throws {
            let app = TestApp(maximumStale: 36000)
            app.server.grant("premium", to: "cus_ada")
            let screen = host(gated(app))
            defer { screen.close() }
            #expect(await eventually { screen.update().texts == ["premium"] })
            app.backend.withLock { $0.failure = URLError(.notConnectedToInternet) }
            await app.billing.customerDidChange()
            #expect(await eventually { screen.update().texts.last == "Try again" })
        }

        @Test func aGateWithoutALockedViewHearsOfAPurchase() async throws {
            let app = TestApp(maximumStale: 36000)
            let host = host(Text("premium").entitled(to: "premium", by: app.billing))
            defer { host.close() }
            #expect(await eventually { host.update().first("ProgressView") == nil })
            app.server.grant("premium", to: "cus_ada")
            _ = try await app.keys(forceRefresh: true)
            #expect(await eventually { host.update().texts == ["premium"] })
        }

        // MARK: - Lives on the screen

        /// <https://developer.apple.com/documentation/swiftui/group>: modifiers of a group are applied
        /// to its members.
        @Test func theStandInsHandATaskOfAGroupToEachOfItsBranches() {
            @MainActor final class Model { var isOn = true }
            let model = Model()
            struct Branches: View {
                let model: Model
                let isHeld: Bool
                var body: some View {
                    if isHeld {
                        VStack { if model.isOn { Text("a") } else { Text("b") } }.task {}
                    } else {
                        Group { if model.isOn { Text("a") } else { Text("b") } }.task {}
                    }
                }
            }
            let screens = [false, true].map { _Host(Branches(model: model, isHeld: $0)) }
            model.isOn = false
            screens.forEach { $0.update() }
            #expect(screens.map(\.beginnings) == [2, 1])
        }

        @Test func aButtonLoadsOnce() async throws {
            let app = TestApp()
            let host = host(LoadedBuyButton(id: "buy_btn_monthly", billing: app.billing))
            defer { host.close() }
            #expect(await eventually { host.update().texts.first == "Subscribe" })
            for _ in 0..<100 {
                host.update()
                await Task.yield()
            }
            let loads = app.server.requests("GET", APIPath.buyButton.path(id: "buy_btn_monthly"))
            // It loads, and listens for a sign-in and for another country.
            #expect(loads.count == 1 && host.beginnings == 3)
        }

        /// A view whose parameter the app changes while it is on the screen.
        private struct Changing<Content: View>: View {
            let value: Locked<String>
            let content: @MainActor (String) -> Content
            var body: some View { content(value.withLock { $0 }) }
        }

        @Test func anotherIdIsAnotherButton() async throws {
            let app = TestApp()
            let id = Locked("buy_btn_monthly")
            let screen = host(
                Changing(value: id) { LoadedBuyButton(id: $0, billing: app.billing) }
            )
            defer { screen.close() }
            #expect(await eventually { screen.update().texts.first == "Subscribe" })
            id.withLock { $0 = "buy_btn_yearly" }
            #expect(screen.update().texts.isEmpty)
            #expect(await eventually { screen.update().texts.last == "Try again" })
            id.withLock { $0 = "buy_btn_monthly" }
            #expect(screen.update().texts.isEmpty)
            #expect(await eventually { screen.update().texts.first == "Subscribe" })
        }

        @Test func anotherKeyIsAnotherGate() async throws {
            let app = TestApp(maximumStale: 0)
            app.server.grant("premium", to: "cus_ada")
            let key = Locked("premium")
            let screen = host(
                Changing(value: key) { key in
                    Text(verbatim: key).entitled(to: key, by: app.billing) { Text("locked") }
                }
            )
            defer { screen.close() }
            #expect(await eventually { screen.update().texts == ["premium"] })
            key.withLock { $0 = "gold" }
            #expect(screen.update().texts.isEmpty)
            #expect(await eventually { screen.update().texts == ["locked"] })
            key.withLock { $0 = "premium" }
            #expect(await eventually { screen.update().texts == ["premium"] })
        }

        @Test func aBannerThatCouldNotAskLooksAgain() async throws {
            let app = TestApp()
            app.server.grant("premium", to: "cus_ada", ground: .grace)
            app.server.mood(.unreachable)
            let screen = host(PaymentProblemBanner(billing: app.billing))
            defer { screen.close() }
            #expect(await eventually { app.entitlementRequests() == 1 })
            app.server.mood(.well)
            EntitlementListeners(client: app.billing.client).lookAgain()
            #expect(await eventually { screen.update().texts.last == "Check payment" })
        }

        @Test func anOpenPortalGoesWithItsCustomer() async throws {
            let app = TestApp()
            let screen = host(PortalSheet(billing: app.billing) {})
            defer { screen.close() }
            #expect(await eventually { screen.update().first("UIViewController") != nil })
            app.signIn(nil)
            await app.billing.reset()
            #expect(await eventually { screen.update().texts.first == "Sign in first." })
        }

        @Test func aButtonIsLoadedAnewInAnotherCountry() async throws {
            let app = TestApp(storefront: { _FakeAppStore.shared.country })
            let screen = host(LoadedBuyButton(id: "buy_btn_monthly", billing: app.billing))
            defer { screen.close() }
            #expect(await eventually { screen.update().texts.first == "Subscribe" })
            let updates = app.billing.storefrontUpdates
            let heard = Locked<[String]>([])
            let reading = Task { for await c in updates { heard.withLock { $0.append(c) } } }
            defer { reading.cancel() }
            // Both the screen and this test listen by now, or will be told of the next move.
            #expect(
                await eventually {
                    _FakeAppStore.shared._move(to: "JPN")
                    screen.update()
                    let path = APIPath.buyButton.path(id: "buy_btn_monthly")
                    let asked = app.server.requests("GET", path).compactMap(\.url.query)
                    return asked.contains("storefront=JPN") && !heard.withLock { $0 }.isEmpty
                }
            )
            #expect(await app.billing.getStorefront() == "JPN")
        }

        @Test func anOpenPortalIsNotReplacedByAnError() async throws {
            let app = TestApp()
            let host = host(PortalSheet(billing: app.billing) {})
            defer { host.close() }
            #expect(await eventually { host.update().first("UIViewController") != nil })
            app.server.mood(.unreachable)
            for _ in 0..<100 {
                host.update()
                await Task.yield()
            }
            #expect(host.update().first("UIViewController") != nil)
            #expect(app.server.requests("POST", APIPath.portalSessions.path).count == 1)
        }

        @Test func withoutAnAnswerTheGateSaysSo() async throws {
            let app = TestApp()
            app.server.mood(.unreachable)
            let view = gated(app)
            #expect(
                await appear(view) {
                    $0.texts == ["What you have bought could not be checked.", "Try again"]
                }
            )
            app.server.grant("premium", to: "cus_ada")
            app.server.mood(.well)
            try press(view)
            #expect(await appear(view) { $0.texts == ["premium"] })
        }

        @Test func nothingIsShownInstead() async throws {
            let app = TestApp()
            let view = Text("premium").entitled(to: "premium", by: app.billing)
            #expect(await appear(view) { $0.texts.isEmpty && $0.first("ProgressView") == nil })
        }

        @Test func developersSeeWhatTheSDKKnows() async throws {
            let app = TestApp()
            let view = BillingDiagnosticsView(billing: app.billing)
            #expect(english(view).texts.contains("Answer: none since launch"))
            app.server.grant("premium", to: "cus_ada")
            _ = try await app.keys()
            #expect(english(view).texts.contains("Answer: premium"))
        }

        // MARK: - A payment problem

        @Test func aBannerSaysThatAPaymentFailedAndLeadsToTheStore() async throws {
            let app = TestApp(maximumStale: 36000)
            app.server.grant("premium", to: "cus_ada")
            let screen = host(PaymentProblemBanner(billing: app.billing))
            defer { screen.close() }
            #expect(await eventually { app.entitlementRequests() == 1 })
            #expect(screen.update().texts.isEmpty)
            app.server.grant("premium", to: "cus_ada", ground: .grace)
            _ = try await app.keys(forceRefresh: true)
            #expect(await eventually { screen.update().texts.last == "Check payment" })
            #expect(screen.update().texts.first == "Your last payment failed")
            screen.update().first("Button")?.action?()
            #expect(
                UIApplication.shared._openedURLs.map(\.absoluteString)
                    == ["https://apps.apple.com/account/subscriptions"]
            )
            app.server.grant("premium", to: "cus_ada")
            _ = try await app.keys(forceRefresh: true)
            #expect(await eventually { screen.update().texts.isEmpty })
        }

        @Test func whatWasBoughtOnTheWebIsMendedInThePortal() async throws {
            let app = TestApp()
            app.server.grant("pro", to: "cus_ada", ground: .grace, purchase: "stripe/test//sub_1")
            let screen = host(PaymentProblemBanner(billing: app.billing))
            defer { screen.close() }
            #expect(await eventually { screen.update().first("Button") != nil })
            screen.update().first("Button")?.action?()
            #expect(
                await eventually {
                    UIApplication.shared._openedURLs.map(\.absoluteString)
                        == ["https://portal.example/cus_ada"]
                }
            )
        }

        // MARK: - The portal's sheet

        @Test func thePortalIsASheetThatRefreshesWhenItCloses() async throws {
            let app = TestApp(maximumStale: 36000)
            _ = try await app.keys()
            let isPresented = Locked(false)
            let binding = Binding(
                get: { isPresented.withLock { $0 } },
                set: { value in isPresented.withLock { $0 = value } }
            )
            let view = Text("account").customerPortal(isPresented: binding, billing: app.billing)
            #expect(english(view).all.allSatisfy { $0.sheet == nil })
            isPresented.withLock { $0 = true }
            #expect(english(view).all.contains { $0.sheet != nil })

            let sheet = PortalSheet(billing: app.billing) { binding.wrappedValue = false }
            #expect(modifiers(sheet).contains("accessibilityLabel(Opening your account page)"))
            #expect(await appear(sheet) { $0.first("UIViewController") != nil })
            let shown = english(sheet)
            let page = try #require(
                shown.first("UIViewController")?.controller as? SFSafariViewController
            )
            #expect(page._url.absoluteString == "https://portal.example/cus_ada")
            page.delegate?.safariViewControllerDidFinish(page)
            #expect(isPresented.withLock { $0 } == false)

            isPresented.withLock { $0 = true }
            app.server.grant("gold", to: "cus_ada")
            let dismiss = try #require(english(view).all.compactMap(\.dismissSheet).first)
            dismiss()
            #expect(await eventually { app.heardSets == [["gold"]] })
        }

        @Test func aSheetThatIsSwipedAwayLeavesNothingBehind() async throws {
            let app = TestApp()
            weak var delegate: AnyObject?
            do {
                let screen = host(PortalSheet(billing: app.billing) {})
                #expect(await eventually { screen.update().first("UIViewController") != nil })
                let page = screen.update().first("UIViewController")?.controller
                delegate = (page as? SFSafariViewController)?.delegate
                #expect(delegate != nil)
                screen.close()
            }
            #expect(await eventually { delegate == nil })
        }

        @Test func afterSignInOneCallMakesEveryViewLookAgain() async throws {
            let app = TestApp(maximumStale: 36000)
            app.signIn(nil)
            app.server.grant("premium", to: "cus_ada")
            let screens = [
                host(gated(app)), host(PortalSheet(billing: app.billing) {}),
                host(LoadedBuyButton(id: "buy_btn_monthly", billing: app.billing)),
            ]
            defer { screens.forEach { $0.close() } }
            app.server.mood(.unreachable, on: .buyButton("buy_btn_monthly"))
            #expect(await eventually { screens[0].update().texts == ["locked"] })
            #expect(await eventually { screens[1].update().texts.first == "Sign in first." })
            #expect(await eventually { screens[2].update().texts.last == "Try again" })
            app.server.mood(nil, on: .buyButton("buy_btn_monthly"))
            app.signIn("cus_ada")
            await app.billing.customerDidChange()
            #expect(await eventually { screens[0].update().texts == ["premium"] })
            #expect(await eventually { screens[1].update().first("UIViewController") != nil })
            #expect(await eventually { screens[2].update().texts.first == "Subscribe" })
        }

        @Test func aGateThatHadNoAnswerLooksAgainToo() async throws {
            let app = TestApp()
            app.server.mood(.unreachable)
            let screen = host(gated(app))
            defer { screen.close() }
            #expect(await eventually { screen.update().texts.last == "Try again" })
            app.server.mood(.well)
            // What changes is not what the customer has, so no listener hears of it.
            await app.billing.customerDidChange()
            #expect(await eventually { screen.update().texts == ["locked"] })
        }

        @Test func thePortalOfNobodyAsksToSignIn() async throws {
            let app = TestApp()
            app.signIn(nil)
            let sheet = PortalSheet(billing: app.billing) {}
            #expect(await appear(sheet) { $0.texts == ["Sign in first.", "Try again", "Close"] })
        }
    }
}
