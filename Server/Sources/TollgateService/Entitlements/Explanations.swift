package import Stores
package import Storage
public import TollgateAPI
public import TollgateCore

/// Why customers may, or may not, use something.
public struct Explanations: Sendable {
    let records: RecordStore
    let clocks: Clocks
    let directory: CustomerDirectory
    let defaultEnvironment: StoreEnvironment
    let opinion: Opinion

    /// What a store itself says of an entitlement, as one more line; `nil`: nothing.
    package typealias Opinion =
        @Sendable (
            _ lookupKey: String, _ customer: Customer.ID, _ environment: StoreEnvironment
        ) async throws -> Explanation.Opinion?

    package init(
        records: RecordStore,
        clocks: Clocks,
        defaultEnvironment: StoreEnvironment,
        opinion: @escaping Opinion
    ) {
        self.records = records
        self.clocks = clocks
        directory = CustomerDirectory(records: records)
        self.defaultEnvironment = defaultEnvironment
        self.opinion = opinion
    }

    /// The reasons of an answer, in sentences that keep their parts.
    public struct Reasons: Sendable {
        public var explanation: Explanation
        public var opinion: Explanation.Opinion?
        fileprivate var customer: Customer.ID
        fileprivate var environment: StoreEnvironment
    }

    /// Why `customer` may, or may not, use `lookupKey`, in English.
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
        API.Explanation(
            try await reasons(lookupKey, for: customer, in: environment, at: instant, known: known)
        )
    }

    /// Why `customer` may, or may not, use `lookupKey`; the parameters are those of `explain`.
    public func reasons(
        _ lookupKey: String,
        for customer: String,
        in environment: StoreEnvironment? = nil,
        at instant: Instant? = nil,
        known: Int64? = nil
    ) async throws -> Reasons {
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
        return Reasons(
            explanation: explanation,
            opinion: try await opinion(lookupKey, id, environment),
            customer: id,
            environment: environment
        )
    }
}

extension API.Explanation {
    fileprivate init(_ reasons: Explanations.Reasons) {
        let explanation = reasons.explanation
        self.init(
            customer: reasons.customer.rawValue,
            environment: API.Environment(rawValue: reasons.environment.rawValue),
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
        if let opinion = reasons.opinion {
            facts.append(
                Fact(
                    id: opinion.source,
                    store: API.Store(rawValue: opinion.store.rawValue),
                    kind: Explanation.Opinion.kind,
                    stated: opinion.stated.milliseconds,
                    summary: opinion.sentence.text,
                    decides: false
                )
            )
        }
    }
}
