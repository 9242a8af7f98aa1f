import Foundation

/// The namespace of every body that Tollgate's HTTP API takes or gives.
///
/// Nested, because the core and the SDK own the bare names (`Entitlement`, `Customer`). A body is one
/// `Codable` value, used by the SDK, the server and the command line alike. All times are UNIX
/// milliseconds unless a property says seconds, which only Stripe-shaped objects do.
public enum API {}

extension API {
    /// A moment as the API writes it: milliseconds since 1970-01-01T00:00:00Z.
    public typealias Milliseconds = Int64

    /// A page of a list, in Stripe's shape.
    public struct List<Element> {
        /// The elements of this page, in the order that the call documents.
        public var data: [Element]
        /// Whether another page follows; ask with `starting_after` set to the last id.
        public var hasMore: Bool

        public init(data: [Element], hasMore: Bool = false) {
            self.data = data
            self.hasMore = hasMore
        }

        private enum CodingKeys: String, CodingKey {
            case data
            case hasMore = "has_more"
        }
    }
}

extension API.List: Sendable where Element: Sendable {}
extension API.List: Equatable where Element: Equatable {}
extension API.List: Hashable where Element: Hashable {}
extension API.List: Decodable where Element: Decodable {}
extension API.List: Encodable where Element: Encodable {}
