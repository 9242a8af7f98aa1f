import Foundation
import GooglePlayAPI
import GooglePlaySimulator
import SandboxClock
import TollgateCore

/// Keys and tokens that all simulated Google Plays of stories share: making keys takes longer than a
/// story.
enum GooglePlayAccess {
    /// The access token with which the server of every story reads.
    static let token = "ya29.scenario"
    static let tokenURL = "https://google-play.test/token"
    /// The audience of the tokens of pushes: their endpoint.
    static let audience = "https://server.test/webhooks/google_play"
    static let keys = Result { try SimulatedGooglePlay.makeKeys() }

    /// The access token as the client of a server keeps it.
    static func tokens() async throws -> GooglePlay.AccessTokens {
        try await shared.value
    }

    /// The service account that reads, and that pushes are about.
    static func account() async throws -> GooglePlay.ServiceAccount {
        try await sharedAccount.value
    }

    private static let sharedAccount = Task {
        let file = try SimulatedGooglePlay.serviceAccountFile(
            ofKeys: keys.get(),
            tokenURL: tokenURL
        )
        return try await GooglePlay.ServiceAccount(json: Array(file))
    }

    private static let shared = Task {
        GooglePlay.AccessTokens(
            account: try await account(),
            scopes: [GooglePlay.publisherScope],
            transport: { _ in
                let body = #"{"access_token":"\#(token)","expires_in":86400}"#
                return GooglePlay.HTTPResponse(status: 200, body: Array(body.utf8))
            },
            now: { Int64(Date().timeIntervalSince1970) }
        )
    }
}

extension ScenarioWorld {
    /// Opens the Google Play of a story, with the catalog's products.
    static func googlePlay(
        _ loaded: LoadedScenario,
        _ variant: Variant,
        _ package: String,
        _ clock: VirtualClock,
        _ seed: UInt64,
        _ hint: @escaping SimulatedGooglePlay.Deliver
    ) async throws -> SimulatedGooglePlay {
        let settings = loaded.scenario.googlePlay
        var configuration = SimulatedGooglePlay.Configuration(
            packageName: package,
            catalog: try GooglePlayShelf(loaded.catalog, settings).bytes,
            seed: settings.seed ?? seed
        )
        configuration.keys = try GooglePlayAccess.keys.get()
        let play = try SimulatedGooglePlay(
            configuration: configuration,
            clock: clock,
            deliver: hint
        )
        await play.admit(accessToken: GooglePlayAccess.token)
        await clock.join(play)
        if !variant.googlePlay.isEmpty {
            try await play.control("PUT", "behaviour", variant.googlePlay)
        }
        return play
    }
}

extension SimulatedGooglePlay {
    /// Calls the control API.
    ///
    /// - Parameter values: the body.
    /// - Returns: the answer's JSON.
    /// - Throws: `GooglePlayRefused` where it is refused.
    @discardableResult
    nonisolated func control(
        _ method: String,
        _ path: String,
        _ values: [String: GooglePlayAct.Value] = [:]
    ) async throws -> [String: Any] {
        let reply = await reply(to: method, "/sandbox/\(path)", body: try Self.body(values))
        return try Self.object(reply)
    }

    /// Calls the Developer API as the team's own tools do.
    @discardableResult
    nonisolated func call(
        _ method: String,
        _ target: String,
        _ body: [String: Any] = [:]
    ) async throws -> [String: Any] {
        let reply = await reply(
            to: method,
            target,
            authorization: "Bearer \(GooglePlayAccess.token)",
            body: method == "GET" ? Data() : try JSONSerialization.data(withJSONObject: body)
        )
        return try Self.object(reply)
    }

    private static func body(_ values: [String: GooglePlayAct.Value]) throws -> Data {
        let object = values.mapValues { value -> Any in
            switch value {
            case .text(let text): text
            case .texts(let texts): texts
            case .number(let number): number
            case .share(let share): share
            case .truth(let truth): truth
            }
        }
        return try JSONSerialization.data(withJSONObject: object)
    }

