package import TollgateCore

/// Somebody whom the server answers otherwise than the evidence of the stores does.
package struct AccessFinding: Hashable, Codable, Sendable {
    package enum Kind: String, Hashable, Codable, Sendable, CaseIterable {
        /// Paid for, and answered with no.
        case lockedOut = "locked_out"
        /// Answered with yes, and nothing that was said covers it.
        case letIn = "let_in"
        /// A device holds something verified, and both give the same reason for the no.
        case device
    }

    /// A message that a finding rests on.
    package struct Evidence: Hashable, Codable, Sendable {
        /// The row of the journal.
        package var journal: Int64
        /// The store's own id of it: a notification's UUID, an event's id.
        package var message: String?

        package init(journal: Int64, message: String?) {
            (self.journal, self.message) = (journal, message)
        }
    }

    package var kind: Kind
    package var customer: Customer.ID
    package var environment: StoreEnvironment
    package var lookupKey: String
    /// The purchase that it is about, where it has a name.
    package var purchase: String?
    /// Since when the two disagree, as far as the evidence tells.
    package var since: Instant
    /// The evidence's reason.
    package var opinion: String
    /// The server's reason.
    package var answer: String
    package var evidence: [Evidence]

    package init(
        _ kind: Kind,
        _ lookupKey: String,
        of customer: Customer.ID,
        in environment: StoreEnvironment,
        purchase: String?,
        since: Instant,
        opinion: String,
        answer: String,
        evidence: [Evidence]
    ) {
        (self.kind, self.lookupKey) = (kind, lookupKey)
        (self.customer, self.environment) = (customer, environment)
        (self.purchase, self.since) = (purchase, since)
        (self.opinion, self.answer, self.evidence) = (opinion, answer, evidence)
    }

    enum CodingKeys: String, CodingKey {
        case kind, customer, environment, purchase, since, opinion, answer, evidence
        case lookupKey = "lookup_key"
    }
}

extension AccessFinding: Comparable {
    package static func < (left: Self, right: Self) -> Bool {
        (left.kind.rawValue, left.customer, left.lookupKey, left.environment.rawValue)
            < (right.kind.rawValue, right.customer, right.lookupKey, right.environment.rawValue)
    }
}

/// What a check came to.
package struct AccessReport: Hashable, Codable, Sendable {
    /// The instant that was looked at.
    package var at: Instant
    /// Sorted by kind, customer and lookup key.
    package var findings: [AccessFinding] = []
    /// Rows of the journal that were read.
    package var rows = 0
    /// Purchases that were judged.
    package var purchases = 0
    /// Purchases that were not: what a store said of them was erased, or cannot be read.
    package var unjudged = 0
    /// Whether more was found than is looked at in one check.
    package var isCut = false

    package init(at: Instant) { self.at = at }

    enum CodingKeys: String, CodingKey {
        case at, findings, rows, purchases, unjudged
        case isCut = "cut"
    }
}
