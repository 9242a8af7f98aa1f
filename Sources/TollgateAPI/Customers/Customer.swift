import Foundation

extension API {
    /// One person as the API shows them.
    public struct Customer: Hashable, Codable, Sendable, Identifiable {
        /// Tollgate's own id, `cus_…`.
        public var id: String
        /// The id by which the app's backend knows this person; unique.
        public var appUserID: String
        /// What the app passes to StoreKit as `appAccountToken`, lower-case UUID.
        public var appAccountToken: String
        public var email: String?
        public var metadata: [String: String]
        public var created: Milliseconds

        public init(
            id: String,
            appUserID: String,
            appAccountToken: String,
            email: String? = nil,
            metadata: [String: String] = [:],
            created: Milliseconds
        ) {
            self.id = id
            self.appUserID = appUserID
            self.appAccountToken = appAccountToken
            self.email = email
            self.metadata = metadata
            self.created = created
        }

        private enum CodingKeys: String, CodingKey {
            case id, email, metadata, created
            case appUserID = "app_user_id"
            case appAccountToken = "app_account_token"
        }

        public func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(id, forKey: .id)
            try container.encode(appUserID, forKey: .appUserID)
            try container.encode(appAccountToken, forKey: .appAccountToken)
            try container.encode(email, forKey: .email)
            try container.encode(metadata, forKey: .metadata)
            try container.encode(created, forKey: .created)
        }
    }

    /// The body of `POST /v1/customers`.
    public struct CreateCustomerRequest: Hashable, Codable, Sendable {
        public var appUserID: String
        /// A UUID; made by the server if absent.
        public var appAccountToken: String?
        public var email: String?
        public var metadata: [String: String]?

        public init(
            appUserID: String,
            appAccountToken: String? = nil,
            email: String? = nil,
            metadata: [String: String]? = nil
        ) {
            self.appUserID = appUserID
            self.appAccountToken = appAccountToken
            self.email = email
            self.metadata = metadata
        }

        private enum CodingKeys: String, CodingKey {
            case email, metadata
            case appUserID = "app_user_id"
            case appAccountToken = "app_account_token"
        }
    }
}
