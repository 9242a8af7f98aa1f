import CommandOutput
import ArgumentParser
import Foundation
import Storage
import TollgateAPI
import TollgateService

/// `tollgate webhooks`: what the app's backend is told.
struct WebhooksCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "webhooks",
        abstract: "List your backend's events, and send them again.",
        subcommands: [
            ListWebhooksCommand.self, DeadWebhooksCommand.self, ReplayWebhooksCommand.self,
        ],
        defaultSubcommand: ListWebhooksCommand.self
    )
}

/// `tollgate webhooks list`.
struct ListWebhooksCommand: DatabaseCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the endpoints, with the number of waiting events."
    )

    @OptionGroup var place: DatabaseOptions

    private struct Entry: Encodable {
        var endpoint: API.WebhookEndpoint
        var waiting: Int64
        var dead: Int64
    }

    func run() async throws {
        let entries = try await ReadingCommand.run(database: database) { records in
            let counts = try await records.webhooks.deliveryCounts()
            return try await DeliveryLog(records: records).endpoints().data.map { endpoint in
                let count = counts.first { $0.endpoint == endpoint.id }
                return Entry(
                    endpoint: endpoint,
                    waiting: count?.waiting ?? 0,
                    dead: count?.dead ?? 0
                )
            }
        }
        if json { return try Terminal.sayJSON(entries) }
        for entry in entries {
            let reason = entry.endpoint.disabledReason.map { " (\($0))" } ?? ""
            Terminal.say(
                "\(entry.endpoint.id)  \(entry.endpoint.url)  \(entry.endpoint.status)\(reason)  "
                    + "\(entry.waiting) waiting, \(entry.dead) dead"
            )
        }
    }
}

/// `tollgate webhooks dead`.
struct DeadWebhooksCommand: DatabaseCommand {
    static let configuration = CommandConfiguration(
        commandName: "dead",
        abstract: "List the newest hundred events that an endpoint did not accept."
    )

    @Argument(help: "The endpoint: we_…")
    var endpoint: String

    @OptionGroup var place: DatabaseOptions

    func run() async throws {
        let list = try await ReadingCommand.run(database: database) {
            try await DeliveryLog(records: $0)
                .deliveries(of: endpoint, status: "dead", limit: 100).data
        }
        if json { return try Terminal.sayJSON(list) }
        for delivery in list {
            Terminal.say(
                "\(delivery.event)  \(delivery.attempts) attempts  \(delivery.outcome ?? "")"
            )
        }
    }
}

/// `tollgate webhooks replay`.
struct ReplayWebhooksCommand: DatabaseCommand {
    static let configuration = CommandConfiguration(
        commandName: "replay",
        abstract: "Send events to an endpoint again; the server sends them."
    )

    @Argument(help: "The endpoint: we_…")
    var endpoint: String

    @Option(help: "One event: evt_…")
    var event: String?

    @Option(name: .customLong("starting-after"), help: "Everything after an event, or 'beginning'.")
    var startingAfter: String?

    @Flag(help: "All dead events.")
    var dead = false

    @OptionGroup var place: DatabaseOptions

    func run() async throws {
        let request = API.WebhookReplayRequest(
            event: event,
            startingAfter: startingAfter,
            dead: dead ? true : nil
        )
        let replay = try await WritingCommand.run(database: database) {
            try await $0.webhookEndpoints.replay(endpoint, request)
        }
        if json { return try Terminal.sayJSON(replay) }
        Terminal.say("\(replay.events) events will be sent again, at most")
    }
}
