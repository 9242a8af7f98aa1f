internal import Storage
internal import Stores
public import TollgateAPI
internal import TollgateCore

/// What staff decide about purchases.
public struct Purchases: Sendable {
    let records: RecordStore
    let clocks: Clocks
    let directory: CustomerDirectory

    /// Staff decide whose a purchase is: this comes before every policy (RULES §8).
    ///
    /// - Throws: refusals 400 `parameter_invalid`, 404 `resource_missing`.
    public func assign(
        _ request: API.PurchaseAssignment,
        to customer: String
    ) async throws -> API.PurchaseAssignment {
        guard let key = Purchase.Key(canonical: request.purchase) else {
            throw Refusal.invalid(
                "purchase",
                "A purchase is named as entitlements name it: app_store/production/com.example.app/2000000001."
            )
        }
        let id = Customer.ID(try await directory.customer(customer).id)
        guard let record = try await records.record(of: key) else {
            throw Refusal.missing("purchase", request.purchase, param: "purchase")
        }
        let answer = API.PurchaseAssignment(purchase: key.canonical, customer: id.rawValue)
        guard record.assignment?.value.customer != id else { return answer }
        let stated = await clocks.later(than: record.assignment?.stated.instant)
        try await records.journal(
            Fact(
                purchase: key,
                source: "assignment:\(id)",
                stated: Stated(stated),
                statement: .assignment(Assignment(customer: id))
            ),
            dedupeKey: RowKey("assignment", key.canonical, "\(stated.milliseconds)")
        )
        return answer
    }
}