    private static func object(_ reply: Reply) throws -> [String: Any] {
        let object =
            (try? JSONSerialization.jsonObject(with: reply.body)) as? [String: Any] ?? [:]
        guard (200...299).contains(reply.status) else {
            let error = object["error"] as? [String: Any]
            throw GooglePlayRefused(
                status: reply.status,
                message: error?["message"] as? String ?? "no reason"
            )
        }
        return object
    }
}

/// A refusal of the simulated Google Play.
struct GooglePlayRefused: Error, CustomStringConvertible {
    var status: Int
    var message: String

    var description: String { "Google Play answers \(status): \(message)" }
}

/// The products of a catalog that Google Play sells, as its control API takes them.
struct GooglePlayShelf {
    private let catalog: Catalog
    private let settings: Scenario.GooglePlaySettings

    init(_ catalog: Catalog, _ settings: Scenario.GooglePlaySettings) {
        (self.catalog, self.settings) = (catalog, settings)
    }

    var bytes: Data {
        get throws {
            let sold = catalog.products.filter { $0.googlePlayProductID != nil }
            let plans = sold.filter { $0.kind == .autoRenewable }
            var subscriptions: [[String: Any]] = []
            for id in Set(plans.compactMap(\.googlePlayProductID)).sorted() {
                let own = plans.filter { $0.googlePlayProductID == id }
                subscriptions.append([
                    "product_id": id, "base_plans": own.flatMap { self.plans(of: $0) },
                ])
            }
            let others = sold.filter { $0.kind != .autoRenewable }
            var products: [[String: Any]] = []
            for (place, product) in others.enumerated() {
                let id = product.googlePlayProductID
                guard others.firstIndex(where: { $0.googlePlayProductID == id }) == place else {
                    continue
                }
                let options = others.filter { $0.googlePlayProductID == id }.map(option)
                products.append(["product_id": id ?? "", "purchase_options": options])
            }
            return try JSONSerialization.data(
                withJSONObject: ["subscriptions": subscriptions, "one_time_products": products]
            )
        }
    }

    private func plans(of product: Catalog.Product) -> [[String: Any]] {
        let plan = settings.plans[product.id]
        return (product.googlePlayBasePlans ?? ["base"]).map { id in
            var wire: [String: Any] = [
                "base_plan_id": id, "period": product.duration?.iso8601 ?? "P1M",
                "price_micros": micros(product), "currency": currency(product),
            ]
            wire["kind"] = plan?.kind
            wire["grace_period"] = plan?.gracePeriod
            wire["account_hold"] = plan?.accountHold
            wire["committed_payments"] = plan?.committedPayments
            let offers = settings.offers.filter { $0.product == product.id }
            if !offers.isEmpty { wire["offers"] = offers.map(Self.wire) }
            return wire
        }
    }

    private static func wire(_ offer: Scenario.GooglePlaySettings.Offer) -> [String: Any] {
        let phases = offer.phases.map { phase in
            var wire: [String: Any] = ["duration": phase.duration, "count": phase.count]
            wire["price_micros"] = phase.priceMicros
            return wire
        }
        return ["offer_id": offer.id, "phases": phases]
    }

    private func option(_ product: Catalog.Product) -> [String: Any] {
        let plan = settings.plans[product.id]
        let option = product.googlePlayBasePlans?.first ?? "buy"
        var wire: [String: Any] = [
            "purchase_option_id": option, "price_micros": micros(product),
            "currency": currency(product), "is_multi_quantity": true,
        ]
        wire["rental_period"] = plan?.rentalPeriod
        if let release = plan?.release {
            wire["offers"] = [["offer_id": "preorder", "release_time": release] as [String: Any]]
        }
        return wire
    }

    private func micros(_ product: Catalog.Product) -> Int64 {
        (product.price?.amount ?? 0) * 10_000
    }

    private func currency(_ product: Catalog.Product) -> String {
        product.price?.currency.uppercased() ?? "USD"
    }
}
