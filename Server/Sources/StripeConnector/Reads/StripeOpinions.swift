internal import Foundation
internal import Logging
public import Storage
internal import Stores
internal import StripeAPI
internal import TollgateAPI
public import TollgateCore

/// What Stripe said last that one customer of its own may use.
struct StripeOpinion: Codable, Hashable {
    var stripeCustomer: String
    /// Sorted.
    var lookupKeys: [String]
    /// Milliseconds.
    var at: Int64
}

/// What Stripe's own entitlements say, compared with the catalog's.
///
/// Our catalog decides: a disagreement is shown, never obeyed (RULES §5).
public struct StripeOpinions: Sendable {
    let context: StoreContext
    let reads: StripeReads

    /// Reads all that Stripe thinks a customer may use, page after page, and compares.
    ///
    /// - Returns: the lookup keys on which we disagree; empty for one whom we do not know.
    @discardableResult
    func compareEntitlements(
        ofStripeCustomer id: String,
        in environment: StoreEnvironment
    ) async throws -> [String] {
        let stripe = try reads.configured()
        var theirs: Set<String> = []
        for try await entitlement in stripe.lists.activeEntitlements(of: id) {
            theirs.insert(entitlement.lookupKey)
        }
        guard let known = try await context.records.profile(alias: .stripeCustomer(id)) else {
            return []
        }
        let now = await context.clocks.now()
        let opinion = StripeOpinion(
            stripeCustomer: id,
            lookupKeys: theirs.sorted(),
            at: now.milliseconds
        )
        try await context.records.questions.keepOpinion(
            Array(try APIJSON.encode(opinion)),
            of: known.customer,
            in: environment,
            at: now
        )
        let reading = try await context.records.reading(of: known.customer, in: environment)
        // What only another store or staff gives, Stripe cannot know of.
        let ours = Set(
            reading.timeline.active(at: now).filter { $0.purchase.store == .stripe }
                .map(\.lookupKey)
        )
        let others = Set(
            reading.timeline.active(at: now).filter { $0.purchase.store != .stripe }
                .map(\.lookupKey)
        )
        let differing = ours.symmetricDifference(theirs).subtracting(others).sorted()
        guard !differing.isEmpty else { return [] }
        context.counters.count("tollgate_entitlement_disagreements_total", "store=\"stripe\"")
        context.logger.warning(
            "Stripe's entitlements differ from the catalog's; the catalog decides",
            metadata: [
                "customer": "\(known.customer)",
                "stripe_only": "\(theirs.subtracting(ours).sorted())",
                "catalog_only": "\(ours.subtracting(theirs).sorted())",
            ]
        )
        return differing
    }
}

extension RecordStore {
    /// What Stripe said last about `lookupKey`, as one more line of an explanation; it decides
    /// nothing.
    public func stripeOpinion(
        on lookupKey: String,
        of customer: Customer.ID,
        in environment: StoreEnvironment
    ) async throws -> Explanation.Opinion? {
        guard let body = try await questions.opinion(of: customer, in: environment) else {
            return nil
        }
        let opinion = try APIJSON.decode(StripeOpinion.self, from: Data(body))
        let lists = opinion.lookupKeys.contains(lookupKey)
        return Explanation.Opinion(
            source: opinion.stripeCustomer,
            store: .stripe,
            stated: Instant(milliseconds: opinion.at),
            sentence: lists
                ? "Stripe's own entitlements list \(lookupKey)"
                : "Stripe's own entitlements do not list \(lookupKey)"
        )
    }
}
