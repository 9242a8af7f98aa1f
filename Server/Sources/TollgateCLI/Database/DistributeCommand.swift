import ArgumentParser
import CommandOutput
import Foundation
import Storage

/// `tollgate database`: what is done to a database as a whole.
struct DatabaseCommands: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "database",
        abstract: "Spread a database over several machines.",
        subcommands: [DistributeCommand.self]
    )
}

/// `tollgate database distribute`: spreads the large tables over the workers of Citus.
struct DistributeCommand: DatabaseCommand {
    static let configuration = CommandConfiguration(
        commandName: "distribute",
        abstract: "Spread the large tables over the workers of Citus.",
        discussion: """
            For a PostgreSQL database that has the extension citus and a schema of this version. \
            Stop all servers first. Rows that are there move along, in one transaction; tables that \
            are spread already stay as they are. docs/scaling.md says what was tried.
            """
    )

    @Option(help: "Into how many parts each table is cut.")
    var shards = 8

    @OptionGroup var place: DatabaseOptions

    func validate() throws {
        guard (1...1024).contains(shards) else {
            throw ValidationError("--shards is between 1 and 1024.")
        }
    }

    func run() async throws {
        let location = try DatabaseLocation(option: database)
        guard location.sqlitePath == nil else {
            throw ValidationError("--database: \(DistributionRefused.notPostgres)")
        }
        let driver = try location.open()
        let isJSON = json
        do {
            try await driver.closing {
                try await Distribution(of: driver).distribute(shards: shards) { step in
                    if !isJSON { Terminal.say(Self.line(step)) }
                }
            }
        } catch let error as DistributionRefused {
            throw CheckFailed(message: "\(error)")
        }
        if isJSON {
            try Terminal.sayJSON(Distribution.tables.map { ["table": $0.name, "by": $0.column] })
        }
    }

    private static func line(_ step: Distribution.Step) -> String {
        let name = step.table.name.padding(toLength: 16, withPad: " ", startingAt: 0)
        return "\(step.isNew ? "spread " : "already")  \(name) by \(step.table.column)"
    }
}
