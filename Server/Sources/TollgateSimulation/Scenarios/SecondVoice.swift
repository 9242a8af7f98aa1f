import SecondOpinion
import Storage
import TollgateAPI
import TollgateCore
import TollgateService

extension Tollgate {
    /// The second opinion's objections to an answer, from the stores' own words in the journal.
    ///
    /// Where it finds the evidence open either way, it objects to nothing.
    ///
    /// - Parameters:
    ///   - customer: the `app_user_id`.
    ///   - instant: what the answer is about.
    func secondOpinion(
        on customer: String,
        in environment: StoreEnvironment,
        at instant: Instant
    ) async throws -> [String] {
        let check = AccessCheck(store, history: store.history, at: instant)
        return try await check.findings(
            of: Customer.ID(try await directory.customer(customer).id),
            in: environment
        )
        .map { finding in
            "second opinion: \(finding.kind.rawValue) \(finding.lookupKey): "
                + "\(finding.opinion); the server: \(finding.answer)"
        }
    }
}
