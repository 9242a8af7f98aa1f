/// Why a customer may, or may not, use something at an instant: the facts in order, the one that
/// decides, and what would have to change.
///
/// In the same words wherever it is shown.
public struct Explanation: Hashable, Sendable {
    /// One thing we were told.
    public struct Line: Hashable, Sendable {
        public var purchase: Purchase.Key
        /// The message that said so.
        public var source: String
        public var stated: Instant
        /// The case of the statement: `period`, `renewal`, `status` and so on.
        public var kind: String
        /// A sentence for people.
        public var sentence: Sentence
        /// Whether the answer rests on it.
        public var decides: Bool

        /// The sentence in English.
        public var summary: String { sentence.text }
    }

    /// What a store itself says of the entitlement; the answer never rests on it.
    public struct Opinion: Hashable, Sendable {
        /// The kind of such a line.
        public static let kind = "entitlement_summary"

        /// The store's id of whom it speaks of.
        public var source: String
        public var store: Store
        public var stated: Instant
        public var sentence: Sentence

        public init(source: String, store: Store, stated: Instant, sentence: Sentence) {
            self.source = source
            self.store = store
            self.stated = stated
            self.sentence = sentence
        }
    }

    public var lookupKey: String
    public var at: Instant
    public var answer: ActiveEntitlement?
    public var facts: [Line]
    /// What would turn the answer round.
    public var changes: [Sentence]

    public var isEntitled: Bool { answer != nil }

    /// The changes in English.
    public var wouldChange: [String] { changes.map(\.text) }
}

extension Explanation {
    /// - Parameters:
    ///   - lookupKey: the entitlement asked about.
    ///   - instant: when.
    ///   - purchases: every purchase that the customer holds a share of, with that share.
    ///   - history: the catalog over time.
    public init(
        of lookupKey: String,
        at instant: Instant,
        purchases: [(record: Purchase, access: PurchaseAccess)],
        in history: CatalogHistory
    ) {
        let catalog = history.current
        let timeline = Timeline(purchases.map { ($0.record.key, $0.access) }, in: catalog)
        let answer = timeline.active(at: instant).first { $0.lookupKey == lookupKey }
        self.lookupKey = lookupKey
        self.at = instant
        self.answer = answer
        facts =
            purchases
            .filter { $0.record.concerns(lookupKey, in: catalog) }
            .flatMap { $0.record.lines(answer, at: instant) }
            .sorted {
                ($0.stated, $0.purchase, $0.source, $0.kind, $0.summary)
                    < ($1.stated, $1.purchase, $1.source, $1.kind, $1.summary)
            }
        changes = Self.changes(to: answer, lookupKey, at: instant, timeline, purchases, catalog)
    }

    private static func changes(
        to answer: ActiveEntitlement?,
        _ lookupKey: String,
        at instant: Instant,
        _ timeline: Timeline,
        _ purchases: [(record: Purchase, access: PurchaseAccess)],
        _ catalog: Catalog
    ) -> [Sentence] {
        var changes: [Sentence] = []
        let own = timeline.entries.filter { $0.lookupKey == lookupKey }
        if let answer {
            switch answer.until {
            case nil:
                changes.append("A refund or revocation of \(answer.purchase.id) would end it.")
            case let until?:
                let later = own.contains {
                    $0.since <= until && $0.until.map { $0 > until } ?? true
                }
                changes.append(
                    later
                        ? "At \(until) its ground changes; access goes on."
                        : "At \(until) it ends, unless a renewal or another purchase is stated by then."
                )
                changes.append(
                    "A refund or revocation of what \(answer.evidence) paid for would end it earlier."
                )
            }
        } else {
            if let next = own.filter({ $0.since > instant }).min(by: { $0.since < $1.since }) {
                changes.append(
                    "At \(next.since) access begins (\(next.ground.rawValue, of: "ground"))."
                )
            }
            if let last = own.compactMap(\.until).filter({ $0 <= instant }).max() {
                changes.append(
                    "It ended at \(last); a renewal or recovery of that purchase would restore it."
                )
            }
            let selling = catalog.products.filter {
                $0.entitlements.contains(lookupKey) && !$0.isRetired
            }
            if !selling.isEmpty {
                changes.append(
                    "A purchase of \(selling.map(\.id).joined(separator: ", ")) would grant it."
                )
            }
            if catalog.entitlement(lookupKey: lookupKey) == nil {
                changes.append("The catalog has no entitlement “\(lookupKey)”.")
            }
        }
        for (record, _) in purchases {
            for product in record.storeProducts where product.store.isSelling {
                if catalog.product(product, in: record.key.application) == nil {
                    changes.append(
                        "\(product.id) was bought but is in no catalog; adding it would grant what it stands for."
                    )
                }
            }
        }
        return changes
    }
}
