internal import Foundation
internal import Storage
internal import Stores
public import TollgateAPI
internal import TollgateCore

extension Tollgate {
    /// How many endpoints there may be.
    private static let maximalEndpoints = 16

    /// Adds an endpoint that is told what changes.
    ///
    /// - Throws: refusals 422 `url_forbidden`, 400 `parameter_invalid`, `parameter_missing`, 409
    ///   `conflict`.
    public func addWebhookEndpoint(
        _ request: API.WebhookEndpointRequest
    ) async throws -> API.WebhookEndpoint {
        guard let url = request.url else {
            throw Refusal(
                400,
                .invalidRequestError,
                .parameterMissing,
                "Missing required param: url.",
                param: "url"
            )
        }
        let settings = WebhookSettings(
            url: try checked(url),
            description: try Self.checked(description: request.description),
            enabledEvents: try Self.checked(request.enabledEvents) ?? ["*"]
        )
        guard try await store.webhookEndpoints().count < Self.maximalEndpoints else {
            throw Refusal(
                409,
                .invalidRequestError,
                .conflict,
                "There are \(Self.maximalEndpoints) endpoints already; delete one first."
            )
        }
        let secrets = WebhookSecrets(key: randomBytes(32))
        var row = WebhookEndpointRow(
            id: newID("we_"),
            settings: try settings.bytes,
            secrets: try sealed(secrets),
            position: try await position(request.startingAfter),
            created: clocks.wall()
        )
        if request.enabled == false { row.disabled = Self.byRequest }
        try await store.add(row)
        var endpoint = try api(row)
        endpoint.secret = secrets.newest
        return endpoint
    }

    /// All endpoints, the oldest first.
    public func webhookEndpoints() async throws -> API.List<API.WebhookEndpoint> {
        API.List(data: try await store.webhookEndpoints().map { try api($0) })
    }

    /// - Throws: a refusal 404.
    public func webhookEndpoint(_ id: String) async throws -> API.WebhookEndpoint {
        try api(try await row(id))
    }

