import ArgumentParser
import CommandOutput
import Foundation
import GooglePlayConnector
import Storage
import Stores
import TollgateAssembly
import TollgateCore
import TollgateService

/// `tollgate import revenuecat FILE`: the customers of RevenueCat, by its export of transactions.
struct ImportRevenueCatCommand: DatabaseCommand {
    static let configuration = CommandConfiguration(
        commandName: "revenuecat",
        abstract: "Import RevenueCat's customers, by its export of transactions.",
        discussion: """
            The file is a scheduled data export of version 5, 6 or 7, or of selected columns, as CSV, \
            packed with gzip or not. It says who bought what. Each purchase is then read from the App \
            Store, Google Play or Stripe. Consumables are left out: RevenueCat's customers have had \
            their coins. At the end the command lists each purchase that is active by the export and \
            unlocks nothing here. A run that was broken off goes on where it was, and repeating a \
            finished one changes nothing. Set coins_since in the catalog first if products have coins.
            """
    )

    @Argument(help: "The export: FILE.csv or FILE.csv.gz.")
    var file: String

    @Option(
        help: """
            The column with your app's user id. Without it, rc_last_seen_app_user_id_alias, or \
            rc_original_app_user_id where that is anonymous.
            """
    )
    var userColumn: String?

    @Flag(help: "Import anonymous users under RevenueCat's ids, such as $RCAnonymousID:….")
    var anonymous = false

    @Flag(help: "Import transactions of the sandbox too.")
    var sandbox = false

    @Flag(help: "Make a grant for each promotional grant that is active in the export.")
    var grants = false

    @Option(help: "A store whose rows are left out, such as play_store; may be repeated.")
    var without: [String] = []

    @Option(help: "Reads of each kind in a minute at Google Play, at most; it allows an app 3000.")
    var readsPerMinute: Int64 = 600

    @Option(help: "The catalog: what is sold and what it grants.")
    var catalog: String?

    @OptionGroup var place: DatabaseOptions

    func validate() throws {
        guard (60...3000).contains(readsPerMinute) else {
            throw ValidationError("--reads-per-minute is from 60 to 3000.")
        }
    }

    private var options: RevenueCatImport.Options {
        var options = RevenueCatImport.Options()
        options.userColumn = userColumn
        options.includesAnonymous = anonymous
        options.includesSandbox = sandbox
        options.makesGrants = grants
        options.without = Set(without)
        return options
    }

    func run() async throws {
        let name = try LineReader.name(ofFile: file)
        let progress = ProgressLine(json: json)
        // What went wrong is said on a line of its own, too.
        defer { progress.end() }
        let work = try StoreWork(database: database, catalog: catalog)
        let report = try await work.run(over: work.stores.connections) { tollgate in
            try await bringIn(to: tollgate, name, progress)
        }
        progress.end()
        guard let report else {
            throw CheckFailed(message: "Another process is importing this file.")
        }
        if json { try Terminal.sayJSON(report) } else { say(report) }
        let missing = report.unmatched.count + report.unmatchedNotListed
        let lacking = report.differences.count + report.differencesNotListed
        guard missing + lacking == 0 else {
            throw CheckFailed(
                message:
                    "\(missing) lines could not be brought in; \(lacking) purchases are active in RevenueCat and unlock nothing here."
            )
        }
    }

    private func bringIn(
        to tollgate: Tollgate,
        _ name: String,
        _ progress: ProgressLine
    ) async throws -> RevenueCatImport.Report? {
        let imported = tollgate.revenueCatImport(
            file: name,
            options: options,
            perMinute: readsPerMinute
        )
        if imported.lacksCoinsSince {
            Terminal.complain(
                "Warning: products of the catalog have coins, and coins_since is not set. Coins of purchases that the import reads are credited again. Stop, and see docs/products.md, ‘Moving with coins’."
            )
        }
        do {
            var reader = try LineReader(unpacking: file)
            return try await imported.run(next: { try reader.next() }, progress: progress.report)
        } catch let error as RevenueCatImport.UnreadableExport {
            throw CheckFailed(message: "\(file): \(error).")
        }
    }

    // MARK: - The outcome, for people

    private func say(_ report: RevenueCatImport.Report) {
        Terminal.say("\(report.rows) transactions of \(report.customers) users")
        Terminal.say("\(report.purchases) purchases read, \(report.new) with something new")
        func say(_ count: Int, _ words: String) {
            if count > 0 { Terminal.say("\(count) \(words)") }
        }
        say(
            report.named,
            "buyers named at Stripe; ‘tollgate import stripe’ brings their payments in"
        )
        say(report.grants, "grants made")
        for one in report.granted { Terminal.say("\(file):\(one.line): \(sentence(one))") }
        say(report.grants - report.granted.count, "further grants, not listed")
        say(report.consumables, "consumables, left out")
        say(report.ended, "purchases that ended long ago or were refunded, left out")
        say(report.sandbox, "transactions of the sandbox, left out")
        for (store, count) in report.leftOut.sorted(by: { $0.key < $1.key }) {
            guard count == 0 else {
                say(count, "transactions of \(store), left out as asked for")
                continue
            }
            Terminal.complain(
                "Warning: no transaction is of ‘\(store)’, which --without names. RevenueCat's words are app_store, play_store, stripe, promotional, amazon, roku, paddle and others."
            )
        }
        for (store, count) in report.unsupported.sorted(by: { $0.key < $1.key }) {
            say(count, "purchases of \(store), a store that Tollgate does not support")
        }
        say(
            report.anonymous.customers,
            "anonymous users with \(report.anonymous.rows) transactions, \(report.anonymous.active) of them active, left out: your app claims their purchases once they are signed in"
        )
        for line in report.unmatched { Terminal.say("\(file):\(line.line): \(line.reason)") }
        say(report.unmatchedNotListed, "further lines, not listed")
        for one in report.differences { Terminal.say("\(file):\(one.line): \(sentence(one))") }
        say(report.differencesNotListed, "further differences, not listed")
    }

    private func sentence(_ one: RevenueCatImport.Granted) -> String {
        let end = one.until.map { "until \(Instant(milliseconds: $0))" } ?? "without an end"
        return "\(one.appUserID) is granted \(one.keys.joined(separator: ", ")) \(end)"
    }

    private func sentence(_ one: RevenueCatImport.Difference) -> String {
        let end = one.until.map { "until \(Instant(milliseconds: $0))" } ?? "without an end"
        let keys = one.lacking.joined(separator: ", ")
        return
            "\(one.appUserID) has \(one.product) (\(one.store)) in RevenueCat \(end), and not \(keys) here"
    }
}
