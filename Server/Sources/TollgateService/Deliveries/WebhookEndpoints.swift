internal import Foundation
internal import Storage
internal import Stores
public import TollgateAPI
internal import TollgateCore

/// The addresses of the app's backend that are told what changes.
public struct WebhookEndpoints: Sendable {
    let records: RecordStore
    let log: DeliveryLog
    let clocks: Clocks
    let random: RandomSource
    let sealing: SealingKeys
    /// Whether this machine and its neighbours may be addressed: for a sandbox.
    let allowsPrivate: Bool

    /// How many endpoints there may be.
    private static let most = 16

    /// Adds an endpoint that is told what changes.
    ///
    /// - Throws: refusals 422 `url_forbidden`, 400 `parameter_invalid`, `parameter_missing`, 409
    ///   `conflict`.
    public func add(_ request: API.WebhookEndpointRequest) async throws -> API.WebhookEndpoint {
        guard let url = request.url else {
            throw Refusal.missingParameter("url")
        }
        let settings = WebhookSettings(
            url: try checked(url),
            description: try Self.checked(description: request.description),
            enabledEvents: try Self.checked(request.enabledEvents) ?? ["*"]
        )
        guard try await records.webhooks.endpoints().count < Self.most else {
            throw Refusal.conflict(
                .conflict,
                "There are \(Self.most) endpoints already; delete one first."
            )
        }
        let secrets = WebhookSecrets(key: random.bytes(32))
        var row = WebhookEndpointRow(
            id: random.id("we_"),
            settings: try settings.bytes,
            secrets: try sealed(secrets),
            position: try await position(request.startingAfter),
            created: clocks.wall()
        )
        if request.enabled == false { row.disabled = Self.byRequest }
        try await records.webhooks.add(row)
        var endpoint = try API.WebhookEndpoint(row)
        endpoint.secret = secrets.newest
        return endpoint
    }

    /// Changes what is given.
    ///
    /// What waits for the endpoint stays.
    public func change(
        _ id: String,
        _ request: API.WebhookEndpointRequest
    ) async throws -> API.WebhookEndpoint {
        try await again {
            let row = try await log.row(id)
            var settings = try WebhookSettings(row)
            if let url = request.url { settings.url = try checked(url) }
            if let description = request.description {
                settings.description = try Self.checked(description: description)
            }
            if let events = try Self.checked(request.enabledEvents) {
                settings.enabledEvents = events
            }
            let isChanged = try await records.webhooks.change(
                id,
                settings: try settings.bytes,
                from: row.settings,
                disabled: request.enabled.map { $0 ? nil : row.disabled ?? Self.byRequest },
                isRestarted: request.enabled == true || request.url != nil
            )
            return isChanged ? try API.WebhookEndpoint(try await log.row(id)) : nil
        }
    }

    /// Reads and changes anew while somebody else is faster.
    private func again<Result>(_ change: () async throws -> Result?) async throws -> Result {
        for _ in 0..<20 {
            if let result = try await change() { return result }
        }
        throw StorageError(.contention, "others keep changing this webhook endpoint")
    }

    /// Removes an endpoint and what waits for it.
    public func remove(_ id: String) async throws -> API.DeletedWebhookEndpoint {
        guard try await records.webhooks.remove(id) else {
            throw Refusal.missing("webhook endpoint", id)
        }
        return API.DeletedWebhookEndpoint(id: id)
    }

    /// Signs with a new secret, and for a while with the old one too.
    public func rotateSecret(
        _ id: String,
        _ request: API.WebhookSecretRotation
    ) async throws -> API.WebhookEndpoint {
        let overlap = request.overlap ?? 86_400
        guard (0...604_800).contains(overlap) else {
            throw Refusal.invalid("overlap", "overlap is between 0 and 604800 seconds.")
        }
        return try await again {
            let row = try await log.row(id)
            var secrets = try opened(row)
            secrets.rotate(
                to: random.bytes(32),
                now: clocks.wall().milliseconds,
                overlap: overlap * 1_000
            )
            guard
                try await records.webhooks.change(
                    id,
                    secrets: try sealed(secrets),
                    from: row.secrets
                )
            else { return nil }
            var endpoint = try API.WebhookEndpoint(row)
            endpoint.secret = secrets.newest
            return endpoint
        }
    }

