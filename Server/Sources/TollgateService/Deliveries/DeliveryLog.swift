internal import Stores
internal import Foundation
public import Storage
public import TollgateAPI
internal import TollgateCore

/// The endpoints, and what each was told or is to be told.
public struct DeliveryLog: Sendable {
    let records: RecordStore

    public init(records: RecordStore) {
        self.records = records
    }

    /// All endpoints, the oldest first.
    public func endpoints() async throws -> API.List<API.WebhookEndpoint> {
        API.List(data: try await records.webhooks.endpoints().map { try API.WebhookEndpoint($0) })
    }

    /// - Throws: a refusal 404.
    public func endpoint(_ id: String) async throws -> API.WebhookEndpoint {
        try API.WebhookEndpoint(try await row(id))
    }

    /// What an endpoint was told or is to be told, the newest first.
    ///
    /// - Parameter status: `waiting`, `delivered` or `dead`; nil for all.
    public func deliveries(
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
        let before = startingAfter.flatMap { Events.number(ofEvent: $0) }
        guard startingAfter == nil || before != nil else {
            throw Refusal.invalid("starting_after", "starting_after is the id of an event.")
        }
        let rows = try await records.webhooks.deliveries(
            of: try await row(id).id,
            status: wanted,
            before: before ?? .max,
            limit: limit + 1
        )
        let page = Array(rows.prefix(Int(limit)))
        let events = try await records.feed.messages(at: page.map(\.number))
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

    private static func name(_ status: DeliveryRow.Status) -> String {
        switch status {
        case .waiting: "waiting"
        case .delivered: "delivered"
        case .dead: "dead"
        }
    }

    func row(_ id: String) async throws -> WebhookEndpointRow {
        guard let row = try await records.webhooks.endpoint(id) else {
            throw Refusal.missing("webhook endpoint", id)
        }
        return row
    }
}

extension API.WebhookEndpoint {
    init(_ row: WebhookEndpointRow) throws {
        let settings = try WebhookSettings(row)
        self.init(
            id: row.id,
            url: settings.url,
            description: settings.description,
            enabledEvents: settings.enabledEvents,
            status: row.disabled == nil ? "enabled" : "disabled",
            disabledReason: row.disabled,
            created: row.created.milliseconds
        )
    }
}
