import Foundation
import StoreKit
import SwiftUI
import TollgateAPI

@testable import BillingSDK

/// The SDK's views with something to show, drawn by the stand-ins.
@MainActor struct ViewPictures {
    let folder: URL

    private struct NeverThere: Error { let view: String }

    /// How a view is looked at.
    private struct Look {
        let name: String
        var scheme = ColorScheme.light
        var size = DynamicTypeSize.large
        var locale = "en_US"
        var direction = LayoutDirection.leftToRight

        static let all = [
            Look(name: "light"), Look(name: "dark", scheme: .dark),
            Look(name: "light-largest", size: .accessibility5),
            Look(name: "dark-largest", scheme: .dark, size: .accessibility5),
            Look(name: "german-largest", size: .accessibility5, locale: "de_DE"),
            Look(name: "right-to-left", direction: .rightToLeft),
        ]

        var environment: _Env {
            var environment = _Env()
            environment.values.colorScheme = scheme
            environment.values.dynamicTypeSize = size
            environment.values.locale = Locale(identifier: locale)
            environment.values.layoutDirection = direction
            return environment
        }
    }

    func write() async throws {
        sell()
        for (name, view) in try views() {
            for look in Look.all {
                let screen = try await settled(view, look.environment, name)
                let file = folder.appendingPathComponent("\(name)-\(look.name).html")
                try Data(look.environment._page(of: screen, title: name).utf8).write(to: file)
            }
        }
    }

    /// The view once it has loaded, or has said why not.
    private func settled(_ view: AnyView, _ environment: _Env, _ name: String) async throws -> _Node
    {
        let host = _Host(view, environment)
        defer { host.close() }
        let deadline = ContinuousClock.now + .seconds(20)
        while ContinuousClock.now < deadline {
            let screen = host.update()
            if screen.first("ProgressView") == nil, !screen.texts.isEmpty { return screen }
            await Task.yield()
        }
        throw NeverThere(view: name)
    }

    // MARK: - What there is to show

    private func sell() {
        let week = Product.SubscriptionOffer(
            _stub: nil,
            .introductory,
            period: .init(_stub: .week, 1)
        )
        var monthly = Product(
            _stub: "com.example.app.pro.monthly",
            name: "Pro, monthly",
            price: 1500
        )
        monthly.subscription = .init(_stub: [], introductoryOffer: week)
        _FakeAppStore.shared.products = [
            monthly.id: monthly,
            "com.example.app.coins100": Product(
                _stub: "com.example.app.coins100",
                name: "100 coins",
                price: 160
            ),
        ]
    }

    private func app(_ mood: FakeServer.Mood = .well) -> TestApp {
        let app = TestApp()
        app.server.mood(mood)
        app.server.grant("premium", to: "cus_ada", ground: .grace)
        app.server.world.withLock { world in
            world.offerings = [.sample()]
            world.placements = ["paywall": ["nobody": "standard", "cus_ada": "standard"]]
            world.purchases = ["cus_ada": Self.purchases]
        }
        return app
    }

    private static let purchases: [API.CustomerPurchase] = [
        .init(
            id: "app_store/sandbox/a/1",
            store: "app_store",
            product: "pro",
            name: "Pro, monthly",
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
            name: "Newsletter",
            kind: "plan",
            status: "ended"
        ),
    ]

    private func views() throws -> [(String, AnyView)] {
        guard let page = URL(string: "https://example.com") else { return [] }
        let (well, away, nobody) = (app(), app(.unreachable), app())
        nobody.signIn(nil)
        let button = { (billing: BillingSDK) in
            LoadedBuyButton(id: "buy_btn_monthly", billing: billing)
        }
        return [
            ("buy-button", AnyView(button(well.billing))),
            ("buy-button-failed", AnyView(button(away.billing))),
            (
                "gate-locked",
                AnyView(
                    Text("Gold").entitled(to: "gold", by: well.billing) { button(well.billing) }
                )
            ),
            ("gate-unknown", AnyView(Text("Gold").entitled(to: "gold", by: away.billing))),
            ("banner", AnyView(PaymentProblemBanner(billing: well.billing))),
            (
                "offering",
                AnyView(
                    OfferingView(
                        placement: "paywall",
                        billing: well.billing,
                        terms: page,
                        privacy: page
                    )
                )
            ),
            ("purchases", AnyView(CustomerPurchasesView(billing: well.billing))),
            ("portal-signed-out", AnyView(PortalSheet(billing: nobody.billing) {})),
            ("diagnostics", AnyView(BillingDiagnosticsView(billing: well.billing))),
        ]
    }
}
