import Foundation

extension API {
    /// The body of `POST /v1/customers/{id}/free_subscriptions`.
    public struct FreeSubscriptionRequest: Hashable, Codable, Sendable {
        /// The id of a product of the kind `free_subscription`.
        public var product: String

        public init(product: String) { self.product = product }
    }

    /// A plan without a price: it ends only when the app reports its removal.
    public struct FreeSubscription: Hashable, Codable, Sendable {
        public var customer: String
        /// The product's id in the catalog.
        public var product: String
        /// Since when the customer has it.
        public var since: Milliseconds
        /// When its removal was reported; nil while the customer has it.
        public var until: Milliseconds?

        public init(
            customer: String,
            product: String,
            since: Milliseconds,
            until: Milliseconds? = nil
        ) {
            self.customer = customer
            self.product = product
            self.since = since
            self.until = until
        }

        private enum CodingKeys: String, CodingKey { case customer, product, since, until }

        public func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(customer, forKey: .customer)
            try container.encode(product, forKey: .product)
            try container.encode(since, forKey: .since)
            try container.encode(until, forKey: .until)
        }
    }
}
