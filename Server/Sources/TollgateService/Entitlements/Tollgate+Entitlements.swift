internal import Foundation
internal import Storage
internal import Stores
internal import StripeConnector
public import TollgateAPI
public import TollgateCore

extension Tollgate {
    /// What `customer` may use at `instant`.
    ///
    /// - Parameters:
    ///   - instant: `nil`: now, by the stores' clock.
    ///   - signed: whether the answer carries a token that a device can trust offline.
    public func entitlements(
        of customer: String,
        in environment: StoreEnvironment? = nil,
        at instant: Instant? = nil,
        signed: Bool = false
    ) async throws -> API.EntitlementList {
        let environment = environment ?? configuration.defaultEnvironment
        let (id, reading) = try await reading(of: customer, in: environment)
        let now = await clocks.now()
        return try list(reading, of: id, in: environment, at: instant ?? now, now, signed: signed)
    }

    /// What `customer` may use now, without suspension, where that is possible: for a customer by
    /// our own id who bought something.
    ///
    /// `nil`: ask `entitlements`, which answers everything.
    public func entitlementsAtOnce(
        of customer: String,
        in environment: StoreEnvironment? = nil,
        signed: Bool = false
    ) throws -> API.EntitlementList? {
        let environment = environment ?? configuration.defaultEnvironment
        let id = Customer.ID(customer)
        guard let now = clocks.nowAtOnce?(),
            let reading = try store.readingAtOnce(of: id, in: environment),
            reading.sequence > 0, !reading.isErased
        else { return nil }
        return try list(reading, of: id, in: environment, at: now, now, signed: signed)
    }

    private func list(
        _ reading: CustomerReading,
        of id: Customer.ID,
        in environment: StoreEnvironment,
        at: Instant,
        _ now: Instant,
        signed: Bool
    ) throws -> API.EntitlementList {
        let catalog = store.history.current
        let data = reading.timeline.active(at: at).map { entitlement in
            API.Entitlement(
                id: "ent_\(entitlement.lookupKey)",
                lookupKey: entitlement.lookupKey,
                feature: catalog.entitlement(lookupKey: entitlement.lookupKey)?.name
                    ?? entitlement.lookupKey,
                since: entitlement.since.milliseconds,
                until: entitlement.until?.milliseconds,
                ground: API.Ground(rawValue: entitlement.ground.rawValue),
                purchase: entitlement.purchase.canonical
            )
        }
        var list = API.EntitlementList(
            data: data,
            environment: API.Environment(rawValue: environment.rawValue),
            at: at.milliseconds
        )
        if signed {
            list.signedAnswer = try sign(reading.timeline, of: id, in: environment, at: now)
        }
        return list
    }

    /// The row of a customer by id, else by `app_user_id`.
    ///
    /// One read where the id is ours.
    private func reading(
        of customer: String,
        in environment: StoreEnvironment
    ) async throws -> (Customer.ID, CustomerReading) {
        let id = Customer.ID(customer)
        let reading = try await store.reading(of: id, in: environment)
        if reading.isErased { throw Refusal.erased("id") }
        if reading.sequence > 0 { return (id, reading) }
        let known = Customer.ID(try await self.customer(customer).id)
        return (known, known == id ? reading : try await store.reading(of: known, in: environment))
    }

    private func sign(
        _ timeline: Timeline,
        of customer: Customer.ID,
        in environment: StoreEnvironment,
        at now: Instant
    ) throws -> String {
        // What has ended does not concern a device; what is to come does.
        var intervals: [String: [API.SignedAnswer.Interval]] = [:]
        for entry in timeline.entries where entry.until.map({ $0 > now }) ?? true {
            intervals[entry.lookupKey, default: []].append(
                API.SignedAnswer.Interval(
                    since: entry.since.milliseconds,
                    until: entry.until?.milliseconds,
                    ground: API.Ground(rawValue: entry.ground.rawValue)
                )
            )
        }
        let real = clocks.wall()
        let wall = real.milliseconds / 1000
        return try signer.sign(
            API.SignedAnswer(
                sub: customer.rawValue,
                aud: "tollgate",
                environment: API.Environment(rawValue: environment.rawValue),
                iat: wall,
                exp: wall + Self.answerLifetime,
                at: now.milliseconds,
                entitlements: intervals
            ),
            at: real
        )
    }

