internal import AppStoreConnector
internal import GooglePlayConnector
internal import Storage
internal import Stores
internal import StripeConnector
internal import TollgateAPI
internal import TollgateCore
internal import TollgateService

extension RevenueCatImport {
    private static let day: Int64 = 86_400_000

    /// Asks the store of one purchase about it.
    ///
    /// - Throws: what breaks the import off: something is out of order here or at a store.
    func outcome(of row: RevenueCatRow, _ plan: RevenueCatPlan) async throws -> Outcome {
        guard let user = row.user else { return .unmatched("it names no user") }
        // Unfinished ones were sold by apps that still finish them: their coins are credited there.
        if product(of: row)?.kind == .consumable { return .consumable }
        let request = API.CreateCustomerRequest(appUserID: user)
        switch row.store {
        case .appStore: return try await read(appStore: row, of: request, plan)
        case .playStore: return try await read(googlePlay: row, of: request)
        case .stripe: return try await read(stripe: row, of: user)
        case .promotional: return try await grant(row, to: request)
        case .other: return .unsupported
        }
    }

    /// The product of the catalog that a row names.
    ///
    /// Google's subscriptions are `subscription:base_plan`, as in RevenueCat. Of Stripe the export names
    /// the product, and the catalog its prices.
    func product(of row: RevenueCatRow) -> Catalog.Product? {
        let catalog = tollgate.context.records.history.current
        return switch row.store {
        case .appStore: catalog.product(StoreProduct(.appStore, row.product))
        case .playStore: catalog.product(StoreProduct(.googlePlay, row.product))
        case .stripe: catalog.product(StoreProduct(.stripe, row.product))
        case .promotional, .other: nil
        }
    }

    private func read(
        appStore row: RevenueCatRow,
        of request: API.CreateCustomerRequest,
        _ plan: RevenueCatPlan
    ) async throws -> Outcome {
        // One Apple account may have several users of the app: each gets what the export says is theirs.
        let outcome = try await appStore.take(
            transaction: row.original,
            of: request,
            in: row.environment,
            requiring: row.original
        ) { original, environment in
            !plan.isOthers(original, in: environment, than: request.appUserID)
        }
        switch outcome {
        case .found(let purchases, let new):
            return .brought(isNew: new > 0, alsoShown: purchases)
        case .nothingLasts: return .consumable
        case .unmatched(let reason): return .unmatched(reason)
        case .failed(let error): return .failed(error)
        }
    }

    private func read(
        googlePlay row: RevenueCatRow,
        of request: API.CreateCustomerRequest
    ) async throws -> Outcome {
        switch try await googlePlay.take(order: row.transaction, of: request) {
        case .read(let isNew): return .brought(isNew: isNew, alsoShown: [])
        case .consumed: return .consumable
        case .notShown(let reason):
            // Google shows a subscription for 60 days after its end, and no refunded purchase.
            let now = await tollgate.context.clocks.now()
            let isOver = row.isRefunded || row.isInvalid
            let hasEnded = row.ends.map { $0.advanced(by: 60 * Self.day) < now } ?? false
            return isOver || hasEnded ? .ended : .unmatched(reason)
        case .unmatched(let reason): return .unmatched(reason)
        }
    }

    /// Names the buyer at Stripe.
    ///
    /// `store_transaction_id` is the same for every period of a subscription there, and `renewal_number`
    /// tells them apart (https://www.revenuecat.com/docs/integrations/scheduled-data-exports), so it is
    /// the subscription's. Which forms there are beside `sub_…` no page says.
    private func read(stripe row: RevenueCatRow, of user: String) async throws -> Outcome {
        let ids = [row.original, row.transaction]
        let id = ids.first { $0.hasPrefix("sub_") } ?? row.transaction
        switch try await stripe.name(buyerOf: id, user) {
        case .read(let isNew): return .brought(isNew: isNew, alsoShown: [])
        case .customer: return .named
        case .unmatched(let reason): return .unmatched(reason)
        }
    }

    // MARK: - Grants

    /// Makes the grant that RevenueCat made, if that was asked for.
    ///
    /// The transaction's id is the key of the request, so repeating it makes no second one.
    private func grant(
        _ row: RevenueCatRow,
        to request: API.CreateCustomerRequest
    ) async throws -> Outcome {
        let now = await tollgate.context.clocks.now()
        guard row.isActive(at: now) else { return .ended }
        let keys = row.promised
        guard !keys.isEmpty else {
            return .unmatched(
                "RevenueCat's grant ‘\(row.product)’ names no entitlement; grant it in the dashboard"
            )
        }
        // A grant for life ends there in two hundred years.
        let until = row.ends.flatMap { $0 < now.advanced(by: 36_500 * Self.day) ? $0 : nil }
        guard options.makesGrants else {
            let end = until.map { "until \($0)" } ?? "for ever"
            return .unmatched(
                "RevenueCat granted \(keys.joined(separator: ", ")) \(end); run the import with --grants, or grant it in the dashboard"
            )
        }
        do {
            let customer = try await Self.register(request, tollgate)
            for key in keys {
                _ = try await tollgate.grants.give(
                    API.GrantRequest(lookupKey: key, until: until?.milliseconds),
                    to: customer.id,
                    in: row.environment,
                    idempotencyKey: "revenuecat \(row.transaction) \(key)"
                )
            }
            return .granted(keys: keys, until: until)
        } catch let refusal as Refusal {
            guard refusal.status < 500 else { throw refusal }
            guard refusal.status == 409 else { return .unmatched(refusal.error.message) }
            return .unmatched(
                "an earlier export had another end of this grant; change the grant in the dashboard"
            )
        }
    }

    // MARK: - Comparison

    /// The purchases that are active by the export and unlock nothing here.
    func differences(
        in purchases: [RevenueCatRow],
        _ prolong: () async throws -> Void,
        _ progress: WorkProgress.Report
    ) async throws -> [Difference] {
        struct Customer: Hashable {
            var user: String
            var environment: StoreEnvironment
        }
        let now = await tollgate.context.clocks.now()
        var held: [Customer: Set<String>] = [:]
        var differences: [Difference] = []
        for (number, row) in purchases.enumerated() where row.isActive(at: now) {
            try await prolong()
            progress(WorkProgress(step: "comparison", done: number + 1, of: purchases.count))
            let promised = product(of: row)?.entitlements ?? row.promised
            guard let user = row.user, !promised.isEmpty else { continue }
            let customer = Customer(user: user, environment: row.environment)
            if held[customer] == nil {
                held[customer] = try await keys(of: user, in: row.environment)
            }
            guard held[customer]?.isDisjoint(with: promised) ?? true else { continue }
            differences.append(
                Difference(
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

extension RevenueCatRow {
    /// The entitlements that it unlocks by the export.
    ///
    /// A grant names its own in its product too: `rc_promo_pro_monthly`
    /// (https://www.revenuecat.com/docs/api-v1, which lists the durations).
    var promised: [String] {
        guard entitlements.isEmpty, store == .promotional, product.hasPrefix(Self.promotion) else {
            return entitlements
        }
        let rest = product.dropFirst(Self.promotion.count)
        for duration in Self.durations where rest.hasSuffix("_\(duration)") {
            return [String(rest.dropLast(duration.count + 1))]
        }
        return []
    }

    private static let promotion = "rc_promo_"
    private static let durations = [
        "three_day", "two_week", "two_month", "three_month", "six_month", "daily", "weekly",
        "monthly",
        "yearly", "lifetime",
    ]
}
