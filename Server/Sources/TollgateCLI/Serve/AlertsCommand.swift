// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CommandOutput
import Stores
import TollgateServer
import TollgateService

/// `tollgate alerts`: the alarms that a server sends by itself.
struct AlertsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "alerts",
        abstract: "Test the channels of alarms.",
        subcommands: [AlertsTestCommand.self]
    )
}

/// `tollgate alerts test`: a message to every channel.
struct AlertsTestCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "test",
        abstract: "Send a test message to every channel of alarms.",
        discussion: """
            Run it with the server's settings, on the server's machine; it needs no server. It names \
            each channel and, if one did not take the message, the reason. Quiet hours do not count. \
            Exit codes: 0 every channel took the message, 1 one did not.
            """
    )

    @Flag(help: "Answer in JSON.")
    var json = false

    func run() async throws {
        let settings = try AlertSettings.configured(
            allowsPrivate: try Settings.flag("WEBHOOKS_ALLOW_PRIVATE")
        )
        guard let settings else {
            throw CheckFailed(
                message:
                    "No channel of alarms is set. Add ‘alerts’ to tollgate.yaml: docs/operations.md, Alarms."
            )
        }
        let webhooks = OutgoingWebhooks()
        let trial = AlertTrial(
            settings,
            server: try Settings.ownAddress(),
            webhooks: { try await webhooks.send($0) },
            mails: OutgoingMail.transport,
            clocks: Clocks(now: { SystemClock.now() }, wall: SystemClock.now, isVirtual: false),
            random: RandomSource(RunningServer.randomBytes)
        )
        let outcomes = await trial.outcomes()
        await webhooks.shutdown()
        if json {
            try Terminal.sayJSON(outcomes)
        } else {
            for outcome in outcomes {
                let result = outcome.failure ?? "took the test message."
                Terminal.say("\(outcome.channel) \(outcome.place): \(result)")
            }
        }
        guard outcomes.allSatisfy({ $0.failure == nil }) else { throw CheckFailed(message: "") }
    }
}
