import Stores
import TollgateAssembly
import AppStoreConnector
import CommandOutput
import ArgumentParser
import Foundation
import TollgateService

/// `tollgate import app-store FILE`: the customers of another system, by their legacy receipts or any
/// of their transaction ids.
struct ImportReceiptsCommand: DatabaseCommand {
    static let configuration = CommandConfiguration(
        commandName: "app-store",
        abstract: "Import App Store purchases, by a file of receipts or transaction ids.",
        discussion: """
            One customer a line: {"app_user_id":"…","receipt_data":"…"}, or with transaction_id, which \
            is any transaction of theirs. As CSV app_user_id,receipt_data; a first line may name the \
            columns, such as app_user_id,transaction_id, with bundle_id and app_account_token beside \
            these. For each one the full history is read from the App Store Server API. A run that was \
            broken off goes on where it was. Old consumables are left out: their coins were \
            credited by whoever sold them then.
            """,
        aliases: ["receipts"]
    )

    @Argument(help: "The file.")
    var file: String

    @OptionGroup var place: DatabaseOptions

    func run() async throws {
        let name = try LineReader.name(ofFile: file)
        let progress = ProgressLine(json: json)
        let report = try await WritingCommand.run(database: database) { tollgate in
            var reader = try LineReader(path: file)
            defer { progress.end() }
            return try await resumable {
                try await tollgate.receiptImport(file: name).run(
                    next: { try reader.next() },
                    progress: progress.report
                )
            }
        }
        guard let report else {
            throw CheckFailed(message: "Another process is importing this file.")
        }
        if json {
            try Terminal.sayJSON(report)
        } else {
            Terminal.say(
                "\(report.customers) customers with \(report.purchases) purchases, \(report.new) new statements"
            )
            for line in report.unmatched {
                let user = line.appUserID.map { " \($0)" } ?? ""
                Terminal.say("line \(line.line)\(user): \(line.reason)")
            }
        }
        let missing = report.unmatched.count + report.unmatchedNotListed
        guard missing == 0 else {
            throw CheckFailed(message: "\(missing) lines could not be matched.")
        }
    }
}
