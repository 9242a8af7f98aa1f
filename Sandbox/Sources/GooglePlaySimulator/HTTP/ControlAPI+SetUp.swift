import Foundation
import SandboxClock

extension ControlAPI {
    private struct Advance: Decodable {
        var by: Int64?
        var to: Int64?
    }

    private struct Nothing: Decodable {}

    private struct Queue: Decodable {
        var name: String?
        var pushEndpoint: String?
        var audience: String?
        var serviceAccountEmail: String?
        var noWrapper: Bool?
        var ackDeadlineSeconds: Int64?
        var minimumBackoffSeconds: Int64?
        var maximumBackoffSeconds: Int64?
        var maxDeliveryAttempts: Int?
        var retentionSeconds: Int64?
        var expiresAfterDays: Int64?

        var settings: PubSubQueue.Settings {
            .init(
                pushEndpoint: pushEndpoint,
                audience: audience,
                serviceAccountEmail: serviceAccountEmail,
                noWrapper: noWrapper,
                ackDeadlineSeconds: ackDeadlineSeconds,
                minimumBackoffSeconds: minimumBackoffSeconds,
                maximumBackoffSeconds: maximumBackoffSeconds,
                maxDeliveryAttempts: maxDeliveryAttempts,
                retentionSeconds: retentionSeconds,
                expiresAfterDays: expiresAfterDays
            )
        }
    }

    private struct IdentityToken: Decodable {
        var audience: String
        var email: String?
        var issuer: String?
        /// Seconds since it was issued.
        var age: Int64?
    }

    private struct Permissions: Decodable {
        var permissions: [ServiceAccount.Permission]
    }

    /// Handles the routes that change settings; returns `nil` for other addresses.
    func setUp(_ exchange: Exchange, _ path: String) async throws -> JSON? {
        switch (exchange.method, path) {
        case ("POST", "clock/advance"): return try await advance(exchange.body)
        case ("PUT", "catalog"):
            let catalog = try ActBody.decode(Catalog.self, from: exchange.body)
            try catalog.check()
            return try Self.wire(
                try await play.setUp { setUp in
                    setUp.store.catalog.merge(catalog)
                    return setUp.store.catalog
                }
            )
        case ("PUT", "behaviour"):
            let json = exchange.body.isEmpty ? [:] : JSON(bytes: exchange.body)
            guard let json else { throw Refusal.invalid("The body is not a JSON object.") }
            let behaviour = try ActBody.overlay(json, on: Behaviour())
            try await play.setUp { $0.store.behaviour = behaviour }
            return try Self.wire(behaviour)
        case ("PUT", "faults"):
            let faults = try ActBody.decode(Faults.self, from: exchange.body)
            try await play.setUp { $0.faults = faults }
            return try Self.wire(faults)
        case ("PUT", "permissions"):
            let body = try ActBody.decode(Permissions.self, from: exchange.body)
            try await play.setUp { $0.account.permissions = body.permissions }
            return [:]
        case ("PUT", "subscriptions"): return try await subscribe(exchange.body)
        case ("POST", "keys/rotate"):
            _ = try ActBody.decode(Nothing.self, from: exchange.body)
            try await play.setUp { try $0.keys.rotate(using: &$0.store.random) }
            return [:]
        case ("POST", "access_tokens/forget"):
            _ = try ActBody.decode(Nothing.self, from: exchange.body)
            try await play.setUp { $0.tokens.forgetAll() }
            return [:]
        case ("POST", "identity_tokens"): return try await identityToken(exchange.body)
        case ("PUT", "reports"):
            let rules = try ActBody.decode(Bucket.Rules.self, from: exchange.body)
            try await play.setUp { $0.bucket.rules = rules }
            return try Self.wire(rules)
        default: return nil
        }
    }

    private func advance(_ body: Data) async throws -> JSON {
        let body = try ActBody.decode(Advance.self, from: body)
        let now = await play.clock.now
        let limit = 100 * 366 * Timestamp.day
        guard let target = body.to ?? body.by.map({ now + min($0, limit) }), target >= now,
            target - now <= limit
        else {
            throw Refusal.invalid(
                "Give to (milliseconds, not in the past) or by (milliseconds, not negative); a hundred years at most."
            )
        }
        await play.clock.advance(to: target)
        // Where time stands is kept, also when nothing happened.
        try await play.setUp { _ in }
        return ["now": .integer(await play.clock.now)]
    }

    private func subscribe(_ body: Data) async throws -> JSON {
        let queue = try ActBody.decode(Queue.self, from: body)
        guard (10...600).contains(queue.ackDeadlineSeconds ?? 10),
            queue.maxDeliveryAttempts.map({ $0 == 0 || (5...100).contains($0) }) ?? true,
            (0...600).contains(queue.minimumBackoffSeconds ?? 10),
            (0...600).contains(queue.maximumBackoffSeconds ?? 600),
            (600...31 * 86_400).contains(queue.retentionSeconds ?? 86_400),
            (1...36_500).contains(queue.expiresAfterDays ?? 31)
        else {
            throw Refusal.invalid(
                "ack_deadline_seconds is 10 to 600, max_delivery_attempts 5 to 100 or 0, a backoff "
                    + "0 to 600, retention_seconds 600 to 2678400, expires_after_days 1 or more."
            )
        }
        let email = await play.account.email
        return try await play.setUp { setUp in
            var settings = queue.settings
            settings.serviceAccountEmail = settings.serviceAccountEmail ?? email
            if settings.serviceAccountEmail == "" { settings.serviceAccountEmail = nil }
            let name = queue.name ?? SimulatedGooglePlay.subscription
            setUp.pubSub.subscribe(name, settings, at: setUp.now)
            return ["name": .string(name)]
        }
    }

    private func identityToken(_ body: Data) async throws -> JSON {
        let body = try ActBody.decode(IdentityToken.self, from: body)
        guard (-1_000_000_000...1_000_000_000).contains(body.age ?? 0) else {
            throw Refusal.invalid("age is in seconds.")
        }
        let account = await play.account.email
        let token = try await play.identityToken(
            email: body.email ?? account,
            audience: body.audience,
            issuer: body.issuer,
            age: body.age ?? 0
        )
        return ["id_token": .string(token)]
    }
}
