import Foundation

extension API {
    /// What a secret key may do; every route that takes a secret key needs one of these.
    public enum KeyScope: String, Hashable, Codable, Sendable, CaseIterable {
        /// Read customers, what they have, events and webhook endpoints.
        case read
        /// Create, change and erase customers; make sessions and checkouts for them.
        case customers
        /// Spend coins.
        case coins
        /// Read reports, payments, payouts and statements.
        case reports
        /// Do everything, such as changing webhook endpoints and making keys.
        case all
    }

    /// A secret key with scopes.
    public struct SecretKey: Hashable, Codable, Sendable, Identifiable {
        /// `key_…`; names the key, and is no secret.
        public var id: String
        /// What it is for.
        public var name: String
        public var scopes: [KeyScope]
        /// By real time, as are `lastUsed` and `revoked`.
        public var created: Milliseconds
        /// Who made it: a name of staff, `cli:USER`, or `secret key`.
        public var createdBy: String
        /// When it was used last, to a minute or so; `nil` before its first use.
        public var lastUsed: Milliseconds?
        /// Since when it is refused.
        public var revoked: Milliseconds?
        /// `sk_test_…` or `sk_live_…`; only in the answer that made it.
        public var secret: String?

        public init(
            id: String,
            name: String,
            scopes: [KeyScope],
            created: Milliseconds,
            createdBy: String,
            lastUsed: Milliseconds?,
            revoked: Milliseconds?,
            secret: String? = nil
        ) {
            self.id = id
            self.name = name
            self.scopes = scopes
            self.created = created
            self.createdBy = createdBy
            self.lastUsed = lastUsed
            self.revoked = revoked
            self.secret = secret
        }

        private enum CodingKeys: String, CodingKey {
            case id, name, scopes, created, revoked, secret
            case createdBy = "created_by"
            case lastUsed = "last_used"
        }
    }

    /// The body of `POST /v1/secret_keys`.
    public struct SecretKeyRequest: Hashable, Codable, Sendable {
        /// What the key is for: 1 to 80 characters.
        public var name: String
        /// At least one.
        public var scopes: [KeyScope]

        public init(name: String, scopes: [KeyScope]) {
            self.name = name
            self.scopes = scopes
        }
    }
}
