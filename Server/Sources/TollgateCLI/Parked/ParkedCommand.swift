import CommandOutput
import ArgumentParser
import Foundation
import Storage
import Stores
import TollgateCore
import TollgateService

/// `tollgate parked`: genuine messages that could not be used.
struct ParkedCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "parked",
        abstract: "List messages that could not be used, and retry them.",
        subcommands: [ListParkedCommand.self, RetryParkedCommand.self],
        defaultSubcommand: ListParkedCommand.self
    )
}

/// `tollgate parked list`.
struct ListParkedCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the parked messages, the oldest first."
    )

    @Option(help: "sqlite:PATH or postgres://USER@HOST:PORT/NAME.")
    var database: String?

    @Flag(help: "Answer in JSON, with the messages themselves in Base64.")
    var json = false

    private struct Entry: Encodable {
        var store: String
        var source: String
        var reason: String
        var received: Int64
        var body: String
    }

    func run() async throws {
        let entries = try await ReadingCommand.run(database: database) { records in
            var entries: [Entry] = []
            var page = try await records.parked.page()
            while !page.isEmpty {
                for message in page {
                    if json {
                        entries.append(
                            Entry(
                                store: message.store.rawValue,
                                source: message.source,
                                reason: message.reason,
                                received: message.received.milliseconds,
                                body: Data(message.body).base64EncodedString()
                            )
                        )
                    } else {
                        Terminal.say(
                            "\(message.received)  \(message.store.rawValue)  \(message.source)  \(message.reason)"
                        )
                    }
                }
                page = try await records.parked.page(after: page.last)
            }
            return entries
        }
        if json { try Terminal.sayJSON(entries) }
    }
}

/// `tollgate parked retry`.
struct RetryParkedCommand: DatabaseCommand {
    static let configuration = CommandConfiguration(
        commandName: "retry",
        abstract: "Retry all parked messages, for example after an update."
    )

    @OptionGroup var place: DatabaseOptions

    func run() async throws {
        let progress = ProgressLine(json: json)
        let result = try await WritingCommand.run(database: database) { tollgate in
            defer { progress.end() }
            return try await tollgate.parked.retryAll(progress: progress.report)
        }
        if json { return try Terminal.sayJSON(result) }
        Terminal.say("\(result.used) used after all, \(result.stillParked) still parked")
    }
}
