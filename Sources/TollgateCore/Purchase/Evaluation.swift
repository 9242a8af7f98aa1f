/// What a purchase gives to whom, read off its record.
///
/// Holds no clock: the intervals say when.
public struct Evaluation: Hashable, Sendable {
    /// One owner's part.
    public struct Share: Hashable, Sendable {
        public var owner: HolderNames
        public var access: PurchaseAccess
    }

    public var shares: [Share] = []
    public var lots: [CoinLot] = []
    /// Sold by the store but in no catalog so far: the purchase waits for one that knows them.
    public var unknownProducts: [StoreProduct] = []
    /// What the record lacks and only the store can tell.
    public var wanted: [Wanted] = []

    mutating func add(_ access: PurchaseAccess, to owner: HolderNames) {
        if let index = shares.firstIndex(where: { $0.owner == owner }) {
            shares[index].access.merge(access)
        } else {
            shares.append(Share(owner: owner, access: access))
        }
    }
}

/// The access that one purchase gives to one holder.
public struct PurchaseAccess: Hashable, Codable, Sendable {
    public var intervals: [AccessInterval]
    public var passes: [Pass]

    public init(intervals: [AccessInterval] = [], passes: [Pass] = []) {
        self.intervals = intervals
        self.passes = passes
    }

    /// Whether a product of the purchase will be paid again by itself when its period ends; `nil`: the
    /// store has not said, or a failed payment decides.
    func renews(_ product: StoreProduct) -> Bool? {
        let own = intervals.filter { $0.product == product }
        if own.contains(where: \.isRenewal) { return true }
        return own.contains(where: \.lacksRenewalTerms) ? nil : false
    }

    /// Takes in another part of the same purchase.
    ///
    /// Two names of one customer bring the same part twice, and a pass that is counted twice would
    /// last twice as long.
    public mutating func merge(_ other: PurchaseAccess) {
        let known = Set(passes.map(\.evidence))
        for interval in other.intervals where !intervals.contains(interval) {
            intervals.append(interval)
        }
        passes += other.passes.filter { !known.contains($0.evidence) }
    }
}

/// Something the store has to be asked, because no message carries it.
public struct Wanted: Hashable, Codable, Sendable {
    /// What is asked: a word that the store's room defines, by which the question is found again.
    ///
    /// Those that a record raises by itself stand beside the record, the others in the room.
    public struct Kind: RawRepresentable, Codable, Hashable, Sendable {
        public let rawValue: String

        public init(rawValue: String) {
            self.rawValue = rawValue
        }
    }

    public var kind: Kind
    /// The store's id of the object to read.
    public var object: String

    public init(kind: Kind, object: String) {
        self.kind = kind
        self.object = object
    }
}

extension Purchase {
    /// What this purchase gives to whom, by the catalog's versions.
    public func evaluate(in history: CatalogHistory) -> Evaluation {
        var evaluation = Evaluation()
        record.evaluate(ownership, in: history, &evaluation)
        // Corrections by staff are of this system.
        if key.store.isSelling, let since = history.coinsSince {
            evaluation.lots.removeAll { ($0.paid ?? $0.credited) < since }
        }
        if evaluation.shares.isEmpty {
            evaluation.add(PurchaseAccess(), to: ownership.owner(named: []))
        }
        return evaluation
    }
}
