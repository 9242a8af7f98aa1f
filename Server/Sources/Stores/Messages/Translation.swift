public import Storage
public import TollgateCore

/// All that one message of a store says, in our words.
public struct Translation: Sendable {
    /// The outcome of translating a message.
    public enum Meaning: Hashable, Sendable {
        /// Facts about one purchase.
        case facts([Fact], about: Purchase.Key)
        /// Understood as far as that something changed: what it is has to be read from the store.
        ///
        /// A message in a form that is not ours to read, or one that shows only a part (RULES §4.4).
        case hint([Wanted], about: Purchase.Key, reason: String)
        /// Nobody has signed it: it is not journalled, and only has the store be asked.
        case rumour([Wanted], about: Purchase.Key?, outcome: String)
        /// Understood, and of no consequence for any record.
        case nothing(reason: String)
        /// Genuine, but it cannot be used: kept, counted and answered 200, since sending it again
        /// would not help (RULES §11).
        case parked(reason: String)
    }

    /// A task for the app's team, in the store's words: the message asks for something that no
    /// server can do.
    public struct LeftToTheTeam: Hashable, Sendable {
        public var type: String
        public var subtype: String?

        public init(type: String, subtype: String? = nil) {
            self.type = type
            self.subtype = subtype
        }
    }

    public var meaning: Meaning
    public var evidence: Evidence
    /// Questions to the store that the message raises.
    public var questions: [Wanted]
    public var leftToTheTeam: LeftToTheTeam?

    public init(
        _ meaning: Meaning,
        evidence: Evidence,
        questions: [Wanted] = [],
        leftToTheTeam: LeftToTheTeam? = nil
    ) {
        self.meaning = meaning
        self.evidence = evidence
        self.questions = questions
        self.leftToTheTeam = leftToTheTeam
    }

    /// The environment of what the message is about; `nil` where that is not certain.
    ///
    /// A hint does not tell it in each store: there only the read does.
    var environment: StoreEnvironment? {
        switch meaning {
        case .facts(_, let key): key.environment
        case .rumour(_, let key, _): key?.environment
        case .hint, .nothing, .parked: nil
        }
    }
}

/// A message as it is kept.
public struct Evidence: Sendable {
    /// The store's own id of it.
    public var source: String
    /// The same message has the same key, and is journalled once.
    public var key: RowKey
    /// By the store's clock.
    public var stated: Instant
    public var kind: JournalItem.Kind
    /// The exact bytes.
    public var body: [UInt8]
    /// Whom it is about, where no facts say so: the body goes with their erasure.
    public var person: RowKey?

    public init(
        source: String,
        key: RowKey,
        stated: Instant,
        kind: JournalItem.Kind,
        body: [UInt8],
        person: RowKey? = nil
    ) {
        self.source = source
        self.key = key
        self.stated = stated
        self.kind = kind
        self.body = body
        self.person = person
    }
}