    /// Sends again what an endpoint was sent before, or what was given up.
    public func replay(
        _ id: String,
        _ request: API.WebhookReplayRequest
    ) async throws -> API.WebhookReplay {
        let row = try await log.row(id)
        switch (request.event, request.startingAfter, request.dead) {
        case (let event?, nil, nil):
            let number = Events.number(ofEvent: event)
            guard let number, let message = try await records.feed.messages(at: [number]).first
            else {
                throw Refusal.missing("event", event, param: "event")
            }
            try await records.webhooks.replay(message, to: row.id, now: clocks.wall())
            return API.WebhookReplay(events: 1)
        case (nil, let after?, nil):
            let position = try await position(after)
            try await records.webhooks.rewind(row.id, to: position)
            let newest = try await records.feed.newestMessage()
            return API.WebhookReplay(events: max(0, newest - position))
        case (nil, nil, true?):
            let count = try await records.webhooks.replayDeadDeliveries(
                of: row.id,
                now: clocks.wall()
            )
            return API.WebhookReplay(events: Int64(count))
        default:
            throw Refusal.invalid("event", "Give one of event, starting_after and dead: true.")
        }
    }

    /// Seals again, with the key of today, what a former one sealed.
    ///
    /// - Throws: `SealingError` where no key opens it: the server must not begin.
    public func reseal() async throws {
        for row in try await records.webhooks.endpoints() {
            guard try !sealing.open(row.secrets, as: "webhook").isCurrent else { continue }
            // Who has changed them meanwhile has sealed them with the key of today.
            let resealed = try sealed(try opened(row))
            _ = try await records.webhooks.change(row.id, secrets: resealed, from: row.secrets)
        }
    }
}

// MARK: - What these have in common

extension WebhookEndpoints {
    /// The reason that is kept where the owner of an endpoint has disabled it.
    static let byRequest = "disabled by request"

    private func checked(_ url: String) throws -> String {
        try WebhookAddress(url, allowsPrivate: allowsPrivate).url
    }

    private static func checked(description: String?) throws -> String? {
        guard let description else { return nil }
        guard description.utf8.count <= 500 else {
            throw Refusal.invalid("description", "description is at most 500 bytes.")
        }
        return description.isEmpty ? nil : description
    }

    private static func checked(_ events: [String]?) throws -> [String]? {
        guard let events else { return nil }
        for event in events where event != "*" && !WebhookSettings.types.contains(event) {
            throw Refusal.invalid(
                "enabled_events",
                "'\(event.prefix(80))' is none of *, \(WebhookSettings.types.joined(separator: ", "))."
            )
        }
        guard !events.isEmpty else {
            throw Refusal.invalid("enabled_events", "enabled_events names at least one event.")
        }
        return Array(Set(events)).sorted()
    }

    /// The place in the feed that a caller names.
    private func position(_ startingAfter: String?) async throws -> Int64 {
        switch startingAfter {
        case nil: return try await records.feed.newestMessage()
        case "beginning"?: return 0
        case let event?:
            guard let number = Events.number(ofEvent: event) else {
                throw Refusal.invalid(
                    "starting_after",
                    "starting_after is the id of an event, or 'beginning'."
                )
            }
            return number
        }
    }

    private func sealed(_ secrets: WebhookSecrets) throws -> [UInt8] {
        try sealing.seal(Array(try JSONEncoder().encode(secrets)), as: "webhook")
    }

    func opened(_ row: WebhookEndpointRow) throws -> WebhookSecrets {
        let bytes = try sealing.open(row.secrets, as: "webhook").bytes
        return try JSONDecoder().decode(WebhookSecrets.self, from: Data(bytes))
    }
}
