import ArgumentParser
import CommandOutput
import Stores
import TollgateAssembly
import Foundation
import GooglePlayConnector
import TollgateService

/// `tollgate import google-play FILE`: purchases by their tokens or order ids.
struct ImportGooglePlayCommand: DatabaseCommand {
    static let configuration = CommandConfiguration(
        commandName: "google-play",
        abstract: "Import Google Play purchases, by purchase tokens or order ids.",
        discussion: """
            One purchase a line: purchase_token,product_id,kind,app_user_id, or order_id,app_user_id. \
            A first line may name the columns, in any order, with package_name and \
            app_account_token beside these; lines of JSON have the same names. Only the token, or \
            the order id, is needed: without kind (subscription, one_time) both are tried, and \
            without app_user_id the purchase belongs to whom its account id names. Each is read \
            from Google. Consumables that were consumed are left out: whoever sold them has \
            credited them. A run that was broken off goes on where it was.
            """
    )

    @Argument(help: "The file.")
    var file: String

    @Option(help: "Reads of each kind in a minute, at most; Google allows an app 3000 in all.")
    var readsPerMinute: Int64 = 600

    @Option(help: "The catalog: what is sold and what it grants.")
    var catalog: String?

    @OptionGroup var place: DatabaseOptions

    func validate() throws {
        guard (60...3000).contains(readsPerMinute) else {
            throw ValidationError("--reads-per-minute is from 60 to 3000.")
        }
    }

    func run() async throws {
        let name = try LineReader.name(ofFile: file)
        let progress = ProgressLine(json: json)
        // What went wrong is said on a line of its own, too.
        defer { progress.end() }
        let report = try await GooglePlayWork.run(database: database, catalog: catalog) {
            tollgate in
            var reader = try LineReader(path: file)
            return try await tollgate.googlePlayImport(file: name, perMinute: readsPerMinute).run(
                next: { try reader.next() },
                progress: progress.report
            )
        }
        progress.end()
        guard let report else {
            throw CheckFailed(message: "Another process is importing this file.")
        }
        if json {
            try Terminal.sayJSON(report)
        } else {
            Terminal.say("\(report.purchases) purchases, \(report.new) with something new")
            if report.consumed > 0 {
                Terminal.say("\(report.consumed) consumed before, left out")
            }
            for line in report.unmatched {
                Terminal.say("\(file):\(line.line): \(line.reason)")
            }
        }
        let missing = report.unmatched.count + report.unmatchedNotListed
        guard missing == 0 else {
            throw CheckFailed(message: "\(missing) lines could not be brought in.")
        }
    }
}
