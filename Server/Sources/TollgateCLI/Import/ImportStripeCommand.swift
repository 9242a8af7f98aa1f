import CommandOutput
import ArgumentParser
import TollgateAssembly
import Foundation
import StripeConnector
import TollgateService

/// `tollgate import stripe`: brings an existing account in.
struct ImportStripeCommand: DatabaseCommand {
    static let configuration = CommandConfiguration(
        commandName: "stripe",
        abstract: "Import an existing Stripe account.",
        discussion: """
            Customers, subscriptions, invoices, completed checkouts, payments, refunds and \
            disputes. Who a customer of Stripe's is in your app stands in their metadata, or in a file of lines \
            ‘cus_…,app_user_id’. Interrupt it as you like: it goes on where it was, and done again \
            it changes nothing.
            """
    )

    @Option(help: "Where the app's user id stands in the metadata of Stripe's customers.")
    var metadataKey = "app_user_id"

    @Option(
        help: """
            Where the metadata of a payment that went through no checkout and no invoice name what \
            it paid for: ‘price_…’, or a product of the catalog; ‘:2’ for two.
            """
    )
    var priceKey: String?

    @Option(help: "A file of lines ‘cus_…,app_user_id’.")
    var users: String?

    @Option(help: "The catalog: what is sold and what it grants.")
    var catalog: String?

    @OptionGroup var place: DatabaseOptions

    func run() async throws {
        let names = try users.map { try Self.read($0) } ?? [:]
        let line = ProgressLine(json: json)
        // What went wrong is said on a line of its own, too.
        defer { line.end() }
        let found = try await StripeWork.run(database: database, catalog: catalog) { tollgate in
            try await tollgate.stripeImport.run(
                metadataKey: metadataKey,
                priceKey: priceKey,
                users: names,
                report: line.report
            )
        }
        line.end()
        guard let found else {
            throw CheckFailed(message: "Another server is importing from Stripe right now.")
        }
        if json { return try Terminal.sayJSON(found) }
        Terminal.say(
            "customers  \(found.customers.seen) seen, \(found.customers.new) brought in, "
                + "\(found.strangers) with no name in the app"
        )
        Terminal.say("objects    \(found.objects.seen) seen, \(found.objects.new) brought in")
    }

    private static func read(_ path: String) throws -> [String: String] {
        let text: String
        do {
            text = try String(contentsOf: URL(fileURLWithPath: path), encoding: .utf8)
        } catch {
            throw CheckFailed(message: "\(path): cannot be read: \(PlainWords.of(error))")
        }
        var users: [String: String] = [:]
        for (number, line) in text.split(whereSeparator: \.isNewline).enumerated() {
            let parts = line.split(separator: ",", maxSplits: 1).map {
                $0.trimmingCharacters(in: .whitespaces)
            }
            guard parts.count == 2, !parts[1].isEmpty else {
                throw CheckFailed(message: "\(path):\(number + 1): not ‘cus_…,app_user_id’.")
            }
            // A heading names the columns and no customer.
            guard parts[0].hasPrefix("cus_") else { continue }
            users[parts[0]] = parts[1]
        }
        return users
    }
}
