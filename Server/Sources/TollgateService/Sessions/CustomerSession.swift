internal import Stores
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
    var keptUnder: String?

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
