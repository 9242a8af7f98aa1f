/// When a customer may use what: every span of access, past and to come, with the catalog of the
/// day applied.
///
/// Server and device ask it the same question, `active(at:)` (RULES §15).
public struct Timeline: Hashable, Sendable {
    public struct Entry: Hashable, Sendable {
        public var lookupKey: String
        public var since: Instant
        /// `nil`: for ever.
        public var until: Instant?
        public var ground: Ground
        public var purchase: Purchase.Key
        public var evidence: String
        public var offer: OfferKind?
        /// Whether it will be paid again by itself; `nil`: the store has not said.
        public var renews: Bool?

        func contains(_ instant: Instant) -> Bool {
            since <= instant && until.map { instant < $0 } ?? true
        }

        private var end: Instant { until ?? Instant(milliseconds: .max) }

        /// The order in which two entries that both hold are preferred: the longer, then the firmer.
        func isPreferred(to other: Entry) -> Bool {
            (other.end, other.ground.firmness, purchase, evidence)
                < (end, ground.firmness, other.purchase, other.evidence)
        }
    }

    /// Sorted by lookup key, then by start.
    public private(set) var entries: [Entry]

    /// - Parameters:
    ///   - access: what each purchase gives this customer.
    ///   - catalog: today's.
    public init(_ access: [(Purchase.Key, PurchaseAccess)], in catalog: Catalog) {
        entries = []
        var passes: [String: [(Purchase.Key, Pass)]] = [:]
        for (key, access) in access {
            // Nearly always one product for all of them.
            var said: (product: StoreProduct, renews: Bool?)?
            for interval in access.intervals {
                if said?.product != interval.product {
                    said = (interval.product, access.renews(interval.product))
                }
                add(interval, of: key, renews: said?.renews ?? nil, in: catalog)
            }
            for pass in access.passes {
                guard let product = catalog.product(pass.product, in: key.application) else {
                    continue
                }
                passes[product.id, default: []].append((key, pass))
            }
        }
        for stacked in passes.values { stack(stacked, in: catalog) }
        guard entries.count > 1 else { return }
        entries.sort {
            ($0.lookupKey, $0.since, $0.purchase, $0.evidence, $0.ground.firmness)
                < ($1.lookupKey, $1.since, $1.purchase, $1.evidence, $1.ground.firmness)
        }
    }

    private mutating func add(
        _ interval: AccessInterval,
        of key: Purchase.Key,
        renews: Bool?,
        in catalog: Catalog
    ) {
        var until = interval.until
        if interval.isExtendedByCatalog {
            let extra =
                interval.ground == .grace
                ? catalog.pastDueGrace : catalog.renewalLeeway[interval.product.store]
            until = earlier(until?.advanced(by: extra), interval.stop)
        }
        if let until, until <= interval.since { return }
        for lookupKey in catalog.lookupKeys(of: interval.product, in: key.application) {
            entries.append(
                Entry(
                    lookupKey: lookupKey,
                    since: interval.since,
                    until: until,
                    ground: interval.ground,
                    purchase: key,
                    evidence: interval.evidence,
                    offer: interval.offer,
                    renews: renews
                )
            )
        }
    }

    /// Each starts at the later of its own date and its predecessor's effective end (RULES §2.6).
    private mutating func stack(_ passes: [(Purchase.Key, Pass)], in catalog: Catalog) {
        var previousEnd: Instant?
        let ordered = passes.sorted {
            ($0.1.purchased, $0.0, $0.1.evidence) < ($1.1.purchased, $1.0, $1.1.evidence)
        }
        for (key, pass) in ordered {
            let start = later(pass.purchased, previousEnd) ?? pass.purchased
            let duration =
                pass.duration ?? catalog.product(pass.product, in: key.application)?.duration
            guard let milliseconds = duration?.adding(to: start.milliseconds) else { continue }
            var end = Instant(milliseconds: milliseconds)
            if let cut = pass.cut { end = max(start, min(end, cut)) }
            previousEnd = end
            guard start < end else { continue }
            for lookupKey in catalog.lookupKeys(of: pass.product, in: key.application) {
                entries.append(
                    Entry(
                        lookupKey: lookupKey,
                        since: start,
                        until: end,
                        ground: .payment,
                        purchase: key,
                        evidence: pass.evidence,
                        renews: false
                    )
                )
            }
        }
    }

    /// What may be used at `instant`, one answer per lookup key, sorted by it.
    public func active(at instant: Instant) -> [ActiveEntitlement] {
        var answers: [ActiveEntitlement] = []
        var index = entries.startIndex
        while index < entries.endIndex {
            let key = entries[index].lookupKey
            let end = entries[index...].firstIndex { $0.lookupKey != key } ?? entries.endIndex
            if let answer = Self.active(among: entries[index..<end], at: instant) {
                answers.append(answer)
            }
            index = end
        }
        return answers
    }

    private static func active(
        among entries: ArraySlice<Entry>,
        at instant: Instant
    ) -> ActiveEntitlement? {
        guard var chosen = entries.indices.first(where: { entries[$0].contains(instant) }) else {
            return nil
        }
        for index in entries.indices[chosen...].dropFirst()
        where entries[index].contains(instant) && entries[index].isPreferred(to: entries[chosen]) {
            chosen = index
        }
        let best = entries[chosen]
        // A period that is paid for ahead continues the one before it.
        var (until, renews) = (best.until, best.renews)
        for entry in entries where entry.ground == best.ground {
            guard let end = until, entry.since <= end else { continue }
            until = entry.until.map { max(end, $0) }
            if until != end { renews = entry.renews }
        }
        // Access that went on without a gap counts from its first day.
        var since = best.since
        for entry in entries.reversed()
        where entry.since < since && entry.until.map({ $0 >= since }) ?? true {
            since = entry.since
        }
        return ActiveEntitlement(
            lookupKey: best.lookupKey,
            since: since,
            until: until,
            ground: best.ground,
            purchase: best.purchase,
            evidence: best.evidence,
            offer: best.offer,
            willRenew: until == nil || best.ground == .grant || best.ground == .grace
                ? nil : renews
        )
    }

    /// The first instant after `instant` at which some answer may differ.
    public func nextChange(after instant: Instant) -> Instant? {
        var next: Instant?
        for entry in entries {
            if entry.since > instant { next = earlier(next, entry.since) }
            if let until = entry.until, until > instant { next = earlier(next, until) }
        }
        return next
    }
}

extension Ground {
    /// Of two grounds for the same span, the firmer one is named.
    var firmness: Int {
        switch self {
        case .payment: 5
        case .family: 4
        case .grant: 3
        case .status: 2
        case .grace: 1
        case .renewal: 0
        }
    }
}

/// One thing a customer may use now, and why.
public struct ActiveEntitlement: Hashable, Sendable {
    public var lookupKey: String
    /// Since when without a gap.
    public var since: Instant
    /// Half-open; `nil`: for ever.
    public var until: Instant?
    public var ground: Ground
    public var purchase: Purchase.Key
    /// The period or object of the purchase that it rests on.
    public var evidence: String
    /// The offer by which the period was bought.
    public var offer: OfferKind?
    /// Whether it will be paid again by itself before access ends.
    ///
    /// `nil` where nothing ends or nothing was bought, where a failed payment decides, and until the
    /// store has said.
    public var willRenew: Bool?
}
