import AppStoreSimulator
import Foundation
import SandboxClock

/// A simulated App Store with its clock and an inbox for what it tells the app's server.
struct TestStore {
    static let start: Int64 = 1_767_225_600_000  // 2026-01-01T00:00Z
    static let day: Int64 = 86_400_000

    let clock: VirtualClock
    let store: SimulatedAppStore
    let inbox: Inbox

    /// What was posted, newest last; each answer is taken from `results` while there are any.
    actor Inbox {
        private(set) var payloads: [String] = []
        var results: [SimulatedAppStore.SendAttemptResult] = []

        func answer(_ results: [SimulatedAppStore.SendAttemptResult]) {
            self.results = results
        }

        func take(
            _ message: SimulatedAppStore.Message
        ) -> SimulatedAppStore.SendAttemptResult {
            switch message {
            case .signedPayload(let payload): payloads.append(payload)
            case .versionOne(let body): payloads.append(body)
            }
            return results.isEmpty ? .success : results.removeFirst()
        }
    }

    static func product(
        _ id: String,
        _ kind: SimulatedAppStore.Product.Kind = .autoRenewable,
        price: Int64 = 9_990,
        period: String = "P1M",
        level: Int = 2,
        shared: Bool = false,
        introductory: SimulatedAppStore.Offer? = nil
    ) -> SimulatedAppStore.Product {
        let isPlan = kind == .autoRenewable
        return .init(
            id: id,
            kind: kind,
            price: price,
            period: isPlan ? .init(period) : nil,
            subscriptionGroup: isPlan ? "21000001" : nil,
            level: isPlan ? level : nil,
            isFamilyShareable: shared,
            introductoryOffer: introductory
        )
    }

    init(
        environment: SimulatedAppStore.Environment = .production,
        renewals: SimulatedAppStore.Renewals? = nil,
        graceDays: Int? = 16,
        products: [SimulatedAppStore.Product] = [],
        start: Int64 = start,
        behaviour: SimulatedAppStore.Behaviour = .init(),
        statePath: String? = nil,
        enforcesRateLimits: Bool = false,
        renewalLead: Int64 = 0
    ) async throws {
        let inbox = Inbox()
        self.inbox = inbox
        clock = VirtualClock(now: start)
        store = try SimulatedAppStore(
            configuration: .init(
                environment: environment,
                products: products + [
                    Self.product("monthly"), Self.product("gold", price: 19_990, level: 1),
                    Self.product("yearly", price: 99_990, period: "P1Y", level: 3),
                    Self.product("coins", .consumable, price: 990),
                    Self.product("unlock", .nonConsumable, price: 4_990),
                    Self.product("season", .nonRenewing, price: 14_990),
                ],
                notificationURL: "in-process",
                renewals: renewals,
                graceDays: graceDays,
                renewalLead: renewalLead,
                behaviour: behaviour,
                statePath: statePath,
                enforcesRateLimits: enforcesRateLimits
            ),
            clock: clock,
            deliver: { message, _ in await inbox.take(message) }
        )
        await clock.join(store)
    }

    /// Advances by days and some milliseconds.
    func pass(days: Int64, milliseconds: Int64 = 0) async {
        await clock.advance(to: await clock.now + days * Self.day + milliseconds)
    }

    /// The notifications so far, as `TYPE` or `TYPE/SUBTYPE`.
    func told() async -> [String] {
        await store.notifications().map { notification in
            notification.subtype.map { "\(notification.type)/\($0)" } ?? notification.type
        }
    }

    /// The last notification's payload.
    func lastPayload() async throws -> JWSPayload {
        try JWSPayload(await inbox.payloads.last ?? "")
    }
}

/// The body of a compact JWS, read without checking it.
struct JWSPayload {
    let fields: [String: Any]

    struct NotReadable: Error {}

    init(_ jws: String) throws {
        let parts = jws.split(separator: ".")
        guard parts.count == 3 else { throw NotReadable() }
        var text = parts[1].replacingOccurrences(of: "-", with: "+")
            .replacingOccurrences(of: "_", with: "/")
        text += String(repeating: "=", count: (4 - text.count % 4) % 4)
        guard let bytes = Data(base64Encoded: text),
            let fields = try JSONSerialization.jsonObject(with: bytes) as? [String: Any]
        else { throw NotReadable() }
        self.fields = fields
    }

    func string(_ name: String) -> String? { fields[name] as? String }
    func int(_ name: String) -> Int64? { (fields[name] as? NSNumber)?.int64Value }

    var data: [String: Any] { fields["data"] as? [String: Any] ?? [:] }
    var status: Int? { (data["status"] as? NSNumber)?.intValue }

    func transaction() throws -> JWSPayload {
        try JWSPayload(data["signedTransactionInfo"] as? String ?? "")
    }

    func renewalInfo() throws -> JWSPayload {
        try JWSPayload(data["signedRenewalInfo"] as? String ?? "")
    }
}
