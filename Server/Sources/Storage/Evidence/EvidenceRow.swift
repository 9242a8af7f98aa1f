internal import TextFormats
package import TollgateCore

/// A row of the journal in the words of whoever said it, for a reader that does without our facts.
package struct EvidenceRow: Sendable {
    package let id: Int64
    /// The purchase or customer that it was filed under.
    package let subject: RowKey
    package let kind: JournalItem.Kind
    /// By the sender's clock.
    package let stated: Instant
    /// What a store sent or answered, its certificates left out; `nil` where nothing is kept.
    package let body: [UInt8]?
    private let facts: [UInt8]

    static let columns = "id, subject, kind, stated, facts, body"

    init(_ row: Row) throws {
        id = try row.int64(0)
        subject = try RowKey(bytes: row.bytes(1))
        kind = JournalItem.Kind(rawValue: try row.int64(2)) ?? .command
        stated = Instant(milliseconds: try row.int64(3))
        facts = try row.bytes(4)
        // What we said ourselves is in the facts; its body is a reason, or nothing.
        body = kind == .command ? nil : try row.optionalBytes(5).flatMap(Self.expanded)
    }

    private static func expanded(_ compact: [UInt8]) -> [UInt8]? {
        try? SignedBody.expand(compact) { _ in noCertificates }
    }

    /// base64url of `{}`.
    private static let noCertificates = Array("e30".utf8)

    /// What was signed, of a string in the compact form `header.payload.signature` (RFC 7515 §7.1).
    ///
    /// Without a look at the signature: only what was verified is in the journal.
    package static func payload(ofSigned text: [UInt8]) -> [UInt8]? {
        let parts = text.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 3 else { return nil }
        return parts[1].withUnsafeBytes { Base64.decodeURL($0) }
    }

    /// What we ourselves said in this row, and about which purchase.
    package func ours() throws -> OurWords {
        switch try JournalContent(kept: facts) {
        case .facts(let facts):
            OurWords(
                purchase: facts.first?.purchase,
                words: facts.compactMap { fact in
                    OurWord(fact).map { ($0, fact.stated.instant) }
                }
            )
        case .registered, .spent, .adopted, .erased: OurWords(purchase: nil, words: [])
        }
    }
}

/// What one row says that no store said.
package struct OurWords: Sendable {
    /// The purchase, such as `app_store/production/com.example.app/2000000001`.
    package var purchase: String?
    /// Each with when it was said.
    package var words: [(word: OurWord, at: Instant)]

    fileprivate init(purchase: Purchase.Key?, words: [(OurWord, Instant)]) {
        self.purchase = purchase?.canonical
        self.words = words
    }
}

/// A word of the app's backend, of staff or of a signed-in customer.
package enum OurWord: Hashable, Sendable {
    /// A customer's device presented the purchase as `purchased`, `restored` or `observed`.
    case claim(Customer.ID, mode: String)
    /// Staff said whose the purchase is.
    case assignment(Customer.ID)
    case grant(Customer.ID, lookupKey: String, since: Instant, until: Instant?)
    case freeSubscription(Customer.ID, product: String, isOn: Bool)
    /// The invoice whose payment a refund or dispute is about, as Stripe was asked.
    case paidBack(object: String, invoice: String)

    fileprivate init?(_ fact: Fact) {
        switch fact.statement {
        case .claim(let claim): self = .claim(claim.customer, mode: claim.mode.rawValue)
        case .assignment(let assignment): self = .assignment(assignment.customer)
        case .grant(let grant):
            self = .grant(
                grant.customer,
                lookupKey: grant.lookupKey,
                since: grant.since,
                until: grant.until
            )
        case .freeSubscription(let free):
            self = .freeSubscription(free.customer, product: free.product, isOn: free.isOn)
        case .refund(let refund):
            guard let invoice = refund.invoice else { return nil }
            self = .paidBack(object: refund.id, invoice: invoice)
        case .dispute(let dispute):
            guard let invoice = dispute.invoice else { return nil }
            self = .paidBack(object: dispute.id, invoice: invoice)
        default: return nil
        }
    }
}
