import Foundation

extension API {
    /// What the catalog asks a customer to have stated, in its version of today.
    public struct RequiredConsents: Hashable, Codable, Sendable {
        public var terms: [Document]
        /// The age in years that must be stated; nil: none.
        public var minimumAge: Int?

        public init(terms: [Document] = [], minimumAge: Int? = nil) {
            self.terms = terms
            self.minimumAge = minimumAge
        }

        private enum CodingKeys: String, CodingKey {
            case terms
            case minimumAge = "minimum_age"
        }

        public func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(terms, forKey: .terms)
            try container.encode(minimumAge, forKey: .minimumAge)
        }

        /// A document that must be accepted.
        public struct Document: Hashable, Codable, Sendable {
            /// ``terms`` or ``subscriptionTerms``.
            public var document: String
            public var version: String
            /// Where it can be read.
            public var url: String?

            public init(document: String, version: String, url: String? = nil) {
                self.document = document
                self.version = version
                self.url = url
            }

            /// The terms of use, for every purchase.
            public static let terms = "terms"
            /// The terms of subscriptions, for these besides the others.
            public static let subscriptionTerms = "subscription_terms"
        }
    }
}
