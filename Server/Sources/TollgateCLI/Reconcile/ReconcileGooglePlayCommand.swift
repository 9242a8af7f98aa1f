import ArgumentParser
import CommandOutput
import GooglePlayConnector
import Stores
import TollgateAssembly
import TollgateCore
import TollgateService

/// `tollgate reconcile google-play`: asks Google Play for what the record lacks.
struct ReconcileGooglePlayCommand: DatabaseCommand {
    static let configuration = CommandConfiguration(
        commandName: "google-play",
        abstract: "Ask Google Play for what its notifications missed.",
        discussion: """
            Reads purchases that look overdue, the list of voided purchases of the last 30 days, \
            and the orders of the last 90; with --everything or --since every purchase that is known \
            and can still change too, as after a restored backup. Interrupt it as you like: it goes \
            on where it was. A running server does this by itself: overdue purchases every \
            minute, voided purchases every hour, orders once a day, everything once no pass ended \
            for ten minutes.
            """
    )

    @OptionGroup var reaching: ReachOptions

    @Option(help: "The catalog: what is sold and what it grants.")
    var catalog: String?

    @OptionGroup var place: DatabaseOptions

    func run() async throws {
        let reach = try reaching.reach
        let line = ProgressLine(json: json)
        defer { line.end() }
        let found = try await GooglePlayWork.run(database: database, catalog: catalog) { tollgate in
            try await tollgate.googlePlay.reconcile(reach: reach, progress: line.report)
        }
        line.end()
        guard let found else {
            throw CheckFailed(message: "Another server is reconciling with Google Play right now.")
        }
        if json { return try Terminal.sayJSON(found) }
        Terminal.say("overdue   \(found.overdue) read, \(found.overdueNews) had news")
        Terminal.say("voided    \(found.voids) listed, \(found.voidNews) had been missed")
        Terminal.say("orders    \(found.orders) read, \(found.orderNews) said something new")
        if found.purchases > 0 {
            Terminal.say("purchases \(found.purchases) read, \(found.purchaseNews) had news")
        }
        if found.unreadable > 0 {
            Terminal.say("\(found.unreadable) can no longer be read; what is known of them stays")
        }
        if let from = found.voidsFrom {
            Terminal.say("refunds with revocation: complete from \(Instant(milliseconds: from))")
        }
        if let asOf = found.purchasesAsOf {
            Terminal.say(
                "every purchase known here that can still change was read last as of \(Instant(milliseconds: asOf))"
            )
        }
        if reach != .news {
            Terminal.say(
                "Google lists no purchases: those that are not known here come when the app posts them"
            )
        }
    }
}
