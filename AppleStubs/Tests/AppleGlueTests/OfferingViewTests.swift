import Foundation
import FoundationNetworking
import StoreKit
import SwiftUI
import Testing
import TollgateAPI
import UIKit

@testable import BillingSDK

extension OnePhone {
    /// Offerings and purchases on the screen.
    @Suite @MainActor struct OfferingViewTests {
        let store = _FakeAppStore.shared
        private nonisolated static let monthly = "com.example.app.pro.monthly"
        private nonisolated static let coins = "com.example.app.coins100"

        init() {
            store._reset()
            UIApplication.shared._openedURLs = []
            UIAccessibility._announcements = []
            store.products[Self.coins] = Product(_stub: Self.coins, price: 160)
            sell(.init(_stub: []))
        }

        private func sell(_ subscription: Product.SubscriptionInfo) {
            var product = Product(_stub: Self.monthly, price: 1500)
            product.subscription = subscription
            store.products[Self.monthly] = product
        }

        private func app() async -> TestApp {
            let app = await launched()
            app.server.world.withLock { world in
                world.offerings = [.sample(), .sample("other", title: "Another")]
                world.placements = ["paywall": ["cus_ada": "other", "nobody": "standard"]]
            }
            return app
        }

        private func view(
            _ app: TestApp,
            theme: OfferingTheme = OfferingTheme(),
            onPurchase: (@MainActor () -> Void)? = nil
        ) throws -> OfferingView {
            OfferingView(
                placement: "paywall",
                billing: app.billing,
                terms: try #require(URL(string: "https://example.com/terms")),
                privacy: try #require(URL(string: "https://example.com/privacy")),
                theme: theme,
                onPurchase: onPurchase
            )
        }

        private func host(_ view: some View, _ locale: String = "en_US") -> _Host {
            _Host(view.environment(\.locale, Locale(identifier: locale)))
        }

        private func button(_ host: _Host, _ text: String) -> _Node? {
            host.update().all.first { $0.kind == "Button" && $0.texts.contains(text) }
        }

        // MARK: - What App Review asks for

