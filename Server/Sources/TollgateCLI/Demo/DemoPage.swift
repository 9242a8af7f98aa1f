import BillingSDK
import Foundation
import HTTPTypes
import Hummingbird
import Mustache
import NIOCore
import TollgateAPI
import TollgateCore
import TollgateServer

/// `/demo`: the app on a page. It works without JavaScript; each button is a form.
struct DemoPage: Sendable {
    private let app: DemoApp
    private let world: DemoWorld
    private let template: MustacheTemplate

    init(app: DemoApp, world: DemoWorld) throws {
        self.app = app
        self.world = world
        template = try MustacheTemplate(
            string: String(decoding: PackageResources.demo_mustache, as: UTF8.self))
    }

    func addRoutes(to router: Router<ServerRequestContext>) {
        router.get("/demo") { _, _ in try await show() }
        router.get("/") { _, _ in
            Response(status: .seeOther, headers: [.location: "/demo"])
        }
        router.post("/demo/:action") { request, context in
            guard isOurs(request) else {
                throw HTTPError(.forbidden, message: "This form was not sent by the demo's page.")
            }
            let action = try context.parameters.require("action")
            let value = request.uri.queryParameters["value"].map(String.init) ?? ""
            var target = "/demo"
            do {
                if let elsewhere = try await act(action, value) { target = elsewhere }
            } catch {
                await app.say("\(error)")
            }
            return Response(status: .seeOther, headers: [.location: target])
        }
    }

    /// Another site's form must not press our buttons.
    private func isOurs(_ request: Request) -> Bool {
        guard let origin = request.headers[.origin] else { return true }
        return origin == world.serverURL || origin == "http://\(request.head.authority ?? "")"
    }

    /// Does what a button says. Returns where to go, if that is not back to the page.
    private func act(_ action: String, _ value: String) async throws -> String? {
        switch action {
        case "buy":
            try await app.buy(value)
        case "checkout":
            return try await app.checkout(value).absoluteString
        case "portal":
            return try await app.portal()
        case "cancel":
            try await app.cancel()
        case "refund":
            try await app.refund()
        case "spend":
            _ = try await app.spend(10)
        case "wait":
            if let duration = CalendarDuration(iso8601: value) { await app.wait(duration) }
        case "newcomer":
            try await app.signIn("user-\(UUID().uuidString.prefix(6).lowercased())")
        default:
            throw HTTPError(.notFound)
        }
        return nil
    }

    private func show() async throws -> Response {
        let content = try await content()
        var headers: HTTPFields = [
            .contentType: "text/html; charset=utf-8", .cacheControl: "no-store",
        ]
        headers[.contentSecurityPolicy] =
            "default-src 'none'; style-src 'self'; frame-ancestors 'none'; base-uri 'none'"
        return Response(
            status: .ok, headers: headers,
            body: .init(byteBuffer: ByteBuffer(string: template.render(content))))
    }

    private struct Content {
        struct Feature {
            var name: String
            var lookupKey: String
            var isOn: Bool
            var why: String
            var facts: [String]
        }

        struct Offer {
            var id: String
            var name: String
            var price: String
        }

        var user: String
        var now: String
        var notice: String?
        var features: [Feature]
        var coins: Int64
        var debt: Int64
        var plans: [Offer]
        var others: [Offer]
        var buttons: [Offer]
    }

    private func content() async throws -> Content {
        let screen = try await app.screen()
        let active = Set(screen.entitlements.map(\.lookupKey))
        var features: [Content.Feature] = []
        for entitlement in world.catalog.entitlements {
            let explanation = try await app.explain(entitlement.lookupKey)
            features.append(
                Content.Feature(
                    name: entitlement.name, lookupKey: entitlement.lookupKey,
                    isOn: active.contains(entitlement.lookupKey),
                    why: explanation.wouldChange.first?.summary ?? "",
                    facts: explanation.facts.suffix(4).map {
                        ($0.decides ? "→ " : "") + "\($0.kind): \($0.summary)"
                    }))
        }
        func offers(_ kinds: [TollgateCore.Catalog.Product.Kind]) -> [Content.Offer] {
            world.catalog.products.filter { kinds.contains($0.kind) }.compactMap { product in
                product.appStoreProductID.map {
                    Content.Offer(id: $0, name: product.name, price: price(product.price))
                }
            }
        }
        return Content(
            user: screen.user, now: screen.now.description, notice: screen.notice,
            features: features, coins: screen.coins.spendable, debt: screen.coins.debt,
            plans: offers([.autoRenewable]),
            others: offers([.nonConsumable, .nonRenewing, .consumable]),
            buttons: world.catalog.buyButtons.map { button in
                let product = world.catalog.product(id: button.product)
                return Content.Offer(
                    id: button.id, name: button.callToAction ?? product?.name ?? button.id,
                    price: price(product?.price))
            })
    }

    private func price(_ price: TollgateCore.Catalog.Product.Price?) -> String {
        guard let price else { return "" }
        let cents = price.amount % 100
        return "\(price.currency.uppercased()) \(price.amount / 100).\(cents < 10 ? "0" : "")\(cents)"
    }
}
