import Foundation

extension API {
    /// The body and the answer of `POST /v1/customers/{id}/purchases`: staff decide whose a purchase
    /// is, whatever the catalog's ownership policy says.
    public struct PurchaseAssignment: Hashable, Codable, Sendable {
        /// The key of the purchase, as entitlements name it.
        public var purchase: String
        /// Whose it is from now on; absent in a request, where the path names the customer.
        public var customer: String?

        public init(purchase: String, customer: String? = nil) {
            self.purchase = purchase
            self.customer = customer
        }
    }

    /// The answer of `DELETE /v1/customers/{id}`.
    public struct ErasedCustomer: Hashable, Codable, Sendable, Identifiable {
        public var id: String
        /// Always true.
        public var deleted: Bool

        public init(id: String) {
            self.id = id
            deleted = true
        }
    }
}
