import CommandOutput
import ArgumentParser
import AsyncHTTPClient
import Foundation
import Logging
import Storage
import Stores
import TollgateAPI
import TollgateCore
import TollgateService

/// `tollgate explain CUSTOMER LOOKUP_KEY`: why, in the words of the API.
struct ExplainCommand: AsyncParsableCommand {
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

    @Option(help: "sqlite:PATH or postgres://USER@HOST:PORT/NAME.")
    var database: String?

    @Flag(help: "Answer in JSON.")
    var json = false

    func run() async throws {
        let location = try DatabaseLocation(
            Settings.text(database, "DATABASE") ?? "sqlite:.tollgate/tollgate.sqlite"
        )
        var asked: StoreEnvironment?
        if let environment {
            guard let known = StoreEnvironment(rawValue: environment.lowercased()) else {
                throw ValidationError("--environment is production or sandbox.")
            }
            asked = known
        }
        var instant = at.map { Instant(milliseconds: $0) }
        if instant == nil {
            // Beside a sandbox now is what its clock says.
            let now = try await ClockSetting(Settings.text(nil, "CLOCK")).reached(over: .shared)
            instant = await now()
        }
        let driver = try location.openReadOnly()
        let explanation: API.Explanation
        do {
            let settings = try StoreSettings(nil)
            let explanations = Explanations(
                records: try await RecordStore(reading: driver),
                clocks: .real,
                defaultEnvironment: asked
                    ?? settings.defaultEnvironment(for: Settings.text(nil, "SECRET_KEY") ?? "")
            )
            explanation = try await explanations.explain(lookupKey, for: customer, at: instant)
        } catch let refusal as Refusal {
            throw CheckFailed(message: refusal.error.message)
        }
        await driver.close()
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
}
