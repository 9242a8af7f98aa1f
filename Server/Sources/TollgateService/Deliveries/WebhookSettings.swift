internal import Foundation
internal import Storage

/// What the app's backend decided of one endpoint.
struct WebhookSettings: Codable, Hashable, Sendable {
    var url: String
    var description: String?
    var enabledEvents: [String]

    /// Everything that can be asked for.
    static let types = [
        "entitlements.changed", "coins.changed", "purchase.changed", "customer.erased",
        "entitlement.granted", "entitlement.changed", "entitlement.revoked", "coins.credited",
        "coins.debited",
    ]

    init(url: String, description: String?, enabledEvents: [String]) {
        self.url = url
        self.description = description
        self.enabledEvents = enabledEvents
    }

    init(_ row: WebhookEndpointRow) throws {
        self = try JSONDecoder().decode(Self.self, from: Data(row.settings))
    }

    var bytes: [UInt8] {
        get throws {
            let encoder = JSONEncoder()
            encoder.outputFormatting = .sortedKeys
            return Array(try encoder.encode(self))
        }
    }

    /// Whether the endpoint wants an event.
    func wants(_ message: FeedMessage) -> Bool {
        if enabledEvents.contains("*") || enabledEvents.contains(message.kind.rawValue) {
            return true
        }
        if enabledEvents.contains("purchase.changed"), !message.purchases.isEmpty { return true }
        return message.changes.contains { enabledEvents.contains($0.type) }
    }
}

extension FeedMessage.Change {
    /// As the API names it.
    var type: String {
        switch self {
        case .granted: "entitlement.granted"
        case .changed: "entitlement.changed"
        case .revoked: "entitlement.revoked"
        case .coinsCredited: "coins.credited"
        case .coinsDebited: "coins.debited"
        }
    }
}
