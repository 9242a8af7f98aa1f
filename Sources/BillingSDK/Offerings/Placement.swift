import Foundation

/// The offering that one customer sees at a place of the app.
public struct Placement: Hashable, Sendable, Identifiable {
    /// The place's id in the catalog.
    public let id: String
    /// One of the place's offerings: the same for one customer each time, as the catalog splits them.
    public let offering: Offering

    /// A placement from its parts, for previews and tests.
    public init(id: String, offering: Offering) {
        self.id = id
        self.offering = offering
    }
}
