internal import StripeConnector
public import Stores
public import Storage
public import TollgateAPI
public import TollgateCore

/// Why customers may, or may not, use something.
public struct Explanations: Sendable {
    let records: RecordStore
    let clocks: Clocks
    let directory: CustomerDirectory
    let defaultEnvironment: StoreEnvironment

    public init(records: RecordStore, clocks: Clocks, defaultEnvironment: StoreEnvironment) {
        self.records = records
        self.clocks = clocks
        directory = CustomerDirectory(records: records)
        self.defaultEnvironment = defaultEnvironment
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
        let environment = environment ?? defaultEnvironment
        let id = Customer.ID(try await directory.customer(customer).id)
        var at = instant
        if at == nil { at = await clocks.now() }
        let explanation = Explanation(
            of: lookupKey,
            at: at ?? Instant(milliseconds: 0),
            purchases: try await records.purchases(of: id, in: environment, known: known),
            in: records.history
        )
        var answer = API.Explanation(explanation, customer: id, environment: environment)
        if let opinion = try await records.stripeOpinion(on: lookupKey, of: id, in: environment) {
            answer.facts.append(opinion)
        }
        return answer
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
