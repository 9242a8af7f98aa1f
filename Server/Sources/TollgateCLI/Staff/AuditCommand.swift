import CommandOutput
import ArgumentParser
import Storage
import TollgateCore
import TollgateService

/// `tollgate audit`: what people did.
struct AuditCommand: DatabaseCommand {
    static let configuration = CommandConfiguration(
        commandName: "audit",
        abstract: "List every change made by a person, the newest first."
    )

    @Option(help: "Only changes of this: customer:cus_tg_…, purchase:…, staff:….")
    var subject: String?

    @Option(help: "Only what they did.")
    var actor: String?

    @Option(help: "How many entries.")
    var limit: Int64 = 100

    @OptionGroup var place: DatabaseOptions

    func validate() throws {
        guard (1...100_000).contains(limit) else {
            throw ValidationError("--limit is between 1 and 100000.")
        }
    }

    private struct Entry: Encodable {
        var id: Int64
        var at: Int64
        var actor: String
        var role: String
        var action: String
        var subject: String
        var detail: String
        var before: String?
        var after: String?
        var outcome: String
        var request: String

        init(_ entry: AuditEntry) {
            id = entry.id
            at = entry.at.milliseconds
            actor = entry.actor
            role = entry.role
            action = entry.action
            subject = entry.subject
            detail = entry.detail
            before = entry.before
            after = entry.after
            outcome = entry.outcome
            request = entry.request
        }
    }

    func run() async throws {
        let entries = try await ReadingCommand.run(database: database) { records in
            try await records.audit.entries(subject: subject, actor: actor, limit: limit)
        }
        if json { return try Terminal.sayJSON(entries.map { Entry($0) }) }
        for entry in entries {
            let change =
                entry.before == entry.after
                ? "" : "  [\(entry.before ?? "-") -> \(entry.after ?? "-")]"
            Terminal.say(
                "\(entry.at)  \(entry.actor) (\(entry.role))  \(entry.action)  \(entry.subject)"
                    + "  \(entry.detail)\(change)  \(entry.outcome)  \(entry.request)"
            )
        }
    }
}
