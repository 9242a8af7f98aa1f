internal import Stores
internal import TollgateAPI
internal import TollgateCore
internal import TollgateService

/// Grants of RevenueCat's, which become grants here only if that was asked for.
struct RevenueCatGrants: Sendable {
    let tollgate: Tollgate
    let isAskedFor: Bool
    let register: @Sendable (API.CreateCustomerRequest) async throws -> API.Customer

    /// Makes the grant that RevenueCat made, if that was asked for.
    ///
    /// The transaction's id is the key of the request, so repeating it makes no second one.
    func give(
        _ row: RevenueCatRow,
        to request: API.CreateCustomerRequest
    ) async throws -> RevenueCatStores.Outcome {
        let now = await tollgate.context.clocks.now()
        guard row.isActive(at: now) else { return .ended }
        let keys = row.promised
        guard !keys.isEmpty else {
            return .unmatched(
                "RevenueCat's grant ‘\(row.product)’ names no entitlement; grant it in the dashboard"
            )
        }
        // A grant for life ends there in two hundred years.
        let until = row.ends.flatMap { $0 < now.advanced(by: 36_500 * 86_400_000) ? $0 : nil }
        guard isAskedFor else {
            let end = until.map { "until \($0)" } ?? "for ever"
            return .unmatched(
                "RevenueCat granted \(keys.joined(separator: ", ")) \(end); run the import with --grants, or grant it in the dashboard"
            )
        }
        do {
            let customer = try await register(request)
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
        "monthly", "yearly", "lifetime",
    ]
}
