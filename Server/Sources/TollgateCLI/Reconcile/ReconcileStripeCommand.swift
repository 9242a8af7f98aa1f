import CommandOutput
import ArgumentParser
import Foundation
import StripeConnector
import TollgateAssembly
import TollgateCore
import TollgateService

/// `tollgate reconcile stripe`: asks Stripe for what the record lacks.
struct ReconcileStripeCommand: DatabaseCommand {
    static let configuration = CommandConfiguration(
        commandName: "stripe",
        abstract: "Ask Stripe for what its webhooks missed.",
        discussion: """
            Reads Stripe's list of events since the last time; the first time, after more than 29 \
            days, or with --everything, every customer, subscription, invoice, checkout, refund and \
            dispute too. Interrupt it as you like: it goes on where it was. A running server does \
            this by itself, when it starts and every ten minutes.
            """
    )

    @OptionGroup var reaching: ReachOptions

    @Option(help: "The catalog: what is sold and what it grants.")
    var catalog: String?

    @OptionGroup var place: DatabaseOptions

    func run() async throws {
        let reach = try reaching.reach
        let line = ProgressLine(json: json)
        // What went wrong is said on a line of its own, too.
        defer { line.end() }
        let found = try await StripeWork.run(database: database, catalog: catalog) { tollgate in
            try await tollgate.stripe.reconcile(reach: reach, report: line.report)
        }
        line.end()
        guard let found else {
            throw CheckFailed(message: "Another server is reconciling with Stripe right now.")
        }
        if json { return try Terminal.sayJSON(found) }
        Terminal.say("events    \(found.events.seen) seen, \(found.events.new) had been missed")
        Terminal.say(
            "objects   \(found.objects.seen) seen, \(found.objects.new) said something new"
        )
        guard let completeTo = found.completeTo else { return }
        Terminal.say("complete to \(Instant(milliseconds: completeTo))")
        if let from = found.completeFrom {
            Terminal.say("complete from \(Instant(milliseconds: from)), by Stripe's list of events")
        }
        if let asOf = found.objectsAsOf {
            Terminal.say("every object was read last as of \(Instant(milliseconds: asOf))")
        }
    }
}
