import Foundation

extension API {
    /// The answer of `GET` and `POST /v1/consents`: what the customer has agreed to.
    public struct Consents: Hashable, Codable, Sendable {
        public var terms: [Acceptance]
        /// Nil until an age was stated.
        public var age: AgeStatement?
        /// Nil until something was said about it.
        public var parentalConsent: ParentalConsent?
        /// What the catalog asks for today; an older acceptance does not do.
        public var required: RequiredConsents

        public init(
            terms: [Acceptance],
            age: AgeStatement? = nil,
            parentalConsent: ParentalConsent? = nil,
            required: RequiredConsents = RequiredConsents()
        ) {
            self.terms = terms
            self.age = age
            self.parentalConsent = parentalConsent
            self.required = required
        }

        private enum CodingKeys: String, CodingKey {
            case terms, age, required
            case parentalConsent = "parental_consent"
        }

        public init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            terms = try container.decode([Acceptance].self, forKey: .terms)
            age = try container.decodeIfPresent(AgeStatement.self, forKey: .age)
            parentalConsent =
                try container.decodeIfPresent(ParentalConsent.self, forKey: .parentalConsent)
            required =
                try container.decodeIfPresent(RequiredConsents.self, forKey: .required)
                ?? RequiredConsents()
        }

        public func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(terms, forKey: .terms)
            try container.encode(age, forKey: .age)
            try container.encode(parentalConsent, forKey: .parentalConsent)
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
            /// The age in years that the customer says to have reached at least; 0 where they only said
            /// to be younger than `below`.
            public var atLeast: Int
            /// The age in years that they say not to have reached; nil where they named no upper age.
            public var below: Int?
            /// How it was declared: `self_declared`, `self_checked`, `guardian_declared`,
            /// `guardian_checked` or `confirmed`; nil where that is unknown.
            public var declaration: String?
            /// When the server recorded it; absent in a request.
            public var statedAt: Milliseconds?

            public init(
                atLeast: Int,
                below: Int? = nil,
                declaration: String? = nil,
                statedAt: Milliseconds? = nil
            ) {
                self.atLeast = atLeast
                self.below = below
                self.declaration = declaration
                self.statedAt = statedAt
            }

            private enum CodingKeys: String, CodingKey {
                case below, declaration
                case atLeast = "at_least"
                case statedAt = "stated_at"
            }
        }

        /// Whether a parent or guardian agrees that the customer buys.
        public struct ParentalConsent: Hashable, Codable, Sendable {
            /// False where it was withdrawn.
            public var isGiven: Bool
            /// When the server recorded it.
            public var statedAt: Milliseconds

            public init(isGiven: Bool, statedAt: Milliseconds) {
                self.isGiven = isGiven
                self.statedAt = statedAt
            }

            private enum CodingKeys: String, CodingKey {
                case isGiven = "given"
                case statedAt = "stated_at"
            }
        }
    }

    /// The body of `POST /v1/consents`; what is absent stays as it is.
    public struct ConsentsRequest: Hashable, Codable, Sendable {
        public var terms: [Consents.Acceptance]?
        public var age: Consents.AgeStatement?
        /// True where a parent or guardian agrees, false where they withdraw it.
        public var parentalConsent: Bool?

        public init(
            terms: [Consents.Acceptance]? = nil,
            age: Consents.AgeStatement? = nil,
            parentalConsent: Bool? = nil
        ) {
            self.terms = terms
            self.age = age
            self.parentalConsent = parentalConsent
        }

        private enum CodingKeys: String, CodingKey {
            case terms, age
            case parentalConsent = "parental_consent"
        }
    }
}
