import CommandOutput
import ArgumentParser
import Foundation
import Reports
import Storage
import TollgateCore
import TollgateService

/// `tollgate report reconciliation|payments|payouts|statement`: what accounts need.
enum FinanceReport: String, CaseIterable {
    case reconciliation, payments, payouts, statement

    var title: String {
        switch self {
        case .reconciliation: "Reconciliation"
        case .payments: "Payments"
        case .payouts: "Payouts"
        case .statement: "Statement"
        }
    }

    var summary: String {
        switch self {
        case .reconciliation: "differences between the record and the stores' reports, and why"
        case .payments: "every payment with tax, commission and what is paid out"
        case .payouts: "what the stores have sent to the bank, or will"
        case .statement: "a calendar month: that of --to, else the last one that is over"
        }
    }

    /// - Throws: `CheckFailed` where a reconciliation finds what nobody can explain.
    func run(_ command: ReportCommand) async throws {
        let format: ReportCommand.Format = command.json ? .json : command.format
        guard ![.svg, .apple].contains(format) else {
            throw ValidationError("\(rawValue) is written as table, csv, tsv or json.")
        }
        let selection = try ReportSelection(
            from: command.from,
            to: command.to,
            filters: Reports.Filters(app: self == .payments ? command.only.app : nil),
            environment: command.environment
        )
        let (told, asOf) = try await FiguresReading.run(
            database: command.database,
            json: format != .table
        ) { tollgate in
            let range = await selection.range(tollgate)
            let told = try await self.answer(
                tollgate,
                range.lowerBound,
                range.upperBound,
                selection
            )
            return (told, try await AsOf(tollgate))
        }
        asOf.tell(withSentence: format != .table)
        switch format {
        case .json: try Terminal.sayJSON(told.value)
        case .csv: try Terminal.put(Data(told.sheet.csv.utf8))
        case .tsv: try Terminal.put(Data(told.sheet.tsv.utf8))
        default:
            try Terminal.put(Data("\(told.text)\nNote: \(asOf.sentence)\n".utf8))
        }
        guard told.unexplained == 0 else {
            throw CheckFailed(message: "\(told.unexplained) differences that nobody can explain.")
        }
    }

    private struct Answer: Sendable {
        var value: any Encodable & Sendable
        var sheet: Finance.Sheet
        var text: String
        var unexplained = 0
    }

    private func answer(
        _ tollgate: Tollgate,
        _ first: Finance.Day,
        _ last: Finance.Day,
        _ selection: ReportSelection
    ) async throws -> Answer {
        let environment = selection.environment
        switch self {
        case .reconciliation:
            let found = try await tollgate.accounts.reconciliation(
                from: first,
                to: last,
                in: environment
            )
            var text = found.coverage.map { coverage in
                let days =
                    coverage.first.map { "\($0) to \(coverage.last.map { "\($0)" } ?? "")" }
                    ?? "no reports"
                return
                    "\(coverage.source): \(days), \(coverage.matched) found, \(coverage.pending) not reported yet\n"
            }.joined()
            text += found.reissues.map { "\($0.text)\n" }.joined()
            text +=
                found.differences.isEmpty
                ? "\nNo differences.\n" : "\n\(found.summarySheet.text)\n\(found.sheet.text)"
            return Answer(
                value: found,
                sheet: found.sheet,
                text: text,
                unexplained: found.differences.count { !$0.reason.isExplained }
            )
        case .payments:
            let payments = try await tollgate.accounts
                .payments(from: first, to: last, of: selection.filters.app, in: environment)
            let hasApps = tollgate.store.history.current.hasSeveralApps
            let sheet = Finance.Payment.sheet(payments, apps: hasApps)
            return Answer(value: payments, sheet: sheet, text: sheet.text)
        case .payouts:
            let payouts = try await tollgate.accounts.payouts(
                from: first,
                to: last,
                in: environment
            )
            let sheet = Finance.Payout.sheet(payouts)
            return Answer(value: payouts, sheet: sheet, text: sheet.text)
        case .statement:
            let month = selection.to == nil ? last.advanced(by: -last.civil.day) : last
            let statement = try await tollgate.accounts.statement(month: month, in: environment)
            return Answer(value: statement, sheet: statement.sheet, text: statement.sheet.text)
        }
    }
}
