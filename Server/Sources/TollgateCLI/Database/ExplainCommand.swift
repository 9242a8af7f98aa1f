import CommandOutput
import ArgumentParser
import AsyncHTTPClient
import Foundation
import Storage
import Stores
import TollgateAPI
import TollgateAssembly
import TollgateCore
import TollgateService

/// `tollgate explain CUSTOMER LOOKUP_KEY`: why, in the words of the API.
struct ExplainCommand: DatabaseCommand {
    static let configuration = CommandConfiguration(
        commandName: "explain",
        abstract: "Say why a customer may, or may not, use something."
    )

    @Argument(help: "The customer's id or app_user_id.")
    var customer: String

    @Argument(help: "The entitlement.")
    var lookupKey: String

    @Option(help: "The instant, in UNIX milliseconds; now if left out.")
    var at: Int64?

    @Option(help: "production or sandbox.")
    var environment: String?

    @OptionGroup var place: DatabaseOptions

    func run() async throws {
        let asked = try StoreEnvironment(option: environment)
        let instant = try await ClockSetting.instant(at)
        let explanation = try await ReadingCommand.run(database: database) { records in
            try requireKnown(lookupKey, in: records.history)
            let usual = try StoreSettings(nil)
                .defaultEnvironment(for: Settings.text(nil, "SECRET_KEY") ?? "")
            return try await Explanations(
                records: records,
                clocks: .real,
                defaultEnvironment: asked ?? usual
            ).explain(lookupKey, for: customer, at: instant)
        }
        if json { return try Terminal.sayJSON(explanation) }
        Terminal.say(
            "\(explanation.entitled ? "yes" : "no")\(explanation.ground.map { ", by \($0)" } ?? "") at \(Instant(milliseconds: explanation.at))"
        )
        for fact in explanation.facts {
            Terminal.say(
                "\(fact.decides ? "→" : " ") \(Instant(milliseconds: fact.stated))  \(fact.store) \(fact.kind): \(fact.summary)"
            )
        }
        for change in explanation.wouldChange { Terminal.say("  ~ \(change.summary)") }
    }

    /// - Throws: `CheckFailed` for a word that is in no catalog: nobody ever has that.
    private func requireKnown(_ lookupKey: String, in history: CatalogHistory) throws {
        let known = history.versions.flatMap { $0.catalog.entitlements.map(\.lookupKey) }
        guard !known.contains(lookupKey) else { return }
        let advice =
            known.isEmpty
            ? "it lists none" : NearMiss.advice(lookupKey, among: Set(known).sorted())
        throw CheckFailed(
            message: "The catalog has no entitlement ‘\(lookupKey.prefix(80))’: \(advice)"
        )
    }
}
