/// A stretch of a purchase with one owner (RULES §8).
struct Epoch {
    var token: String?
    var periods: [PeriodRecord]
}

extension Purchase {
    /// The App Store's periods in order, cut where a different `appAccountToken` begins.
    /// A missing token inherits its predecessor's.
    var epochs: [Epoch] {
        var epochs: [Epoch] = []
        for record in orderedPeriods {
            let token = record.period.token
            if var last = epochs.last, token == nil || last.token == nil || token == last.token {
                last.token = last.token ?? token
                last.periods.append(record)
                epochs[epochs.count - 1] = last
            } else {
                epochs.append(Epoch(token: token, periods: [record]))
            }
        }
        return epochs
    }

    /// By start, then by id.
    var orderedPeriods: [PeriodRecord] {
        periods.sorted {
            ($0.period.start, $0.period.id) < ($1.period.start, $1.period.id)
        }
    }

    /// Who owns an epoch: staff's word, else the token and the claims by policy.
    func owners(of epoch: Epoch, policy: Catalog.Ownership) -> [HolderNames] {
        if let assignment { return [[.customer(assignment.value.customer)]] }
        let token = epoch.token.map { Holder.token($0) }
        switch policy {
        case .keep:
            return [[token ?? earliestClaim ?? .unclaimed(key)]]
        case .transfer:
            return [[latestRestore ?? token ?? earliestClaim ?? .unclaimed(key)]]
        case .share:
            let claimed = claims.filter { $0.earliest != nil }.map { Holder.customer($0.customer) }
            let all = (token.map { [$0] } ?? []) + claimed
            return all.isEmpty
                ? [[earliestClaim ?? .unclaimed(key)]] : all.map { [$0] }
        }
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

    private var latestRestore: Holder? {
        claims
            .compactMap { claim in claim.latestRestore.map { ($0, claim.customer) } }
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
