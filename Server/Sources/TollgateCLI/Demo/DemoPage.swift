import CommandOutput
import BillingSDK
import Foundation
import HTTPTypes
import Hummingbird
import Markup
import Mustache
import NIOCore
import TollgateAPI
import TollgateCore
import TollgateServer

/// `/demo`: the app on a page.
///
/// It works without JavaScript; each button is a form.
struct DemoPage: Sendable {
    private let app: DemoApp
    private let world: DemoWorld
    private let template: MustacheTemplate
    private let presses = Presses()

    init(app: DemoApp, world: DemoWorld) throws {
        self.app = app
        self.world = world
        template = try MustacheTemplate(page: PackageResources.demo_mustache)
    }

    func addRoutes(to router: Router<ServerRequestContext>) {
        router.get("/demo") { _, _ in try await show() }
        // A link that works again and again, unlike the one that it leads to.
        router.get("/demo/dashboard") { _, _ in
            Response(status: .seeOther, headers: [.location: try await world.dashboardLink()])
        }
        router.get("/") { _, _ in
            Response(status: .seeOther, headers: [.location: "/demo"])
        }
        router.post("/demo/:action") { request, context in
            guard isOurs(request) else {
                return Response(
                    status: .forbidden,
                    headers: [.contentType: "text/plain; charset=utf-8"],
                    body: .init(
                        byteBuffer: ByteBuffer(
                            string: "This form was not sent by the demo's page.\n"
                        )
                    )
                )
            }
            let action = try context.parameters.require("action")
            let value = request.uri.queryParameters["value"].map(String.init) ?? ""
            let page = request.uri.queryParameters["page"].map(String.init) ?? ""
            let press = page.isEmpty ? "" : "\(page) \(action) \(value)"
            let target = await presses.target(of: press) { await self.target(of: action, value) }
            return Response(status: .seeOther, headers: [.location: target])
        }
    }

    /// Another site's form must not press our buttons.
    private func isOurs(_ request: Request) -> Bool {
        guard let origin = request.headers[.origin] else { return true }
        return origin == world.serverURL || origin == "http://\(request.head.authority ?? "")"
    }

    /// Does what a button says; where that leads.
    private func target(of action: String, _ value: String) async -> String {
        do {
            return try await act(action, value) ?? "/demo"
        } catch {
            await app.say(PlainWords.of(error), isRefusal: true)
        }
        return "/demo"
    }

    /// Does what a button says.
    ///
    /// Returns where to go, if that is not back to the page.
    private func act(_ action: String, _ value: String) async throws -> String? {
        switch action {
        case "buy":
            try await app.buy(value)
            let name =
                world.catalog.products.first { $0.appStoreProductID == value }?.name ?? value
            await app.say("Bought in the App Store: \(name).")
        case "buy-in-google-play":
            guard let product = world.catalog.product(id: value) else { throw HTTPError(.notFound) }
            try await app.buyInGooglePlay(product)
            await app.say("Bought in Google Play: \(product.name).")
        case "cancel-in-google-play":
            try await app.cancelInGooglePlay()
            await app.say("The Google Play subscription will not renew. What was paid for stays.")
        case "refund-in-google-play":
            try await app.refundInGooglePlay()
            await app.say("Google gave the money for the latest purchase back.")
        case "checkout":
            return try await app.checkout(value).absoluteString
        case "portal":
            return try await app.portal()
        case "dashboard":
            return try await world.dashboardLink()
        case "cancel":
            try await app.cancel()
            await app.say("The App Store subscription will not renew. What was paid for stays.")
        case "refund":
            try await app.refund()
            await app.say("Apple gave the money for the latest purchase back.")
        case "spend":
            let left = try await app.spend(Self.spent)
            await app.say("10 coins were spent; \(left) are left.")
        case "wait":
            guard let duration = CalendarDuration(iso8601: value) else {
                throw HTTPError(.notFound)
            }
            await app.wait(duration)
            await app.say("Time passed, and the stores did what fell due.")
        case "newcomer":
            try await app.signIn("user-\(UUID().uuidString.prefix(6).lowercased())")
            await app.say("Somebody new is signed in.")
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
        // Buttons lead on to Checkout, which is Stripe's.
        headers[.contentSecurityPolicy] =
            "default-src 'none'; style-src 'self'; img-src 'self'; frame-ancestors 'none'; base-uri 'none'; "
            + "form-action 'self' \(world.stripeURL)"
        headers[.xContentTypeOptions] = "nosniff"
        return Response(
            status: .ok,
            headers: headers,
            body: .init(byteBuffer: ByteBuffer(string: template.render(content)))
        )
    }
}

// MARK: - What the page shows

extension DemoPage {
    private struct Content {
        /// Marks the buttons of this page, see `Presses`.
        var page: String
        var user: String
        var now: Moment
        var notice: String?
        var refusal: String?
        var steps: [Step]
        var refuses: DemoApp.Refusals
        var features: [Feature]
        var coins: Int64
        var lacksCoins: Bool
        var debt: Int64?
        var plans: [Offer]
        var others: [Offer]
        var androidPlans: [Offer]
        var androidOthers: [Offer]
        var buttons: [Offer]
        var reports: [Report]
        var earlier: Int?
    }

