import Foundation

extension API {
    /// What the catalog asks a customer to have stated, in its version of today.
    public struct RequiredConsents: Hashable, Codable, Sendable {
        public var terms: [Document]
        /// The age in years that must be stated; nil: none.
        public var minimumAge: Int?
        /// The ages in years that the age question asks about, ascending, `minimumAge` among them.
        public var ages: [Int]
        /// The age in years below which a parent or guardian must have agreed; nil: none.
        public var parentalConsentBelow: Int?

        public init(
            terms: [Document] = [],
            minimumAge: Int? = nil,
            ages: [Int] = [],
            parentalConsentBelow: Int? = nil
        ) {
            self.terms = terms
            self.minimumAge = minimumAge
            self.ages = ages
            self.parentalConsentBelow = parentalConsentBelow
        }

        private enum CodingKeys: String, CodingKey {
            case terms, ages
            case minimumAge = "minimum_age"
            case parentalConsentBelow = "parental_consent_below"
        }

        public init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            terms = try container.decode([Document].self, forKey: .terms)
            minimumAge = try container.decodeIfPresent(Int.self, forKey: .minimumAge)
            // An older server asks about one age.
            ages =
                try container.decodeIfPresent([Int].self, forKey: .ages)
                ?? minimumAge.map { [$0] } ?? []
            parentalConsentBelow =
                try container.decodeIfPresent(Int.self, forKey: .parentalConsentBelow)
        }

        public func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(terms, forKey: .terms)
            try container.encode(minimumAge, forKey: .minimumAge)
            try container.encode(ages, forKey: .ages)
            try container.encode(parentalConsentBelow, forKey: .parentalConsentBelow)
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
