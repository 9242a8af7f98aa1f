internal import Storage
internal import Stores
internal import TollgateAPI
internal import TollgateCore
internal import TollgateService

/// What the export promises, beside what customers have here.
struct RevenueCatComparison {
    let tollgate: Tollgate

    /// The purchases that are active by the export and unlock nothing here.
    func differences(
        in purchases: [RevenueCatRow],
        _ prolong: () async throws -> Void,
        _ progress: WorkProgress.Report
    ) async throws -> [RevenueCatImport.Difference] {
        struct Customer: Hashable {
            var user: String
            var environment: StoreEnvironment
        }
        let now = await tollgate.context.clocks.now()
        let catalog = tollgate.context.records.history.current
        var held: [Customer: Set<String>] = [:]
        var differences: [RevenueCatImport.Difference] = []
        for (number, row) in purchases.enumerated() where row.isActive(at: now) {
            try await prolong()
            progress(WorkProgress(step: "comparison", done: number + 1, of: purchases.count))
            let promised = row.product(in: catalog)?.entitlements ?? row.promised
            guard let user = row.user, !promised.isEmpty else { continue }
            let customer = Customer(user: user, environment: row.environment)
            if held[customer] == nil {
                held[customer] = try await keys(of: user, in: row.environment)
            }
            guard held[customer]?.isDisjoint(with: promised) ?? true else { continue }
            differences.append(
                RevenueCatImport.Difference(
                    line: row.line,
                    appUserID: user,
                    store: row.store.word,
                    product: row.product,
                    until: row.ends?.milliseconds,
                    lacking: promised
                )
            )
        }
        return differences
    }

    /// The entitlements that a user has here; none where nobody has this id.
    private func keys(
        of user: String,
        in environment: StoreEnvironment
    ) async throws -> Set<String> {
        do {
            let list = try await tollgate.entitlements.active(of: user, in: environment)
            return Set(list.data.map(\.lookupKey))
        } catch let refusal as Refusal where refusal.status == 404 {
            return []
        }
    }
}