    /// Changes what is given.
    ///
    /// What waits for the endpoint stays.
    public func changeWebhookEndpoint(
        _ id: String,
        _ request: API.WebhookEndpointRequest
    ) async throws -> API.WebhookEndpoint {
        try await again {
            let row = try await row(id)
            var settings = try WebhookSettings(row)
            if let url = request.url { settings.url = try checked(url) }
            if let description = request.description {
                settings.description = try Self.checked(description: description)
            }
            if let events = try Self.checked(request.enabledEvents) {
                settings.enabledEvents = events
            }
            let isChanged = try await store.change(
                id,
                settings: try settings.bytes,
                from: row.settings,
                disabled: request.enabled.map { $0 ? nil : row.disabled ?? Self.byRequest },
                isRestarted: request.enabled == true || request.url != nil
            )
            return isChanged ? try api(try await self.row(id)) : nil
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
    public func removeWebhookEndpoint(_ id: String) async throws -> API.DeletedWebhookEndpoint {
        guard try await store.removeWebhookEndpoint(id) else {
            throw Refusal.missing("webhook endpoint", id)
        }
        return API.DeletedWebhookEndpoint(id: id)
    }

    /// Signs with a new secret, and for a while with the old one too.
    public func rotateWebhookSecret(
        _ id: String,
        _ request: API.WebhookSecretRotation
    ) async throws -> API.WebhookEndpoint {
        let overlap = request.overlap ?? 86_400
        guard (0...604_800).contains(overlap) else {
            throw Refusal.invalid("overlap", "overlap is between 0 and 604800 seconds.")
        }
        return try await again {
            let row = try await row(id)
            var secrets = try opened(row)
            secrets.rotate(
                to: randomBytes(32),
                now: clocks.wall().milliseconds,
                overlap: overlap * 1_000
            )
            guard
                try await store.change(id, secrets: try sealed(secrets), from: row.secrets)
            else { return nil }
            var endpoint = try api(row)
            endpoint.secret = secrets.newest
            return endpoint
        }
    }

    /// Sends again what an endpoint was sent before, or what was given up.
    public func replayWebhooks(
        _ id: String,
        _ request: API.WebhookReplayRequest
    ) async throws -> API.WebhookReplay {
        let row = try await row(id)
        switch (request.event, request.startingAfter, request.dead) {
        case (let event?, nil, nil):
            let number = Self.number(ofEvent: event)
            guard let number, let message = try await store.messages(at: [number]).first else {
                throw Refusal.missing("event", event, param: "event")
            }
            try await store.replay(message, to: row.id, now: clocks.wall())
            return API.WebhookReplay(events: 1)
        case (nil, let after?, nil):
            let position = try await position(after)
            try await store.rewind(row.id, to: position)
            let newest = try await store.newestMessage()
            return API.WebhookReplay(events: max(0, newest - position))
        case (nil, nil, true?):
            let count = try await store.replayDeadDeliveries(of: row.id, now: clocks.wall())
            return API.WebhookReplay(events: Int64(count))
        default:
            throw Refusal.invalid("event", "Give one of event, starting_after and dead: true.")
        }
    }

    /// What an endpoint was told or is to be told, the newest first.
    ///
    /// - Parameter status: `waiting`, `delivered` or `dead`; nil for all.
    public func webhookDeliveries(
        of id: String,
        status: String? = nil,
        startingAfter: String? = nil,
        limit: Int64 = 10
    ) async throws -> API.List<API.WebhookDelivery> {
        guard (1...100).contains(limit) else {
            throw Refusal.invalid("limit", "limit is between 1 and 100.")
        }
        var wanted: DeliveryRow.Status?
        if let status {
            wanted = [.waiting, .delivered, .dead].first { Self.name($0) == status }
            guard wanted != nil else {
                throw Refusal.invalid("status", "status is 'waiting', 'delivered' or 'dead'.")
            }
        }
        let before = startingAfter.flatMap { Self.number(ofEvent: $0) }
        guard startingAfter == nil || before != nil else {
            throw Refusal.invalid("starting_after", "starting_after is the id of an event.")
        }
        let rows = try await store.deliveries(
            of: try await row(id).id,
            status: wanted,
            before: before ?? .max,
            limit: limit + 1
        )
        let page = Array(rows.prefix(Int(limit)))
        let events = try await store.messages(at: page.map(\.number))
        let ids = Dictionary(
            events.map { ($0.number, API.Event.id(of: $0)) },
            uniquingKeysWith: { first, _ in first }
        )
        return API.List(
            data: page.map { row in
                API.WebhookDelivery(
                    event: ids[row.number] ?? "",
                    status: Self.name(row.status),
                    attempts: row.attempts,
                    due: row.status == .waiting ? row.due.milliseconds : nil,
                    tried: row.tried?.milliseconds,
                    outcome: row.outcome
                )
            },
            hasMore: rows.count > page.count
        )
    }
}

extension Tollgate {
    /// Seals again, with the key of today, what a former one sealed.
    ///
    /// - Throws: `SealingError` where no key opens it: the server must not begin.
    public func resealSecrets() async throws {
        for row in try await store.webhookEndpoints() {
            guard try !sealing.open(row.secrets, as: "webhook").isCurrent else { continue }
            // Who has changed them meanwhile has sealed them with the key of today.
            let resealed = try sealed(try opened(row))
            _ = try await store.change(row.id, secrets: resealed, from: row.secrets)
        }
        try await resealFactors()
    }
}

// MARK: - What these have in common

extension Tollgate {
    private static let byRequest = "disabled by request"

    private static func name(_ status: DeliveryRow.Status) -> String {
        switch status {
        case .waiting: "waiting"
        case .delivered: "delivered"
        case .dead: "dead"
        }
    }

    private func row(_ id: String) async throws -> WebhookEndpointRow {
        guard let row = try await store.webhookEndpoint(id) else {
            throw Refusal.missing("webhook endpoint", id)
        }
        return row
    }

    private func api(_ row: WebhookEndpointRow) throws -> API.WebhookEndpoint {
        let settings = try WebhookSettings(row)
        return API.WebhookEndpoint(
            id: row.id,
            url: settings.url,
            description: settings.description,
            enabledEvents: settings.enabledEvents,
            status: row.disabled == nil ? "enabled" : "disabled",
            disabledReason: row.disabled,
            created: row.created.milliseconds
        )
    }

    private func checked(_ url: String) throws -> String {
        try WebhookAddress(url, allowsPrivate: configuration.allowsPrivateWebhooks).url
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
        case nil: return try await store.newestMessage()
        case "beginning"?: return 0
        case let event?:
            guard let number = Self.number(ofEvent: event) else {
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
