internal import Storage
internal import Stores
public import TollgateAPI
internal import TollgateCore

extension Customers {
    /// Forgets who a customer is: profile, sessions, and the bodies of all that was stated of them
    /// and of their purchases.
    ///
    /// What was paid and spent stays in the books under an id that leads to nobody (RULES §11).
    /// Nothing is cancelled in a store. It is one write, so a crash leaves all of it or nothing.
    ///
    /// - Throws: refusals 404 `resource_missing`, 410 `customer_erased`.
    public func erase(_ id: String) async throws -> API.ErasedCustomer {
        let customer = Customer.ID(try await directory.customer(id).id)
        _ = try await records.submit(
            JournalItem(
                dedupeKey: RowKey("erase", customer.rawValue),
                subject: RecordStore.subject(of: customer),
                kind: .command,
                stated: await clocks.now(),
                content: .erase(customer)
            )
        )
        return API.ErasedCustomer(id: customer.rawValue)
    }
}

extension Refusal {
    /// 410: there was such a customer.
    static func erased(_ param: String) -> Refusal {
        Refusal(
            410,
            .invalidRequestError,
            .customerErased,
            "This customer was erased.",
            param: param
        )
    }
}
