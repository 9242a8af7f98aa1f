import Foundation

/// A document that the customer is asked to accept, in its version of today.
public struct TermsDocument: Codable, Hashable, Identifiable, Sendable {
    /// Its name in the catalog: ``terms`` or ``subscriptionTerms``.
    public let id: String
    /// The version to be accepted.
    public let version: String
    /// Where it can be read; nil where the app has it.
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

/// What the customer has agreed to, by the server's record, and what is asked of them today.
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
    public enum AgeDeclaration: String, Codable, Hashable, Sendable {
        /// By the customers themselves.
        case selfDeclared = "self_declared"
        /// By the customers themselves, and checked: a payment method, an identity document, another way.
        case selfChecked = "self_checked"
        /// By a parent or guardian.
        case guardianDeclared = "guardian_declared"
        /// By a parent or guardian, and checked.
        case guardianChecked = "guardian_checked"
    }

    /// Everything that was accepted, older versions too.
    public let acceptances: [Acceptance]
    /// The age in years that the customer says to have reached; nil until they said something, 0 where
    /// they only said to be younger than ``statedAgeBelow``.
    public let statedAge: Int?
    /// The age in years that the customer says not to have reached; nil where they said nothing of the kind.
    public let statedAgeBelow: Int?
    /// How the age was declared; nil where that is unknown.
    public let ageDeclaration: AgeDeclaration?
    /// When a parent or guardian agreed, by the server's clock; nil where none did, or they withdrew it.
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
        ageDeclaration: AgeDeclaration? = nil,
        parentalConsentGivenAt: Date? = nil,
        askedAges: [Int]? = nil,
        parentalConsentBelow: Int? = nil
    ) {
        self.acceptances = acceptances
        self.statedAge = statedAge
        self.statedAgeBelow = statedAgeBelow
        self.ageDeclaration = ageDeclaration
        self.parentalConsentGivenAt = parentalConsentGivenAt
        self.requiredTerms = requiredTerms
        self.minimumAge = minimumAge
        self.askedAges =
            askedAges ?? Set([minimumAge, parentalConsentBelow].compactMap { $0 }).sorted()
        self.parentalConsentBelow = parentalConsentBelow
    }

    /// The required documents that were not accepted in their version of today; ask for these.
    public var missingTerms: [TermsDocument] {
        requiredTerms.filter { document in
            !acceptances.contains {
                $0.document == document.id && $0.version == document.version
            }
        }
    }

    /// Whether an age is asked for and none that suffices was stated.
    public var isAgeMissing: Bool {
        guard let statedAge else { return minimumAge != nil || parentalConsentBelow != nil }
        return minimumAge.map { statedAge < $0 } ?? false
    }

    /// Whether the customer said to be younger than the catalog asks; asking them again changes nothing.
    public var isTooYoung: Bool {
        guard let minimumAge, let statedAgeBelow else { return false }
        return statedAgeBelow <= minimumAge
    }

    /// The highest of ``askedAges`` that the customer says to have reached; nil where that is none.
    public var ageTier: Int? {
        guard let statedAge else { return nil }
        return askedAges.last { $0 <= statedAge }
    }

    /// Whether a parent or guardian has yet to agree; a customer who may be younger than
    /// ``parentalConsentBelow`` counts as younger.
    public var isParentalConsentMissing: Bool {
        guard let parentalConsentBelow, let statedAge else { return false }
        return statedAge < parentalConsentBelow && parentalConsentGivenAt == nil
    }
}
