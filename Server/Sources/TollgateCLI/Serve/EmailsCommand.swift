// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CommandOutput
import Foundation
import TollgateServer
import TollgateService

/// `tollgate emails`: the emails that a server sends to customers.
struct EmailsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "emails",
        abstract: "Test the mail server of emails to customers.",
        subcommands: [EmailsTestCommand.self]
    )
}

/// `tollgate emails test ADDRESS`: an email by the mail server of emails to customers.
struct EmailsTestCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "test",
        abstract: "Send a test email by the mail server of emails to customers.",
        discussion: """
            Run it with the server's settings, on the server's machine; it needs no server, and no \
            kind of emails has to be switched on. Exit codes: 0 the mail server took the email, 1 it \
            did not.
            """
    )

    @Argument(help: "Your own address.")
    var address: String

    @Flag(help: "Answer in JSON.")
    var json = false

    /// The outcome of the email.
    private struct Outcome: Encodable {
        var address: String
        var server: String
        /// The reason why the mail server did not take it; `nil`: it took it.
        var failure: String?
    }

    func validate() throws {
        guard MailServer.isAddress(address) else {
            throw ValidationError(
                "'\(address)' is not an email address; write it like you@example.com."
            )
        }
    }

    func run() async throws {
        guard let settings = try LetterSettings.ofTrial() else {
            throw CheckFailed(
                message:
                    "No emails to customers are set up. Add ‘emails’ to tollgate.yaml: docs/emails.md."
            )
        }
        let mail = settings.trial(
            to: address,
            of: try Settings.ownAddress(),
            id: UUID().uuidString,
            at: SystemClock.now()
        )
        let server = settings.server
        var outcome = Outcome(address: address, server: "\(server.host):\(server.port)")
        do {
            try await OutgoingMail.transport(mail, server)
        } catch let failed as MailFailed {
            outcome.failure = failed.sentence
        }
        if json {
            try Terminal.sayJSON(outcome)
        } else {
            Terminal.say(outcome.failure ?? "\(outcome.server) took the test email to \(address).")
        }
        guard outcome.failure == nil else { throw CheckFailed(message: "") }
    }
}
