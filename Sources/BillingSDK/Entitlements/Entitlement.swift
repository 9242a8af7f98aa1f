import Foundation

/// Something that the customer may use.
public struct Entitlement: Codable, Hashable, Identifiable, Sendable {
    /// The id of this entitlement of this customer.
    public let id: String
    /// The feature's id in the catalog.
    public let feature: String
    /// The key that the app asks with.
    public let lookupKey: String

    /// An entitlement from its parts, for previews and tests.
    public init(id: String, feature: String, lookupKey: String) {
        self.id = id
        self.feature = feature
        self.lookupKey = lookupKey
    }
}
