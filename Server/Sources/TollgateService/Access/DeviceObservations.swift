internal import SecondOpinion
package import Storage
package import Stores
package import TollgateAPI
package import TollgateCore

/// What devices hold although they are answered with no.
package struct DeviceObservations: Sendable {
    let records: RecordStore
    let clocks: Clocks
    /// Takes in what a device holds, and names the purchase.
    let observe: Observe
    /// How often a customer may tell what StoreKit holds.
    let limit: CallLimit
    let counters: Counters

    /// - Parameter signed: what the store has signed.
    package typealias Observe =
        @Sendable (
            _ signed: String, _ customer: Customer.ID
        ) async throws -> Purchase.Key?

    package init(
        records: RecordStore,
        clocks: Clocks,
        observe: @escaping Observe,
        limit: CallLimit,
        counters: Counters
    ) {
        (self.records, self.clocks, self.observe) = (records, clocks, observe)
        (self.limit, self.counters) = (limit, counters)
    }

    /// A device holds purchases that StoreKit has verified, and is answered with no.
    ///
    /// They are taken in as `observed`. What is answered with no all the same is kept with its cause,
    /// for people to look at before the customer writes.
    ///
    /// - Returns: which of the lookup keys the customer has now.
    /// - Throws: refusals 400 `parameter_invalid`, 429 `rate_limited`; as a posted transaction.
    package func settle(
        _ observation: API.AppStoreObservation,
        for session: CustomerSession
    ) async throws -> API.AppStoreObservationReply {
        guard (1...10).contains(observation.signedTransactions.count) else {
            throw Refusal.invalid("signed_transactions", "1 to 10 signed transactions.")
        }
        let catalog = records.history.current
        let lookupKeys = Set(observation.lookupKeys).sorted()
        guard (1...20).contains(lookupKeys.count),
            lookupKeys.allSatisfy({ catalog.entitlement(lookupKey: $0) != nil })
        else { throw Refusal.invalid("lookup_keys", "1 to 20 entitlements of the catalog.") }
        try limit.admit(session.customer.rawValue, at: clocks.wall())
        let now = await clocks.now()
        var purchases: [String] = []
        for signed in observation.signedTransactions {
            if let key = try await observe(signed, session.customer) {
                purchases.append(key.canonical)
            }
        }
        let has = try await records.reading(of: session.customer, in: session.environment)
            .timeline.active(at: now).map(\.lookupKey)
        let denied = lookupKeys.filter { !has.contains($0) }
        let check = AccessCheck(
            records,
            history: try await records.figures.currentHistory(),
            at: now
        )
        let opinion = try await check.judge(
            session.customer,
            in: session.environment,
            and: purchases,
            denied: denied
        )
        for finding in opinion.findings
        where denied.contains(finding.lookupKey) && finding.kind != .letIn {
            try await records.evidence.keep(finding, now: clocks.wall())
        }
        counters.count(
            "tollgate_device_observations_total",
            "outcome=\"\(denied.isEmpty ? "settled" : "denied")\""
        )
        return API.AppStoreObservationReply(entitled: lookupKeys.filter { has.contains($0) })
    }
}
