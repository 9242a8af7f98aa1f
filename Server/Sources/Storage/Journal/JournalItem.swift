internal import Crypto
public import TollgateCore

/// One thing to be journalled, together with what follows from it: a verified message with its
/// facts, or a command of ours.
public struct JournalItem: Sendable {
    /// What kind of row it becomes (RULES §11).
    public enum Kind: Int64, Sendable, CaseIterable {
        /// Signed by the store.
        case signed = 0
        /// Delivered by the store under a signature of the transport.
        case delivered = 1
        /// Read from the store by us.
        case fetched = 2
        /// Said by the app's backend, by staff or by a signed-in customer.
        case command = 3
    }

    /// What is asked of the record.
    public enum Content: Sendable {
        /// All about one purchase. No facts: understood, but of no consequence.
        case facts([Fact])
        case register(Registration)
        case spend(SpendOrder)
        case adopt(CatalogHistory.Version)
        /// Forgets who a customer is; what was paid and spent stays in the books (RULES §11).
        case erase(Customer.ID)
    }

    /// Unique by the store's own id; a second item with the same key changes nothing.
    public var dedupeKey: RowKey
    /// The purchase or customer it concerns.
    public var subject: RowKey
    public var kind: Kind
    /// By the sender's clock.
    public var stated: Instant
    public var content: Content {
        didSet { keptFacts = nil }
    }
    /// What was received, as it is to be kept; see `SignedBody`.
    public var body: [UInt8]?
    /// Parts of the body that others share, by id.
    public var segments: [(id: [UInt8], bytes: [UInt8])]
    /// What has to be asked of the store because this item alone does not say it; queued in the same
    /// transaction.
    public var wanted: [Wanted] = []
    /// What `wanted` is about, where there are no facts to say so.
    public var wantedAbout: Purchase.Key?
    /// Whom a body without facts is about, a name that Stripe gave them or a payment, hashed: the body
    /// goes with their erasure.
    public var person: RowKey?
    var digest: [UInt8]
    /// The content as it is kept, if it is facts and was made ready beforehand: not by the one thread
    /// that writes.
    var keptFacts: [UInt8]?

    /// - Parameter received: the exact bytes, of which the digest is kept.
    public init(
        dedupeKey: RowKey,
        subject: RowKey,
        kind: Kind,
        stated: Instant,
        content: Content,
        received: [UInt8] = [],
        body: [UInt8]? = nil,
        segments: [(id: [UInt8], bytes: [UInt8])] = []
    ) {
        self.dedupeKey = dedupeKey
        self.subject = subject
        self.kind = kind
        self.stated = stated
        self.content = content
        self.body = body
        self.segments = segments
        digest = Self.digest(of: received)
    }

    static func digest(of received: [UInt8]) -> [UInt8] { Array(SHA256.hash(data: received)) }
}

/// A customer makes themselves known, or a name of theirs becomes known later.
public struct Registration: Sendable {
    public var customer: Customer.ID
    /// Names under which the stores' facts may know them.
    public var aliases: [Holder]
    /// What the app's backend said of them; personal data, erasable.
    public var profile: [UInt8]
    /// The email in the profile, under a hash of which staff find it; erased with it.
    public var email: String?

    public init(customer: Customer.ID, aliases: [Holder], profile: [UInt8], email: String? = nil) {
        self.customer = customer
        self.aliases = aliases
        self.profile = profile
        self.email = email
    }
}

/// A wish to spend coins.
///
/// It is decided once, under the customer's lock (RULES §6).
public struct SpendOrder: Sendable {
    public var customer: Customer.ID
    public var environment: StoreEnvironment
    public var amount: Int64
    /// Of the request's body: the same idempotency key with another body is refused.
    public var bodyHash: RowKey

    public init(
        customer: Customer.ID,
        environment: StoreEnvironment,
        amount: Int64,
        bodyHash: RowKey
    ) {
        self.customer = customer
        self.environment = environment
        self.amount = amount
        self.bodyHash = bodyHash
    }
}

/// How a spend was decided.
///
/// Rebuilding replays this, never the decision.
public struct SpendDecision: Hashable, Codable, Sendable {
    public var row: RowKey
    public var amount: Int64
    public var bodyHash: RowKey
    public var isAccepted: Bool
    /// The balance after it.
    public var balance: Int64
}

/// What became of an item.
public enum JournalOutcome: Sendable {
    /// Durable and applied.
    case recorded
    /// Already durable; nothing changed.
    case duplicate
    /// The spend's decision, now or when it was first asked for.
    case decided(SpendDecision, isReplay: Bool)
}

/// What a journal row says, as it is kept.
///
/// Holds no personal data but the names by which stores know a customer, and of these the hashes once
/// they are erased.
enum JournalContent: Codable {
    case facts([Fact])
    case registered(Customer.ID, aliases: [RowKey])
    case spent(SpendDecision)
    case adopted(CatalogHistory.Version)
    case erased(Customer.ID)

    /// The bytes of the row's `facts`.
    func kept() throws -> [UInt8] {
        PackedBytes.pack(try RecordEncoder.encode(self), .facts)
    }

    /// What a row's `facts` say.
    ///
    /// Throws what decoding does, and `.corrupt` of a packed row that is damaged.
    init(kept bytes: [UInt8]) throws {
        let kept = try RecordDecoder.decode(JournalContent.self, from: PackedBytes.unpacked(bytes))
        if case .facts(let facts) = kept {
            self = .facts(Fact.namingReversals(facts))
        } else {
            self = kept
        }
    }
}
