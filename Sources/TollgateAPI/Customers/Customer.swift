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
        /// Whether the App Store may be told what the customer consumed when they ask it for a
        /// refund.
        public var consumptionConsent: Bool
        public var created: Milliseconds

        public init(
            id: String,
            appUserID: String,
            appAccountToken: String,
            email: String? = nil,
            metadata: [String: String] = [:],
            consumptionConsent: Bool = false,
            created: Milliseconds
        ) {
            self.id = id
            self.appUserID = appUserID
            self.appAccountToken = appAccountToken
            self.email = email
            self.metadata = metadata
            self.consumptionConsent = consumptionConsent
            self.created = created
        }

        private enum CodingKeys: String, CodingKey {
            case id, email, metadata, created
            case appUserID = "app_user_id"
            case appAccountToken = "app_account_token"
            case consumptionConsent = "consumption_consent"
        }

        public init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            id = try container.decode(String.self, forKey: .id)
            appUserID = try container.decode(String.self, forKey: .appUserID)
            appAccountToken = try container.decode(String.self, forKey: .appAccountToken)
            email = try container.decodeIfPresent(String.self, forKey: .email)
            metadata = try container.decode([String: String].self, forKey: .metadata)
            consumptionConsent =
                try container.decodeIfPresent(Bool.self, forKey: .consumptionConsent) ?? false
            created = try container.decode(Milliseconds.self, forKey: .created)
        }

        public func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(id, forKey: .id)
            try container.encode(appUserID, forKey: .appUserID)
            try container.encode(appAccountToken, forKey: .appAccountToken)
            try container.encode(email, forKey: .email)
            try container.encode(metadata, forKey: .metadata)
            try container.encode(consumptionConsent, forKey: .consumptionConsent)
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
        /// Whether the customer agreed that the App Store is told what they consumed.
        public var consumptionConsent: Bool?

        public init(
            appUserID: String,
            appAccountToken: String? = nil,
            email: String? = nil,
            metadata: [String: String]? = nil,
            consumptionConsent: Bool? = nil
        ) {
            self.appUserID = appUserID
            self.appAccountToken = appAccountToken
            self.email = email
            self.metadata = metadata
            self.consumptionConsent = consumptionConsent
        }

        private enum CodingKeys: String, CodingKey {
            case email, metadata
            case appUserID = "app_user_id"
            case appAccountToken = "app_account_token"
            case consumptionConsent = "consumption_consent"
        }
    }
}
