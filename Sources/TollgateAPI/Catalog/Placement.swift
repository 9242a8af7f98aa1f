import Foundation

extension API {
    /// The answer of `GET /v1/placements/{id}`: what this customer sees at a place of the app.
    public struct Placement: Hashable, Codable, Sendable, Identifiable {
        /// The id in the catalog.
        public var id: String
        /// The same for one customer each time, as long as the catalog stays as it is.
        public var offering: Offering

        public init(id: String, offering: Offering) {
            self.id = id
            self.offering = offering
        }
    }

    /// The body of `POST /v1/placements/{id}/shown`: what the customer has seen.
    public struct PlacementShownRequest: Hashable, Codable, Sendable {
        /// The id of the offering that was shown.
        public var offering: String

        public init(offering: String) {
            self.offering = offering
        }
    }

    /// The answer of `POST /v1/placements/{id}/shown`.
    public struct PlacementShown: Hashable, Codable, Sendable {
        public var placement: String
        public var offering: String
        /// Whether this customer had not seen it here before.
        public var new: Bool

        public init(placement: String, offering: String, new: Bool) {
            self.placement = placement
            self.offering = offering
            self.new = new
        }
    }
}
