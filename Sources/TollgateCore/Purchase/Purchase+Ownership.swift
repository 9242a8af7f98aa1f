/// A stretch of a purchase with one owner (RULES §8).
struct Epoch {
    var token: String?
    /// At least one.
    var periods: [PeriodRecord]

    var start: Instant { periods[0].period.start }

    func contains(_ record: PeriodRecord) -> Bool {
        periods.contains { $0.period.id == record.period.id }
    }
}

extension Purchase {
    /// The App Store's periods in order, cut where a different `appAccountToken` begins.
    ///
    /// A missing token inherits its predecessor's, also that of the purchase that this one
    /// continues; the first token after periods without any begins an epoch too, or their owner
    /// would depend on what was bought later.
    var epochs: [Epoch] {
        var epochs: [Epoch] = []
        for record in orderedPeriods {
            let token = record.period.token ?? inheritedToken(at: record.period.start)
            if !epochs.isEmpty, token == nil || token == epochs.last?.token {
                epochs[epochs.count - 1].periods.append(record)
            } else {
                epochs.append(Epoch(token: token, periods: [record]))
            }
        }
        return epochs
    }

    /// The token of the purchase that this one begins to continue at `start`.
    private func inheritedToken(at start: Instant) -> String? {
        predecessors?.first { $0.since == start }?.token
    }

    /// The token that holds at an instant.
    func token(at instant: Instant) -> String? {
        epochs.last { $0.start <= instant }?.token
    }

    /// By start, then by id.
    var orderedPeriods: [PeriodRecord] {
        periods.filter { !isRepeated($0) }.sorted {
            ($0.period.start, $0.period.id) < ($1.period.start, $1.period.id)
        }
    }

    /// Who owns an epoch: staff's word, else the token and the claims by policy.
    func owners(of epoch: Epoch, policy: Catalog.Ownership) -> [HolderNames] {
        if let assignment { return [[.customer(assignment.value.customer)]] }
        let token = epoch.token.map { Holder.name(ofToken: $0) }
        switch policy {
        case .keep:
            return [[token ?? earliestClaim ?? .unclaimed(key)]]
        case .transfer:
            return [[latestRestore(in: epoch) ?? token ?? earliestClaim ?? .unclaimed(key)]]
        case .share:
            let claimed = claims.filter { $0.earliest != nil }.map { Holder.customer($0.customer) }
            let all = (token.map { [$0] } ?? []) + claimed
            return all.isEmpty
                ? [[earliestClaim ?? .unclaimed(key)]] : all.map { [$0] }
        }
    }

    /// Whom the App Store has to be told to name under the policy `transfer`: whose the purchase is by
    /// staff's word, a restore or a claim; `nil` where its own token says it.
    ///
    /// A period may be known before it begins: who restores until then is about the one before.
    public func ownerToName(at instant: Instant) -> Customer.ID? {
        let epochs = epochs
        guard let epoch = epochs.last(where: { $0.start <= instant }) ?? epochs.first,
            case .customer(let customer)? = owners(of: epoch, policy: .transfer).first?.first
        else { return nil }
        return customer
    }

    /// Whom the coins of an epoch are posted to: who bought them, by whatever policy, since a
    /// posted lot never follows a restore (RULES §8).
    func buyer(of epoch: Epoch) -> HolderNames {
        if let assignment { return [.customer(assignment.value.customer)] }
        return [epoch.token.map { .name(ofToken: $0) } ?? earliestClaim ?? .unclaimed(key)]
    }

    /// Who owns a purchase whose store names the buyer: staff's word, else the store's.
    func owner(named names: HolderNames) -> HolderNames {
        if let assignment { return [.customer(assignment.value.customer)] }
        if names.isEmpty { return [earliestClaim ?? .unclaimed(key)] }
        return names
    }

    /// The earliest real claim; if there is none, whoever saw it first.
    private var earliestClaim: Holder? {
        first(by: \.earliest) ?? first(by: \.observed)
    }

    /// A restore from before an epoch that a token opened was about the epochs before it.
    private func latestRestore(in epoch: Epoch) -> Holder? {
        let isFirst = epoch.periods[0].period.id == orderedPeriods.first?.period.id
        let start = isFirst ? nil : epoch.start
        return
            claims
            .compactMap { claim in claim.latestRestore.map { ($0, claim.customer) } }
            .filter { claim in start.map { $0 <= claim.0 } ?? true }
            .max { $0 < $1 }
            .map { .customer($0.1) }
    }

    private func first(by instant: KeyPath<ClaimRecord, Instant?>) -> Holder? {
        claims
            .compactMap { claim in claim[keyPath: instant].map { ($0, claim.customer) } }
            .min { $0 < $1 }
            .map { .customer($0.1) }
    }
}
