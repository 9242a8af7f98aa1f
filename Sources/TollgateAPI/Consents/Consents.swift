import Foundation

extension API {
    /// The answer of `GET` and `POST /v1/consents`: what the customer has agreed to.
    public struct Consents: Hashable, Codable, Sendable {
        public var terms: [Acceptance]
        /// Nil until an age was stated.
        public var age: AgeStatement?
        /// What the catalog asks for today; an older acceptance does not do.
        public var required: RequiredConsents

        public init(
            terms: [Acceptance],
            age: AgeStatement? = nil,
            required: RequiredConsents = RequiredConsents()
        ) {
            self.terms = terms
            self.age = age
            self.required = required
        }

        private enum CodingKeys: String, CodingKey { case terms, age, required }

        public init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            terms = try container.decode([Acceptance].self, forKey: .terms)
            age = try container.decodeIfPresent(AgeStatement.self, forKey: .age)
            required =
                try container.decodeIfPresent(RequiredConsents.self, forKey: .required)
                ?? RequiredConsents()
        }

        public func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(terms, forKey: .terms)
            try container.encode(age, forKey: .age)
            try container.encode(required, forKey: .required)
        }

        /// One document in one version.
        public struct Acceptance: Hashable, Codable, Sendable {
            /// The document's id in the catalog, such as `terms` or `subscription_terms`.
            public var document: String
            public var version: String
            /// When the server recorded it; absent in a request.
            public var acceptedAt: Milliseconds?

            public init(document: String, version: String, acceptedAt: Milliseconds? = nil) {
                self.document = document
                self.version = version
                self.acceptedAt = acceptedAt
            }

            private enum CodingKeys: String, CodingKey {
                case document, version
                case acceptedAt = "accepted_at"
            }
        }

        /// What the customer said about their age.
        public struct AgeStatement: Hashable, Codable, Sendable {
            /// The age in years that the customer says to have reached at least.
            public var atLeast: Int
            /// When the server recorded it; absent in a request.
            public var statedAt: Milliseconds?

            public init(atLeast: Int, statedAt: Milliseconds? = nil) {
                self.atLeast = atLeast
                self.statedAt = statedAt
            }

            private enum CodingKeys: String, CodingKey {
                case atLeast = "at_least"
                case statedAt = "stated_at"
            }
        }
    }

    /// The body of `POST /v1/consents`; what is absent stays as it is.
    public struct ConsentsRequest: Hashable, Codable, Sendable {
        public var terms: [Consents.Acceptance]?
        public var age: Consents.AgeStatement?

        public init(terms: [Consents.Acceptance]? = nil, age: Consents.AgeStatement? = nil) {
            self.terms = terms
            self.age = age
        }
    }
}
