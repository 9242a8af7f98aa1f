internal import Storage
internal import Stores
internal import StrictJSON
public import TollgateAPI
public import TollgateCore

/// What a bearer of a session's secret may do, and for whom.
public struct CustomerSession: Codable, Hashable, Sendable {
    public enum Component: String, Sendable {
        case buyButton = "buy_button"
        case activeEntitlements = "active_entitlements"
        case customerPortal = "customer_portal"
    }

    public var customer: Customer.ID
    public var environment: StoreEnvironment
    public var components: API.SessionComponents
    /// The app that it is for, by its id in the catalog; `nil`: any.
    public var app: String?
    /// UNIX seconds.
    public var created: Int64
    public var expiresAt: Int64
    /// The hash under which it is kept; known where it was read by its secret, and not part of what is
    /// kept.
    var keptUnder: RowKey?

    private enum CodingKeys: String, CodingKey {
        case customer, environment, components, app, created, expiresAt
    }

    /// - Throws: a refusal `component_disabled` where the session was made without `component`.
    public func require(_ component: Component) throws {
        let isEnabled =
            switch component {
            case .buyButton: components.buyButton.enabled
            case .activeEntitlements: components.activeEntitlements.enabled
            case .customerPortal: components.customerPortal.enabled
            }
        guard isEnabled else {
            throw Refusal(
                403,
                .componentDisabled,
                "This customer session was created without the component '\(component.rawValue)'; enable it under components."
            )
        }
    }
}

extension CustomerSession {
    /// Reads what `APIJSON` wrote, without a decoder: each request of a session begins with it.
    ///
    /// - Throws: an error where it is not all there.
    init(kept bytes: [UInt8]) throws {
        let json = try JSON(bytes)
        guard let customer = json["customer"]?.string,
            let environment = json["environment"]?.string.flatMap({ StoreEnvironment(rawValue: $0) }
            ),
            let components = json["components"], components.kind == .object,
            let created = json["created"]?.int64, let expiresAt = json["expiresAt"]?.int64
        else { throw Unreadable() }
        self.init(
            customer: Customer.ID(customer),
            environment: environment,
            components: API.SessionComponents(
                buyButton: try Self.component(components["buy_button"]),
                activeEntitlements: try Self.component(components["active_entitlements"]),
                customerPortal: try Self.component(components["customer_portal"])
            ),
            app: try Self.optional(json["app"]) { $0.string },
            created: created,
            expiresAt: expiresAt
        )
    }

    private static func component(_ json: JSON?) throws -> API.SessionComponents.Component {
        try optional(json) { $0["enabled"]?.bool }.map { .init(enabled: $0) } ?? .disabled
    }

    /// `nil` for what is missing or null; anything else must be of its kind.
    private static func optional<Value>(_ json: JSON?, _ value: (JSON) -> Value?) throws -> Value? {
        guard let json, !json.isNull else { return nil }
        guard let value = value(json) else { throw Unreadable() }
        return value
    }

    /// What is kept is no session.
    struct Unreadable: Error, CustomStringConvertible {
        var description: String { "a customer session in the database cannot be read" }
    }
}