        @Test func anOfferingShowsPriceAndPeriodRenewalRestoringTermsAndPrivacy() async throws {
            let app = await app()
            let screen = host(try view(app))
            defer { screen.close() }
            #expect(screen.update().first("ProgressView") != nil)
            #expect(await eventually { screen.update().texts.first == "Another" })
            #expect(
                screen.update().texts == [
                    "Another", "All of it.", Self.monthly, "¥1500 a month", Self.coins, "¥160",
                    "Subscriptions renew automatically until you cancel them.",
                    "Restore purchases", "Terms of use", "Privacy policy",
                ]
            )
            button(screen, "Terms of use")?.action?()
            button(screen, "Privacy policy")?.action?()
            #expect(
                UIApplication.shared._openedURLs.map(\.path) == ["/terms", "/privacy"]
            )
            // What the customer saw is recorded.
            #expect(
                await eventually {
                    app.server.world.withLock { $0.shown } == [["cus_ada", "paywall", "other"]]
                }
            )
        }

        @Test func whereNothingRenewsNothingIsSaidOfRenewal() async throws {
            let app = await app()
            store.products[Self.monthly] = Product(_stub: Self.monthly, price: 1500)
            let screen = host(try view(app))
            defer { screen.close() }
            #expect(await eventually { screen.update().texts.first == "Another" })
            #expect(!screen.update().texts.contains { $0.contains("renew") })
        }

        /// The offer, whether the customer may have it, and what is shown.
        private nonisolated static let offers:
            [(offer: Product.SubscriptionOffer, isEligible: Bool, text: String)] = [
                (
                    .init(_stub: nil, .introductory, period: .init(_stub: .day, 7)), true,
                    "1 week free, then ¥1500 a month"
                ),
                (
                    .init(_stub: nil, .introductory, period: .init(_stub: .day, 7)), false,
                    "¥1500 a month"
                ),
                (
                    .init(
                        _stub: nil,
                        .introductory,
                        .payAsYouGo,
                        displayPrice: "¥500",
                        period: .init(_stub: .month, 1),
                        periodCount: 3
                    ), true, "¥500 a month for 3 months, then ¥1500 a month"
                ),
                (
                    .init(
                        _stub: nil,
                        .introductory,
                        .payUpFront,
                        displayPrice: "¥1000",
                        period: .init(_stub: .year, 1)
                    ), true, "¥1000 for 1 year, then ¥1500 a month"
                ),
            ]

        @Test(arguments: offers.indices)
        func anIntroductoryOfferIsShownToThoseWhoMayHaveIt(_ index: Int) async throws {
            let (offer, isEligible, text) = Self.offers[index]
            sell(.init(_stub: [], introductoryOffer: offer, isEligible: isEligible))
            let app = await app()
            let screen = host(try view(app))
            defer { screen.close() }
            #expect(await eventually { screen.update().texts.contains(text) })
            let labels = screen.update().all.flatMap(\.modifiers)
            #expect(labels.contains("accessibilityLabel(\(Self.monthly), \(text))"))
        }

        @Test func theBestWinBackOfferIsShownAndBought() async throws {
            let offers = ["small", "large"].map {
                Product.SubscriptionOffer(_stub: $0, .winBack, period: .init(_stub: .month, 1))
            }
            sell(.init(_stub: offers))
            store.statuses["pro"] = [
                .init(
                    _stub: .expired,
                    Transaction(_stub: 1, productID: Self.monthly, jws: "jws"),
                    .init(_stub: Self.monthly, winBack: ["large", "small"])
                )
            ]
            let app = await app()
            let screen = host(try view(app))
            defer { screen.close() }
            let text = "1 month free, then ¥1500 a month"
            #expect(await eventually { screen.update().texts.contains(text) })
            button(screen, text)?.action?()
            #expect(await eventually { store.lastOptions.contains(.winBackOffer(offers[1])) })
            // The next test hears only what is said in it.
            #expect(await eventually { !UIAccessibility._announcements.isEmpty })
        }

        // MARK: - Buying

        @Test func whatIsBoughtIsSaidAloudAndTold() async throws {
            let app = await app()
            let bought = Locked(0)
            let screen = host(try view(app) { bought.withLock { $0 += 1 } })
            defer { screen.close() }
            #expect(await eventually { screen.update().texts.first == "Another" })
            button(screen, Self.monthly)?.action?()
            let said = "Thank you. Your purchase is ready."
            #expect(await eventually { screen.update().texts.contains(said) })
            #expect(bought.withLock { $0 } == 1)
            #expect(UIAccessibility._announcements == [said])
            #expect(app.server.world.withLock { $0.prepared } == [Self.monthly])
        }

        /// Outcomes of a purchase, with the sentence that the customer reads.
        private nonisolated static let outcomes:
            [(mood: FakeServer.Mood?, path: APIPath, phone: _FakeAppStore.Behaviour, text: String)] =
                [
                    (
                        nil, .appStorePurchases, .pending,
                        "Somebody has to approve this purchase first."
                    ),
                    (
                        .answers(409, .alreadyActive), .appStorePurchases, .succeed,
                        "You already have this."
                    ),
                    (
                        .answers(404, .resourceMissing), .appStorePurchases, .succeed,
                        "The purchase could not be completed."
                    ),
                    (
                        .answers(503, .storageUnavailable), .appStoreTransactions, .succeed,
                        "Paid. It will be ready in a moment."
                    ),
                ]

        @Test(arguments: outcomes.indices)
        func whateverBecomesOfAPurchaseIsSaid(_ index: Int) async throws {
            let (mood, path, behaviour, text) = Self.outcomes[index]
            let app = await app()
            let screen = host(try view(app))
            defer { screen.close() }
            #expect(await eventually { screen.update().texts.first == "Another" })
            store.behaviour = behaviour
            app.server.mood(mood, on: path)
            button(screen, Self.monthly)?.action?()
            #expect(await eventually { screen.update().texts.contains(text) })
            #expect(UIAccessibility._announcements == [text])
            // It can be tried again.
            #expect(await eventually { !screen.update().all.contains { $0.disabled } })
        }

        @Test func whatWasChargedAndRefusedLeadsToSupportAndIsNotSoldAgain() async throws {
            let app = await app()
            let screen = host(try view(app))
            defer { screen.close() }
            #expect(await eventually { screen.update().texts.first == "Another" })
            app.server.mood(.answers(422, .appMismatch), on: .appStoreTransactions)
            button(screen, Self.monthly)?.action?()
            let text = "You were charged, but your purchase could not be unlocked. Contact support."
            #expect(await eventually { screen.update().texts.contains(text) })
            #expect(UIAccessibility._announcements == [text])
            #expect(await eventually { button(screen, Self.coins)?.disabled == false })
            #expect(button(screen, Self.monthly)?.disabled == true)
        }

        @Test func anotherPlacementIsLoadedAnewWithoutTheOldOne() async throws {
            let app = await app()
            let page = try #require(URL(string: "https://example.com"))
            app.server.world.withLock { $0.placements["settings"] = ["cus_ada": "standard"] }
            let placement = Locked("paywall")
            struct Screen: View {
                let placement: Locked<String>
                let billing: BillingSDK
                let page: URL
                var body: some View {
                    OfferingView(
                        placement: placement.withLock { $0 },
                        billing: billing,
                        terms: page,
                        privacy: page
                    )
                }
            }
            let screen = host(Screen(placement: placement, billing: app.billing, page: page))
            defer { screen.close() }
            #expect(await eventually { screen.update().texts.first == "Another" })
            placement.withLock { $0 = "settings" }
            #expect(screen.update().texts.isEmpty)
            #expect(await eventually { screen.update().texts.first == "Go Pro" })
            #expect(
                await eventually {
                    app.server.world.withLock { $0.shown }.last == [
                        "cus_ada", "settings", "standard",
                    ]
                }
            )
        }

        @Test func signingOutTakesTheCustomersVariantAway() async throws {
            let app = await app()
            let screen = host(try view(app))
            defer { screen.close() }
            #expect(await eventually { screen.update().texts.first == "Another" })
            app.signIn(nil)
            await app.billing.reset()
            #expect(await eventually { screen.update().texts.first == "Go Pro" })
        }

        @Test func whoIsNotSignedInIsAskedToAndSeesTheFirstVariant() async throws {
            let app = await app()
            app.signIn(nil)
            let screen = host(try view(app))
            defer { screen.close() }
            #expect(await eventually { screen.update().texts.first == "Go Pro" })
            button(screen, Self.monthly)?.action?()
            #expect(await eventually { screen.update().texts.contains("Sign in first.") })
            #expect(app.server.world.withLock { $0.shown.isEmpty })
            app.signIn("cus_ada")
            await app.billing.customerDidChange()
            #expect(await eventually { screen.update().texts.first == "Another" })
        }

        @Test func aCancelledPurchaseSaysNothing() async throws {
            let app = await app()
            let screen = host(try view(app))
            defer { screen.close() }
            #expect(await eventually { screen.update().texts.first == "Another" })
            let before = screen.update().texts
            store.behaviour = .cancel
            button(screen, Self.monthly)?.action?()
            #expect(await eventually { !store.lastOptions.isEmpty })
            #expect(await eventually { screen.update().texts == before })
        }

        @Test func whereParentsForbidPaymentsNothingCanBeBoughtAndTheViewSaysWhy() async throws {
            let app = await app()
            store.canMakePayments = false
            let screen = host(try view(app))
            defer { screen.close() }
            let text = "Purchases are not allowed on this device."
            #expect(await eventually { screen.update().texts.contains(text) })
            #expect(button(screen, Self.monthly)?.disabled == true)
        }

        // MARK: - Restoring

        @Test func restoringTellsWhatItFound() async throws {
            let app = await app()
            let screen = host(try view(app))
            defer { screen.close() }
            #expect(await eventually { screen.update().texts.first == "Another" })
            button(screen, "Restore purchases")?.action?()
            #expect(await eventually { screen.update().texts.contains("No purchases were found.") })
            store.entitled = [Transaction(_stub: 7, productID: "p", jws: "jws-7")]
            button(screen, "Restore purchases")?.action?()
            let restored = "Your purchases have been restored."
            #expect(await eventually { screen.update().texts.contains(restored) })
            app.server.world.withLock { world in
                world.refusals["jws-7"] = .answers(409, APIError.Code(rawValue: "owned_elsewhere"))
            }
            store.entitled = [Transaction(_stub: 7, productID: "p", jws: "jws-7")]
            app.server.mood(.unreachable, on: .appStoreTransactions)
            store.entitled = [Transaction(_stub: 8, productID: "p", jws: "jws-8")]
            button(screen, "Restore purchases")?.action?()
            let failed = "Your purchases could not be restored."
            #expect(await eventually { screen.update().texts.contains(failed) })
        }

        // MARK: - How it looks

        @Test func anOfferingThatCannotBeLoadedOffersAnotherTry() async throws {
            let app = await app()
            app.server.mood(.unreachable)
            let screen = host(try view(app))
            defer { screen.close() }
            #expect(
                await eventually {
                    screen.update().texts == ["The offer could not be loaded.", "Try again"]
                }
            )
            app.server.mood(.well)
            button(screen, "Try again")?.action?()
            #expect(await eventually { screen.update().texts.first == "Another" })
        }

        @Test func anOfferingIsFoundByItsIdToo() async throws {
            let app = await app()
            let page = try #require(URL(string: "https://example.com"))
            func screen(_ id: String) -> _Host {
                host(
                    OfferingView(offering: id, billing: app.billing, terms: page, privacy: page)
                )
            }
            let known = screen("standard")
            defer { known.close() }
            #expect(await eventually { known.update().texts.first == "Go Pro" })
            let unknown = screen("gone")
            defer { unknown.close() }
            #expect(await eventually { unknown.update().texts.last == "Try again" })
            #expect(app.server.world.withLock { $0.shown.isEmpty })
        }

        @Test func inUIKitTheViewsAreControllersThatScroll() async throws {
            let app = await app()
            let page = try #require(URL(string: "https://example.com"))
            let offering = try #require(
                app.billing.makeOfferingViewController(
                    placement: "paywall",
                    terms: page,
                    privacy: page
                ) as? UIHostingController<ScrollView<OfferingView>>
            )
            let screen = host(offering.rootView)
            defer { screen.close() }
            #expect(screen.update().first("ScrollView") != nil)
            #expect(await eventually { screen.update().texts.first == "Another" })
            let purchases = try #require(
                app.billing.makePurchasesViewController()
                    as? UIHostingController<ScrollView<CustomerPurchasesView>>
            )
            let list = host(purchases.rootView)
            defer { list.close() }
            #expect(
                await eventually { list.update().texts == ["You have not bought anything yet."] }
            )
        }

        @Test func aThemeHasItsColoursAndFonts() async throws {
            let app = await app()
            let theme = OfferingTheme(
                titleFont: .headline,
                tint: .red,
                productBackground: .secondary,
                cornerRadius: 4
            )
            let screen = host(try view(app, theme: theme))
            defer { screen.close() }
            #expect(await eventually { screen.update().texts.first == "Another" })
            let plain = host(try view(app))
            defer { plain.close() }
            #expect(await eventually { plain.update().texts.first == "Another" })
            let colours = [screen, plain].map { host in
                host.update().all.first { $0.kind == "Text" && $0.text == Self.monthly }?.contrast
            }
            #expect(colours[0] != nil && colours[0] != colours[1])
        }

        @Test(arguments: Texts.languages)
        func inEveryLanguageAndBothModesAllWordsAreSeen(_ language: String) async throws {
            let app = await app()
            let screen = host(try view(app), language)
            defer { screen.close() }
            let restore = Texts(Locale(identifier: language))[.offeringRestore]
            #expect(await eventually { screen.update().texts.contains(restore) })
            for scheme in ColorScheme.allCases {
                let seen = host(
                    try view(app).environment(\.colorScheme, scheme),
                    language
                )
                defer { seen.close() }
                #expect(await eventually { seen.update().texts.contains(restore) })
                for word in seen.update().all where word.kind == "Text" {
                    #expect(try #require(word.contrast) >= (word.isInButton ? 3 : 4.5))
                }
            }
        }

        @Test func nothingHasAFixedSizeSoTheLargestTypeFits() async throws {
            let app = await app()
            let screen = host(try view(app))
            defer { screen.close() }
            #expect(await eventually { screen.update().texts.first == "Another" })
            let all = screen.update().all.flatMap(\.modifiers)
            #expect(!all.contains { $0.hasPrefix("frame(max") || $0.hasPrefix("lineLimit") })
            #expect(!all.contains("fixedSize(true,true)"))
        }

        // MARK: - What was bought

        @Test func purchasesAreListedWithTheirStateAndWhereTheyAreManaged() async throws {
            let app = await app()
            app.server.world.withLock { world in
                world.purchases["cus_ada"] = [
                    .init(
                        id: "app_store/sandbox/a/1",
                        store: "app_store",
                        product: "pro",
                        name: "Pro",
                        kind: "plan",
                        status: "payment_failed",
                        entitlements: ["pro"],
                        paymentProblem: true,
                        managementURL: "https://apps.apple.com/account/subscriptions"
                    ),
                    .init(
                        id: "stripe/sandbox/-/sub_1",
                        store: "stripe",
                        product: "archive",
                        name: "Archive",
                        kind: "plan",
                        status: "active",
                        entitlements: ["archive"]
                    ),
                    .init(
                        id: "stripe/sandbox/-/sub_0",
                        store: "stripe",
                        product: "old",
                        name: "Old",
                        kind: "plan",
                        status: "ended"
                    ),
                ]
            }
            let screen = host(CustomerPurchasesView(billing: app.billing))
            defer { screen.close() }
            #expect(screen.update().first("ProgressView") != nil)
            #expect(
                await eventually {
                    screen.update().texts == [
                        "Pro", "The last payment failed", "Check payment", "Archive",
                        "Yours for good", "Manage", "Old", "Ended",
                    ]
                }
            )
            button(screen, "Check payment")?.action?()
            button(screen, "Manage")?.action?()
            #expect(
                await eventually {
                    UIApplication.shared._openedURLs.map(\.absoluteString) == [
                        "https://apps.apple.com/account/subscriptions",
                        "https://portal.example/cus_ada",
                    ]
                }
            )
            app.server.world.withLock { $0.purchases = [:] }
            app.server.grant("gold", to: "cus_ada")
            _ = try await app.keys(forceRefresh: true)
            #expect(
                await eventually {
                    screen.update().texts == ["You have not bought anything yet."]
                }
            )
        }

        /// A purchase that is over, so that nothing was ever announced.
        private func ended(_ name: String) -> API.CustomerPurchase {
            .init(
                id: "stripe/sandbox/-/" + name,
                store: "stripe",
                product: name,
                name: name,
                kind: "plan",
                status: "ended"
            )
        }

        @Test func whatSomebodyBoughtIsGoneAsSoonAsTheyAreGone() async throws {
            let app = await app()
            app.server.world.withLock { world in
                world.purchases = ["cus_ada": [ended("Ada's")], "cus_bob": [ended("Bob's")]]
            }
            let screen = host(CustomerPurchasesView(billing: app.billing))
            defer { screen.close() }
            #expect(await eventually { screen.update().texts == ["Ada's", "Ended"] })
            app.signIn(nil)
            await app.billing.reset()
            #expect(await eventually { screen.update().texts == ["Sign in first.", "Try again"] })
            // Whoever signs in next sees their own, and nothing before.
            app.signIn("cus_bob")
            let gate = Gate()
            app.server.world.withLock {
                ($0.gate, $0.gatedPath) = (gate, APIPath.customerPurchases.path(id: "cus_bob"))
            }
            await app.billing.customerDidChange()
            #expect(await eventually { screen.update().first("ProgressView") != nil })
            #expect(screen.update().texts.isEmpty)
            gate.open()
            #expect(await eventually { screen.update().texts == ["Bob's", "Ended"] })
        }

        @Test func whoSignsInInPlaceOfAnotherNeverSeesTheirPurchases() async throws {
            let app = await app()
            app.server.world.withLock { world in
                world.purchases = ["cus_ada": [ended("Ada's")], "cus_bob": [ended("Bob's")]]
            }
            let screen = host(CustomerPurchasesView(billing: app.billing))
            defer { screen.close() }
            #expect(await eventually { screen.update().texts == ["Ada's", "Ended"] })
            // Without a reset, and with a backend that takes its time.
            let gate = Gate()
            app.backend.withLock { ($0.customer, $0.gate) = ("cus_bob", gate) }
            let change = Task { await app.billing.customerDidChange() }
            #expect(await eventually { screen.update().texts.isEmpty })
            gate.open()
            await change.value
            #expect(await eventually { screen.update().texts == ["Bob's", "Ended"] })
            // A session that is renewed for somebody else, without a word of the app's.
            app.backend.withLock { ($0.customer, $0.gate) = ("cus_ada", nil) }
            app.clock.advance(by: 1800)
            _ = try await app.keys(forceRefresh: true)
            #expect(await eventually { screen.update().texts == ["Ada's", "Ended"] })
        }

        @Test func whatArrivesForSomebodyWhoHasLeftIsNotShown() async throws {
            let app = await app()
            app.server.world.withLock { $0.purchases = ["cus_ada": [ended("Ada's")]] }
            let gate = Gate()
            app.server.world.withLock {
                ($0.gate, $0.gatedPath) = (gate, APIPath.customerPurchases.path(id: "cus_ada"))
            }
            let screen = host(CustomerPurchasesView(billing: app.billing))
            defer { screen.close() }
            await gate.arrivals(1)
            app.signIn(nil)
            await app.billing.reset()
            gate.open()
            #expect(await eventually { screen.update().texts == ["Sign in first.", "Try again"] })
        }

        @Test(arguments: ColorScheme.allCases)
        func whatWasBoughtIsSeenInLightModeAndInDarkAndHasNoFixedSize(
            _ scheme: ColorScheme
        ) async throws {
            let app = await app()
            app.server.grant("pro", to: "cus_ada", ground: .grace)
            app.server.world.withLock { $0.purchases = ["cus_ada": [ended("Ada's")]] }
            for direction in LayoutDirection.allCases {
                let screens = [
                    AnyView(CustomerPurchasesView(billing: app.billing)),
                    AnyView(PaymentProblemBanner(billing: app.billing)), AnyView(try view(app)),
                ].map {
                    host(
                        $0.environment(\.colorScheme, scheme)
                            .environment(\.layoutDirection, direction)
                    )
                }
                defer { screens.forEach { $0.close() } }
                for (screen, words) in zip(screens, [2, 3, 10]) {
                    #expect(await eventually { screen.update().texts.count == words })
                    for word in screen.update().all where word.kind == "Text" {
                        #expect(try #require(word.contrast) >= (word.isInButton ? 3 : 4.5))
                    }
                    let modifiers = screen.update().all.flatMap(\.modifiers)
                    #expect(
                        !modifiers.contains {
                            $0.hasPrefix("frame(max") || $0.hasPrefix("lineLimit")
                                || $0 == "fixedSize(true,true)"
                        }
                    )
                }
            }
        }

        @Test func purchasesThatCannotBeLoadedSaySoAndNobodyIsAskedToSignIn() async throws {
            let app = await app()
            app.server.mood(.unreachable)
            let screen = host(CustomerPurchasesView(billing: app.billing))
            defer { screen.close() }
            #expect(
                await eventually {
                    screen.update().texts == ["Your purchases could not be loaded.", "Try again"]
                }
            )
            app.server.mood(.well)
            app.signIn(nil)
            await app.billing.customerDidChange()
            #expect(await eventually { screen.update().texts == ["Sign in first.", "Try again"] })
        }
    }
}
