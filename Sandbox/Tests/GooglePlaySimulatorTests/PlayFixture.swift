import Foundation
import SandboxClock

@testable import GooglePlaySimulator

/// A store of values with a catalog, and a clock of its own: no sockets, no keys.
final class PlayFixture {
    static let start: Int64 = 1_772_323_200_000  // 2026-03-01
    static let day = Timestamp.day
    static let catalog = """
        {"subscriptions": [
          {"product_id": "premium", "title": "Premium", "base_plans": [
            {"base_plan_id": "monthly", "period": "P1M", "price_micros": 9990000,
             "grace_period": "P7D", "regions": {"KR": {"price_micros": 12000000000, "currency": "KRW"}},
             "offers": [{"offer_id": "trial", "phases": [
               {"duration": "P1W"},
               {"duration": "P1M", "count": 2, "price_micros": 4990000}]}]},
            {"base_plan_id": "yearly", "period": "P1Y", "price_micros": 99990000},
            {"base_plan_id": "strict", "period": "P1M", "price_micros": 8990000, "grace_period": "P0D"},
            {"base_plan_id": "prepaid", "kind": "prepaid", "period": "P1M", "price_micros": 9990000},
            {"base_plan_id": "short", "kind": "prepaid", "period": "P3D", "price_micros": 1990000},
            {"base_plan_id": "installments", "kind": "installments", "period": "P1M",
             "price_micros": 7990000, "committed_payments": 3}]},
          {"product_id": "basic", "base_plans": [
            {"base_plan_id": "monthly", "period": "P1M", "price_micros": 4990000}]},
          {"product_id": "sports", "base_plans": [
            {"base_plan_id": "monthly", "period": "P1M", "price_micros": 3000000}]}],
         "one_time_products": [
          {"product_id": "coins", "price_micros": 990000},
          {"product_id": "level", "price_micros": 1990000},
          {"product_id": "film", "purchase_options": [
            {"purchase_option_id": "rent", "price_micros": 3990000, "rental_period": "P2D"}]},
          {"product_id": "game", "purchase_options": [
            {"purchase_option_id": "buy", "price_micros": 59990000,
             "offers": [{"offer_id": "early", "price_micros": 49990000,
                         "release_time": 1773792000000}]}]}]}
        """

    var store: PlayStore
    var now = start
    /// All that was announced so far.
    var told: [Announcement] = []

    init() throws {
        store = PlayStore(packageName: "com.example.app", seed: 7)
        store.catalog = try ActBody.decode(Catalog.self, from: Data(Self.catalog.utf8))
    }

    @discardableResult
    func act(_ name: String, _ subject: String = "", _ body: String = "{}") throws -> JSON {
        guard let type = Acts.all.first(where: { $0.name == name })?.act else {
            throw Refusal.notFound(name)
        }
        let answer = try perform(type, subject, body)
        told += store.takeOutbox()
        return answer
    }

    private func perform(
        _ type: any Act.Type,
        _ subject: String,
        _ body: String
    ) throws -> JSON {
        func decode<Body: Act>(_ type: Body.Type) throws -> any Act {
            try ActBody.decode(type, from: Data(body.utf8))
        }
        return try decode(type).perform(on: &store, subject: subject, at: now)
    }

    /// Buys, and acknowledges at once unless told otherwise.
    func buy(_ body: String, acknowledged: Bool = true) throws -> String {
        let token = try act("buy", "", body)["purchase_token"]?.text ?? ""
        if acknowledged { try act("acknowledge", token) }
        return token
    }

    /// Lets time go by, due instant by due instant.
    func advance(days: Double) {
        let target = now + Int64(days * Double(Self.day))
        while let due = store.nextDue, due <= target {
            now = max(now, due)
            store.happen(at: now)
            told += store.takeOutbox()
        }
        now = target
    }

    /// What one call of the Developer API answers.
    @discardableResult
    func call(
        _ method: String,
        _ path: String,
        query: [(String, String)] = [],
        _ body: JSON? = nil
    ) throws -> JSON? {
        let parts = path.split(separator: "/").map(String.init)
        guard let (endpoint, parameters) = Endpoint.find(method, parts) else {
            throw APIError.notFound(path)
        }
        let call = Call(
            parameters: parameters,
            query: query.map { (name: $0.0, value: $0.1) },
            body: body,
            now: now
        )
        let answer = try endpoint.answer(call, &store)
        told += store.takeOutbox()
        return answer
    }

    /// A subscription as it is read now.
    func read(_ token: String) throws -> JSON {
        try call("GET", "purchases/subscriptionsv2/tokens/\(token)") ?? .null
    }

    func state(_ token: String) throws -> String {
        let state = try read(token)["subscriptionState"]?.text ?? ""
        return String(state.dropFirst("SUBSCRIPTION_STATE_".count))
    }

    func expiry(_ token: String, _ index: Int = 0) throws -> Int64 {
        let item = try read(token)["lineItems"]?.list?[index]
        return item?["expiryTime"]?.text.flatMap(Timestamp.parse) ?? 0
    }

    /// The types of the notifications about a token so far.
    func hints(_ token: String) -> [Int] {
        told.compactMap { announcement in
            if case .subscription(let type, token, _) = announcement.kind { type } else { nil }
        }
    }
}
