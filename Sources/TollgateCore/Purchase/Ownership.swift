/// The claims and the assignment that decide a purchase's owner, beside the store's own names
/// (RULES §8).
struct Ownership {
    var key: Purchase.Key
    var claims: [ClaimRecord]
    var assignment: Newest<Assignment>?

    /// Who owns an epoch: staff's word, else the token and the claims by policy.
    func owners(of epoch: Epoch, policy: Catalog.Ownership) -> [HolderNames] {
        owners(token: epoch.token, since: epoch.isFirst ? nil : epoch.start, policy: policy)
    }

    /// Who owns a stretch of a purchase.
    ///
    /// - Parameters:
    ///   - token: the store's name for who bought.
    ///   - start: since when restores are about it; `nil`: nothing came before it.
    func owners(
        token: String?,
        since start: Instant?,
        policy: Catalog.Ownership
    ) -> [HolderNames] {
        if let assignment { return [[.customer(assignment.value.customer)]] }
        let token = token.map { Holder.name(ofToken: $0) }
        switch policy {
        case .keep:
            return [[token ?? earliestClaim ?? .unclaimed(key)]]
        case .transfer:
            return [[latestRestore(since: start) ?? token ?? earliestClaim ?? .unclaimed(key)]]
        case .share:
            let claimed = claims.filter { $0.earliest != nil }.map { Holder.customer($0.customer) }
            let all = (token.map { [$0] } ?? []) + claimed
            return all.isEmpty
                ? [[earliestClaim ?? .unclaimed(key)]] : all.map { [$0] }
        }
    }

    /// Whom the App Store has to be told to name under the policy `transfer`.
    func ownerToName(in epochs: [Epoch], at instant: Instant) -> Customer.ID? {
        guard let epoch = epochs.last(where: { $0.start <= instant }) ?? epochs.first,
            case .customer(let customer)? = owners(of: epoch, policy: .transfer).first?.first
        else { return nil }
        return customer
    }

    /// Whom the coins of an epoch are posted to: who bought them, by whatever policy, since a
    /// posted lot never follows a restore (RULES §8).
    func buyer(of epoch: Epoch) -> HolderNames { buyer(token: epoch.token) }

    func buyer(token: String?) -> HolderNames {
        if let assignment { return [.customer(assignment.value.customer)] }
        return [token.map { .name(ofToken: $0) } ?? earliestClaim ?? .unclaimed(key)]
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
    private func latestRestore(since start: Instant?) -> Holder? {
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
