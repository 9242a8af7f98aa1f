import SecondOpinion
import Storage
import Stores
import TollgateAPI
import TollgateCore
import TollgateService

extension Tollgate {
    /// Adds the second opinion on an answer, from the stores' own words in the journal.
    ///
    /// Where it finds the evidence open either way, it objects to nothing.
    ///
    /// - Parameters:
    ///   - customer: the `app_user_id`.
    ///   - instant: the one that the answer is about.
    func addSecondOpinion(
        on customer: String,
        in environment: StoreEnvironment,
        at instant: Instant,
        to answer: inout ScenarioAnswer
    ) async throws {
        let check = AccessCheck(store, history: store.history, at: instant)
        let id = Customer.ID(try await directory.customer(customer).id)
        let opinion = try await check.judge(id, in: environment)
        answer.objections += opinion.findings.map { finding in
            "second opinion: \(finding.kind.rawValue) \(finding.lookupKey): "
                + "\(finding.opinion); the server: \(finding.answer)"
        }
        for verdict in opinion.verdicts.values {
            switch verdict {
            case .yes: answer.verdicts.yes += 1
            case .no: answer.verdicts.no += 1
            case .open: answer.verdicts.open += 1
            }
        }
    }
}
