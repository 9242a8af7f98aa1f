internal import Storage
internal import TollgateCore

/// Who holds a purchase, by the keys under which customers are kept.
struct Owners: Hashable, Sendable {
    /// Those who must have it.
    var certain: Set<RowKey> = []
    /// These, and those who may have it.
    var possible: Set<RowKey>

    init(certain: Set<RowKey> = [], possible: Set<RowKey> = []) {
        (self.certain, self.possible) = (certain, possible.union(certain))
    }
}

/// What was said on our side about whose a purchase is, by the policies that `catalog.yaml` promises.
struct Ownership: Sendable {
    private var claims: [(customer: RowKey, mode: String, at: Instant)] = []
    private(set) var assignment: (customer: RowKey, at: Instant)?

    mutating func add(_ word: OurWord, at instant: Instant) {
        switch word {
        case .claim(let customer, let mode): claims.append((RowKey(of: customer), mode, instant))
        case .assignment(let customer) where assignment.map({ $0.at <= instant }) ?? true:
            assignment = (RowKey(of: customer), instant)
        default: break
        }
    }

    /// The holders, where the store's own names lead to `named`, or it names nobody (`nil`), since
    /// `epoch`: earlier restores were about others.
    func owners(
        named: Set<RowKey>?,
        _ policy: Catalog.Ownership = .keep,
        since epoch: Instant = .distantPast
    ) -> Owners {
        if let assignment { return Owners(certain: [assignment.customer]) }
        var anybody = Owners(possible: (named ?? []).union(claims.map(\.customer)))
        if policy == .share {
            let sure = claims.filter { $0.mode != "observed" }.map(\.customer)
            if named?.count ?? 0 < 2 { anybody.certain = (named ?? []).union(sure) }
            return anybody
        }
        let restores = claims.filter { $0.mode == "restored" && $0.at >= epoch }
        if policy == .transfer, let last = restores.map(\.at).max() {
            let holders = Set(restores.filter { $0.at == last }.map(\.customer))
            return holders.count == 1 ? Owners(certain: holders) : anybody
        }
        if let named { return named.count == 1 ? Owners(certain: named) : anybody }
        // What nobody is named for belongs to who came first. Whoever only showed it may have given
        // way to one who says that it is theirs.
        guard let first = claims.min(by: { $0.at < $1.at }) else { return anybody }
        let hasRival = claims.contains { claim in
            claim.customer != first.customer
                && (claim.at == first.at || (first.mode == "observed" && claim.mode != "observed"))
        }
        return hasRival ? anybody : Owners(certain: [first.customer])
    }
}
