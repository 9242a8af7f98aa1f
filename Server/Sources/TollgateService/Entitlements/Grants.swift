internal import Stores
internal import Storage
public import TollgateAPI
public import TollgateCore

/// Entitlements that staff or the app's backend give without a purchase.
public struct Grants: Sendable {
    let records: RecordStore
    let clocks: Clocks
    let random: RandomSource
    let directory: CustomerDirectory
    let defaultEnvironment: StoreEnvironment

    /// Grants `lookupKey` without a purchase, once per idempotency key.
    ///
    /// - Throws: a refusal 409 `idempotency_mismatch`.
    public func give(
        _ request: API.GrantRequest,
        to customer: String,
        in environment: StoreEnvironment? = nil,
        idempotencyKey: String?
    ) async throws -> API.Grant {
        guard records.history.current.entitlement(lookupKey: request.lookupKey) != nil else {
            throw Refusal.invalid(
                "lookup_key",
                "The catalog has no entitlement '\(request.lookupKey.prefix(80))'."
            )
        }
        let now = await clocks.now()
        if let until = request.until, until <= now.milliseconds {
            throw Refusal.invalid("until", "until lies in the past.")
        }
        let id = Customer.ID(try await directory.customer(customer).id)
        let grantID =
            idempotencyKey.map { "grant_\(RowKey("grant", id.rawValue, $0).hex)" }
            ?? random.id("grant_")
        let key = Purchase.Key(
            store: .tollgate,
            environment: environment ?? defaultEnvironment,
            application: "-",
            id: grantID
        )
        let grant = StaffGrant(
            customer: id,
            lookupKey: request.lookupKey,
            since: now,
            until: request.until.map { Instant(milliseconds: $0) }
        )
        let outcome = try await records.journal(
            Fact(purchase: key, source: grantID, stated: Stated(now), statement: .grant(grant)),
            dedupeKey: RowKey("grant", key.canonical)
        )
        guard case .duplicate = outcome else { return answer(grant, id: grantID) }
        let records = try await records.purchases(of: id, in: key.environment)
        guard let first = records.first(where: { $0.record.key == key })?.record.grant?.value,
            first.lookupKey == grant.lookupKey, first.until == grant.until
        else {
            throw Refusal.idempotency(
                .idempotencyMismatch,
                "This Idempotency-Key was used for another grant."
            )
        }
        return answer(first, id: grantID)
    }

    private func answer(_ grant: StaffGrant, id: String) -> API.Grant {
        API.Grant(
            id: id,
            customer: grant.customer.rawValue,
            lookupKey: grant.lookupKey,
            since: grant.since.milliseconds,
            until: grant.until?.milliseconds
        )
    }

    /// Ends a grant now.
    ///
    /// - Throws: refusals 404 `resource_missing`, 409 `grant_ended`.
    public func end(_ id: String, of customer: String) async throws {
        let customer = Customer.ID(try await directory.customer(customer).id)
        var record: Purchase?
        for environment in StoreEnvironment.allCases where record == nil {
            let key = Purchase.Key(
                store: .tollgate,
                environment: environment,
                application: "-",
                id: id
            )
            let found = try await records.record(of: key)
            if found?.grant?.value.customer == customer { record = found }
        }
        guard let record, let grant = record.grant else { throw Refusal.missing("grant", id) }
        let now = await clocks.now()
        let stated = await clocks.later(than: grant.stated.instant)
        guard grant.value.until.map({ $0 > now }) ?? true else {
            throw Refusal.conflict("grant_ended", "This grant has ended already.")
        }
        var ended = grant.value
        ended.until = max(now, grant.value.since)
        try await records.journal(
            Fact(
                purchase: record.key,
                source: grant.source,
                stated: Stated(stated),
                statement: .grant(ended)
            ),
            dedupeKey: RowKey("grant end", record.key.canonical, "\(stated.milliseconds)")
        )
    }
}
