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

    /// Everything that was accepted, older versions too.
    public let acceptances: [Acceptance]
    /// The age in years that the customer says to have reached; nil until they did.
    public let statedAge: Int?
    /// The documents that must be accepted today.
    public let requiredTerms: [TermsDocument]
    /// The age in years that must be stated; nil: none.
    public let minimumAge: Int?

    /// Consents from their parts, for previews and tests.
    public init(
        acceptances: [Acceptance],
        statedAge: Int?,
        requiredTerms: [TermsDocument],
        minimumAge: Int?
    ) {
        self.acceptances = acceptances
        self.statedAge = statedAge
        self.requiredTerms = requiredTerms
        self.minimumAge = minimumAge
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
        guard let minimumAge else { return false }
        return statedAge.map { $0 < minimumAge } ?? true
    }
}