    /// A step of the story that the page tells.
    private struct Step {
        var text: String
        var isDone: Bool
        var isNext: Bool
    }

    private struct Feature {
        var name: String
        var lookupKey: String
        var isOn: Bool
        var why: String
        var facts: [String]
        var changes: [String]
        var hasEvidence: Bool
    }

    private struct Offer {
        var page: String
        var id: String
        var name: String
        var price: String
    }

    private struct Report {
        var store: String
        var name: String
        var meaning: String
        var when: Moment
    }

    /// An instant for people, and for machines.
    private struct Moment {
        var iso: String
        var text: String

        init(_ instant: Instant) {
            iso = instant.description
            text = "\(iso.dropLast(4).replacingOccurrences(of: "T", with: " ")) UTC"
        }

        init(_ milliseconds: Int64) {
            self.init(Instant(milliseconds: milliseconds))
        }

        /// A text that programs wrote, with its instants as people write them.
        static func readable(_ text: String) -> String {
            text.replacing(/(\d{4}-\d\d-\d\d)T(\d\d:\d\d):\d\d(?:\.\d+)?Z/) {
                "\($0.1) \($0.2) UTC"
            }
        }
    }

    private static let reportsShown = 8
    /// The coins of one press.
    private static let spent: Int64 = 10

    /// The story with what the stores' reports say is done, by a part of their names.
    private static let story = [
        ("SUBSCRIBED", "Subscribe to Pro, monthly on the iPhone. Pro features are unlocked."),
        ("DID_RENEW", "Press +1 month. The subscription renews, and access goes on."),
        ("AUTO_RENEW_DISABLED", "Cancel the subscription. What was paid for stays."),
        ("EXPIRED", "Press +1 month twice. Access has ended."),
        ("checkout.session.completed", "Buy 100 coins in the browser. The coins appear below."),
        ("ONE_TIME_PRODUCT_PURCHASED", "Buy 100 coins on Android. All coins are one balance."),
        ("REFUND", "Subscribe to Pro, yearly, then let Apple refund it. Its coins go back."),
    ]

    private func steps(after reports: [StoreReport]) -> [Step] {
        var hasNext = false
        return Self.story.map { sign, text in
            let isDone = reports.contains { $0.name.contains(sign) }
            defer { hasNext = hasNext || !isDone }
            return Step(text: text, isDone: isDone, isNext: !isDone && !hasNext)
        }
    }

