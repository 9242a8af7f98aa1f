import Foundation

extension API {
    /// The body of `POST /v1/checkout_claims`: purchases that were made signed out, at Stripe or in the App
    /// Store, are claimed by who is signed in now.
    public struct CheckoutClaimRequest: Hashable, Codable, Sendable {
        /// What `client_reference_id` was made from, base64url(SHA-256(secret)), and ``VisitorToken``.
        public var secret: String

        public init(secret: String) { self.secret = secret }
    }

    /// The answer of `POST /v1/checkout_claims`.
    public struct CheckoutClaim: Hashable, Codable, Sendable {
        /// Whose the purchases are from now on.
        public var customer: String
        /// The purchases that are known so far; those that are still to be reported follow by
        /// themselves.
        public var purchases: [String]

        public init(customer: String, purchases: [String]) {
            self.customer = customer
            self.purchases = purchases
        }
    }
}