    /// Why `customer` may, or may not, use `lookupKey`.
    ///
    /// - Parameters:
    ///   - instant: `nil`: now.
    ///   - known: only what the journal held up to this row; `nil`: all.
    public func explain(
        _ lookupKey: String,
        for customer: String,
        in environment: StoreEnvironment? = nil,
        at instant: Instant? = nil,
        known: Int64? = nil
    ) async throws -> API.Explanation {
        let environment = environment ?? configuration.defaultEnvironment
        let id = Customer.ID(try await self.customer(customer).id)
        var at = instant
        if at == nil { at = await clocks.now() }
        let explanation = Explanation(
            of: lookupKey,
            at: at ?? Instant(milliseconds: 0),
            purchases: try await store.purchases(of: id, in: environment, known: known),
            in: store.history
        )
        var answer = API.Explanation(explanation, customer: id, environment: environment)
        if let opinion = try await stripe.opinions.opinion(on: lookupKey, of: id, in: environment) {
            answer.facts.append(opinion)
        }
        return answer
    }

    /// Grants `lookupKey` without a purchase, once per idempotency key.
    ///
    /// - Throws: a refusal 409 `idempotency_mismatch`.
    public func grant(
        _ request: API.GrantRequest,
        to customer: String,
        in environment: StoreEnvironment? = nil,
        idempotencyKey: String?
    ) async throws -> API.Grant {
        guard store.history.current.entitlement(lookupKey: request.lookupKey) != nil else {
            throw Refusal.invalid(
                "lookup_key",
                "The catalog has no entitlement '\(request.lookupKey.prefix(80))'."
            )
        }
        let now = await clocks.now()
        if let until = request.until, until <= now.milliseconds {
            throw Refusal.invalid("until", "until lies in the past.")
        }
        let id = Customer.ID(try await self.customer(customer).id)
        let grantID =
            idempotencyKey.map { "grant_\(RowKey("grant", id.rawValue, $0).hex)" }
            ?? newID("grant_")
        let key = Purchase.Key(
            store: .tollgate,
            environment: environment ?? configuration.defaultEnvironment,
            application: "-",
            id: grantID
        )
        let grant = StaffGrant(
            customer: id,
            lookupKey: request.lookupKey,
            since: now,
            until: request.until.map { Instant(milliseconds: $0) }
        )
        let outcome = try await store.submit(
            JournalItem(
                dedupeKey: RowKey("grant", key.canonical),
                subject: RecordStore.subject(of: key),
                kind: .command,
                stated: now,
                content: .facts([
                    Fact(
                        purchase: key,
                        source: grantID,
                        stated: Stated(now),
                        statement: .grant(grant)
                    )
                ])
            )
        )
        guard case .duplicate = outcome else { return answer(grant, id: grantID) }
        let records = try await store.purchases(of: id, in: key.environment)
        guard let first = records.first(where: { $0.record.key == key })?.record.grant?.value,
            first.lookupKey == grant.lookupKey, first.until == grant.until
        else {
            throw Refusal(
                409,
                .idempotencyError,
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
}

extension API.Explanation {
    init(_ explanation: Explanation, customer: Customer.ID, environment: StoreEnvironment) {
        self.init(
            customer: customer.rawValue,
            environment: API.Environment(rawValue: environment.rawValue),
            lookupKey: explanation.lookupKey,
            at: explanation.at.milliseconds,
            entitled: explanation.isEntitled,
            ground: explanation.answer.map { API.Ground(rawValue: $0.ground.rawValue) },
            facts: explanation.facts.map { line in
                Fact(
                    id: line.source,
                    store: API.Store(rawValue: line.purchase.store.rawValue),
                    kind: line.kind,
                    stated: line.stated.milliseconds,
                    summary: line.summary,
                    decides: line.decides
                )
            },
            wouldChange: explanation.wouldChange.map { Change(summary: $0) }
        )
    }
}