    private func content() async throws -> Content {
        let screen = try await app.screen()
        let page = UUID().uuidString
        let reports = screen.reports.prefix(Self.reportsShown).map {
            Report(store: $0.store, name: $0.name, meaning: $0.meaning, when: Moment($0.instant))
        }
        let earlier = screen.reports.count - reports.count
        let isRefusal = screen.notice?.isRefusal ?? false
        return Content(
            page: page,
            user: screen.user,
            now: Moment(screen.now),
            notice: isRefusal ? nil : screen.notice?.text,
            refusal: isRefusal ? screen.notice?.text : nil,
            steps: steps(after: screen.reports),
            refuses: screen.refusals,
            features: try await features(of: screen),
            coins: screen.coins.spendable,
            lacksCoins: screen.coins.spendable < Self.spent,
            debt: screen.coins.debt > 0 ? screen.coins.debt : nil,
            plans: offers([.autoRenewable], page),
            others: offers([.nonConsumable, .nonRenewing, .consumable], page),
            androidPlans: androidOffers([.autoRenewable], page),
            androidOthers: androidOffers([.nonConsumable, .nonRenewing, .consumable], page),
            buttons: world.catalog.buyButtons.map { button in
                let product = world.catalog.product(id: button.product)
                return Offer(
                    page: page,
                    id: button.id,
                    name: button.callToAction ?? product?.name ?? button.id,
                    price: price(product?.price)
                )
            },
            reports: reports,
            earlier: earlier > 0 ? earlier : nil
        )
    }

    private func features(of screen: DemoApp.Screen) async throws -> [Feature] {
        let active = Set(screen.entitlements.map(\.lookupKey))
        var features: [Feature] = []
        for entitlement in world.catalog.entitlements {
            let explanation = try await app.explain(entitlement.lookupKey)
            let changes = explanation.wouldChange.map { Moment.readable($0.summary) }
            let access = screen.access[entitlement.lookupKey]
            // Beside a new purchase, that which ended could be revived.
            let hasEnded = access == nil && changes.count > 1
            features.append(
                Feature(
                    name: entitlement.name,
                    lookupKey: entitlement.lookupKey,
                    isOn: active.contains(entitlement.lookupKey),
                    why: access.map(why)
                        ?? (hasEnded ? changes[0] : offered(entitlement.lookupKey)),
                    facts: explanation.facts.suffix(6).map {
                        ($0.decides ? "decides · " : "")
                            + "\($0.kind): \(Moment.readable($0.summary))"
                    },
                    changes: hasEnded ? Array(changes.dropFirst()) : changes,
                    hasEvidence: !explanation.facts.isEmpty
                )
            )
        }
        return features
    }

    private func offered(_ lookupKey: String) -> String {
        let names = world.catalog.products
            .filter { $0.entitlements.contains(lookupKey) && $0.kind != .freeSubscription }
            .map { "“\($0.name)”" }
        guard let last = names.last, names.count > 1 else {
            return names.first.map { "\($0) would unlock it." } ?? ""
        }
        return "\(names.dropLast().joined(separator: ", ")) or \(last) would unlock it."
    }

    private func why(_ access: API.Entitlement) -> String {
        let reason =
            switch access.ground {
            case .payment: "Paid for"
            case .renewal: "Its renewal is due and the store's notice may be late; access goes on"
            case .status: "The store says that it is active"
            case .grace: "The renewal could not be charged; the store still grants access"
            case .family: "Shared by a family member"
            case .grant: "Given, not bought"
            default: "Active"
            }
        let store =
            switch access.purchase?.prefix(while: { $0 != "/" }) {
            case "app_store": " in the App Store"
            case "google_play": " in Google Play"
            case "stripe": " on the web"
            default: ""
            }
        let end = access.until.map { "until \(Moment($0).text)" } ?? "for ever"
        return access.ground == .payment ? "\(reason)\(store), \(end)." : "\(reason), \(end)."
    }

    private func offers(_ kinds: [TollgateCore.Catalog.Product.Kind], _ page: String) -> [Offer] {
        world.catalog.products.filter { kinds.contains($0.kind) }.compactMap { product in
            product.appStoreProductID.map {
                Offer(page: page, id: $0, name: product.name, price: price(product.price))
            }
        }
    }

    /// By our own ids: one product of Google Play's has several base plans.
    private func androidOffers(
        _ kinds: [TollgateCore.Catalog.Product.Kind],
        _ page: String
    ) -> [Offer] {
        world.catalog.products.filter { kinds.contains($0.kind) && $0.googlePlayProductID != nil }
            .map { Offer(page: page, id: $0.id, name: $0.name, price: price($0.price)) }
    }

    private func price(_ price: TollgateCore.Catalog.Product.Price?) -> String {
        guard let price else { return "" }
        let cents = price.amount % 100
        return
            "\(price.currency.uppercased()) \(price.amount / 100).\(cents < 10 ? "0" : "")\(cents)"
    }
}
