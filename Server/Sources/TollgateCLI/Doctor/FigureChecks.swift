// SPDX-License-Identifier: Apache-2.0
import AsyncHTTPClient
import CommandOutput
import Foundation
import TollgateCore
import TollgateService

/// Figures that somebody should look at: differences from the stores' reports, refunds, churn.
struct FigureChecks {
    let settings: ServeSettings
    let database: DoctorDatabase

    /// Of fewer payments or subscriptions a share says nothing.
    private static let fewest: Int64 = 20

    private static let differencesCheck = "figures.differences"
    private static let refundsCheck = "figures.refunds"
    private static let churnCheck = "figures.churn"

    func all(over client: HTTPClient) async -> [Finding] {
        let environment = settings.configuration.defaultEnvironment
        let now = await settings.clock.now(over: client)()
        let bounds = settings.alerts?.bounds
        let judged: [String] =
            (bounds?.refundPercent == nil ? [] : [Self.refundsCheck])
            + (bounds?.churnPercent == nil ? [] : [Self.churnCheck])
        do {
            return try await database.read { records -> [Finding] in
                var findings = [
                    differences(try await Accounts.unexplained(in: environment, of: records))
                ]
                guard try await !FigureDerivation.isIncomplete(in: records) else {
                    return findings
                        + judged.map {
                            Finding.undecided(
                                $0,
                                "The figures of reports are being derived; ask again later."
                            )
                        }
                }
                let shares = RecentShares(records, in: environment, at: now)
                if let bound = bounds?.refundPercent {
                    findings.append(refunds(try await shares.refunds(), bound))
                }
                if let bound = bounds?.churnPercent {
                    findings.append(churn(try await shares.churn(), bound))
                }
                return findings
            }
        } catch {
            // Beside a server the database's own check says what is the matter.
            guard case .ofServer = database else { return [] }
            let failure = Finding.failed(
                "figures",
                "The figures could not be read: \(PlainWords.of(error))",
                "If it stays so, look at the database and the server's log."
            )
            return [failure]
                + ([Self.differencesCheck] + judged).map {
                    Finding.undecided($0, "The figures could not be read.")
                }
        }
    }

    private func differences(_ count: Int?) -> Finding {
        let check = Self.differencesCheck
        switch count {
        // An earlier version may have kept its own in another form.
        case nil: return .undecided(check, "No report of a store has been compared yet.")
        case 0?: return .ok(check, "Every difference from the stores' reports is explained.")
        case let count?:
            return .failed(
                check,
                "Sales and refunds that differ from the stores' reports, and nobody can say why: \(count).",
                "tollgate report reconciliation lists them, and so does the dashboard's page Reconciliation."
            )
        }
    }

    private func refunds(_ share: FigureShare, _ bound: Int64) -> Finding {
        judge(
            share,
            bound,
            Self.refundsCheck,
            "\(share.part) refunds beside \(share.whole) payments in the last seven days (\(percent(share)))",
            "tollgate report refunds --group product shows of what; the dashboard shows of whom."
        )
    }

    private func churn(_ share: FigureShare, _ bound: Int64) -> Finding {
        judge(
            share,
            bound,
            Self.churnCheck,
            "\(share.part) of \(share.whole) subscriptions ended in the last thirty days (\(percent(share)))",
            "tollgate report churn --group product shows which; tollgate report events shows why."
        )
    }

    private func judge(
        _ share: FigureShare,
        _ bound: Int64,
        _ check: String,
        _ sentence: Sentence,
        _ remedy: Sentence
    ) -> Finding {
        var sentence = sentence
        guard share.whole >= Self.fewest else {
            sentence += ": too few to judge."
            return .skipped(check, sentence)
        }
        guard share.percent >= Double(bound) else {
            sentence += "."
            return .ok(check, sentence)
        }
        sentence += ", at or above \(bound) %."
        return .failed(check, sentence, remedy)
    }

    private func percent(_ share: FigureShare) -> String {
        String(format: "%.1f %%", share.percent)
    }
}
