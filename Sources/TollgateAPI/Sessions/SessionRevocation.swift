import Foundation

extension API {
    /// The body of `POST /v1/customer_sessions/revoke`: a customer or a secret; with a session's own
    /// key it is left out.
    public struct SessionRevocationRequest: Hashable, Codable, Sendable {
        /// Whose sessions end, all of them.
        public var customer: String?
        /// Which session ends.
        public var clientSecret: String?

        public init(customer: String? = nil, clientSecret: String? = nil) {
            self.customer = customer
            self.clientSecret = clientSecret
        }

        private enum CodingKeys: String, CodingKey {
            case customer
            case clientSecret = "client_secret"
        }
    }

    /// The answer of `POST /v1/customer_sessions/revoke`.
    public struct SessionRevocation: Hashable, Codable, Sendable {
        /// How many sessions ended; links to the portal and visits there count too.
        public var revoked: Int
        public init(revoked: Int) { self.revoked = revoked }
    }
}
