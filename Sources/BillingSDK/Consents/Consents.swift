import Foundation

/// A document that the customer is asked to accept, in its version of today.
public struct TermsDocument: Codable, Hashable, Identifiable, Sendable {
    /// Its name in the catalog: ``terms`` or ``subscriptionTerms``.
    public let id: String
    /// The version to be accepted.
    public let version: String
    /// The address of the text; `nil` if the app has it.
    public let url: URL?

    /// A document from its parts, for previews and tests.
    public init(id: String, version: String, url: URL? = nil) {
        self.id = id
        self.version = version
        self.url = url
    }

    /// The terms of use, for every purchase.
    public static let terms = "terms"
    /// The terms of subscriptions, for these besides the others.
    public static let subscriptionTerms = "subscription_terms"
}

/// The customer's consents by the server's record, and those that are needed today.
public struct Consents: Codable, Hashable, Sendable {
    /// One document that was accepted in one version.
    public struct Acceptance: Codable, Hashable, Sendable {
        /// The document's id.
        public let document: String
        /// The version that was accepted.
        public let version: String
        /// By the server's clock.
        public let acceptedAt: Date

        /// An acceptance from its parts, for previews and tests.
        public init(document: String, version: String, acceptedAt: Date) {
            self.document = document
            self.version = version
            self.acceptedAt = acceptedAt
        }
    }

    /// How an age was declared, as
    /// [Apple tells it apart](https://developer.apple.com/documentation/declaredagerange/agerangeservice/agerangedeclaration).
    ///
    /// New values may come.
    public struct AgeDeclaration: RawRepresentable, Codable, Hashable, Sendable {
        /// The word on record.
        public let rawValue: String

        /// A declaration by its word.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// By the customers themselves.
        public static let selfDeclared = Self(rawValue: "self_declared")
        /// By the customers themselves, and checked: a payment method, an identity document, another way.
        public static let selfChecked = Self(rawValue: "self_checked")
        /// By a parent or guardian.
        public static let guardianDeclared = Self(rawValue: "guardian_declared")
        /// By a parent or guardian, and checked.
        public static let guardianChecked = Self(rawValue: "guardian_checked")
        /// Confirmed by a card or an identity document; by whom is unknown.
        public static let confirmed = Self(rawValue: "confirmed")
    }

    /// Everything that was accepted, older versions too.
    public let acceptances: [Acceptance]
    /// The age in years that the customer says to have reached; nil until they said something, 0 where
    /// they only said to be younger than ``statedAgeBelow``.
    public let statedAge: Int?
    /// The age in years that the customer says not to have reached; nil where they named no upper age.
    public let statedAgeBelow: Int?
    /// The time at which the age was stated, by the server's clock; ask again after a year.
    public let ageStatedAt: Date?
    /// The way in which the age was declared; `nil` if unknown.
    public let ageDeclaration: AgeDeclaration?
    /// The time at which a parent or guardian agreed, by the server's clock; `nil` without a consent.
    public let parentalConsentGivenAt: Date?
    /// The documents that must be accepted today.
    public let requiredTerms: [TermsDocument]
    /// The age in years that must be stated; nil: none.
    public let minimumAge: Int?
    /// The ages in years that the app tells apart, ascending, ``minimumAge`` among them; ask about these.
    public let askedAges: [Int]
    /// The age in years below which a parent or guardian must have agreed; nil: none.
    public let parentalConsentBelow: Int?

    /// Consents from their parts, for previews and tests.
    public init(
        acceptances: [Acceptance],
        statedAge: Int?,
        requiredTerms: [TermsDocument],
        minimumAge: Int?,
        statedAgeBelow: Int? = nil,
        ageStatedAt: Date? = nil,
        ageDeclaration: AgeDeclaration? = nil,
        parentalConsentGivenAt: Date? = nil,
        askedAges: [Int]? = nil,
        parentalConsentBelow: Int? = nil
    ) {
        self.acceptances = acceptances
        self.statedAge = statedAge
        self.statedAgeBelow = statedAgeBelow
        self.ageStatedAt = ageStatedAt
        self.ageDeclaration = ageDeclaration
        self.parentalConsentGivenAt = parentalConsentGivenAt
        self.requiredTerms = requiredTerms
        self.minimumAge = minimumAge
        self.askedAges =
            askedAges ?? Set([minimumAge, parentalConsentBelow].compactMap { $0 }).sorted()
        self.parentalConsentBelow = parentalConsentBelow
    }

    /// Consents that an app has kept, also from a version of the SDK that knew less.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            acceptances: try container.decode([Acceptance].self, forKey: .acceptances),
            statedAge: try container.decodeIfPresent(Int.self, forKey: .statedAge),
            requiredTerms: try container.decode([TermsDocument].self, forKey: .requiredTerms),
            minimumAge: try container.decodeIfPresent(Int.self, forKey: .minimumAge),
            statedAgeBelow: try container.decodeIfPresent(Int.self, forKey: .statedAgeBelow),
            ageStatedAt: try container.decodeIfPresent(Date.self, forKey: .ageStatedAt),
            ageDeclaration: try container.decodeIfPresent(
                AgeDeclaration.self,
                forKey: .ageDeclaration
            ),
            parentalConsentGivenAt: try container.decodeIfPresent(
                Date.self,
                forKey: .parentalConsentGivenAt
            ),
            askedAges: try container.decodeIfPresent([Int].self, forKey: .askedAges),
            parentalConsentBelow: try container.decodeIfPresent(
                Int.self,
                forKey: .parentalConsentBelow
            )
        )
    }

    /// The required documents that were not accepted in their version of today; ask for these.
    public var missingTerms: [TermsDocument] {
        requiredTerms.filter { document in
            !acceptances.contains {
                $0.document == document.id && $0.version == document.version
            }
        }
    }

    /// `true` if an age is asked for and none that suffices was stated.
    public var isAgeMissing: Bool {
        guard let statedAge else { return minimumAge != nil || parentalConsentBelow != nil }
        return minimumAge.map { statedAge < $0 } ?? false
    }

    /// True if the stated range leaves one of ``askedAges`` open, such as an age that is new in the catalog.
    ///
    /// Then ask, also where ``isAgeMissing`` is false.
    public var isAgeUnclear: Bool {
        guard let statedAge else { return !askedAges.isEmpty }
        return askedAges.contains { statedAge < $0 && $0 < statedAgeBelow ?? .max }
    }

    /// True if the customer stated an age below ``minimumAge``; do not offer the question again.
    public var isTooYoung: Bool {
        guard let minimumAge, let statedAgeBelow else { return false }
        return statedAgeBelow <= minimumAge
    }

    /// The highest of ``askedAges`` that the customer says to have reached; nil where that is none.
    public var ageTier: Int? {
        guard let statedAge else { return nil }
        return askedAges.last { $0 <= statedAge }
    }

    /// `true` if a parent or guardian has yet to agree; a customer who may be younger than
    /// ``parentalConsentBelow`` counts as younger.
    public var isParentalConsentMissing: Bool {
        guard let parentalConsentBelow, let statedAge else { return false }
        return statedAge < parentalConsentBelow && parentalConsentGivenAt == nil
    }
}
