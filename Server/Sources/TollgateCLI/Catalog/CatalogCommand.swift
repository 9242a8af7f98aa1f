import CommandOutput
import ArgumentParser
import Foundation
import TollgateService

/// `tollgate catalog`.
struct CatalogCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "catalog",
        abstract: "Look after the catalog.",
        subcommands: [CatalogCheckCommand.self]
    )
}

/// `tollgate catalog check FILE`: every mistake with its line.
struct CatalogCheckCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "List the mistakes in a catalog, with lines."
    )

    @Argument(help: "The catalog.")
    var file: String

    @Flag(help: "Answer in JSON.")
    var json = false

    func run() async throws {
        guard let bytes = FileManager.default.contents(atPath: file) else {
            throw CheckFailed(message: "\(file): there is no such file, or it cannot be read.")
        }
        let check = CatalogCheck(bytes: bytes, file: file)
        if json { try Terminal.sayJSON(check) } else { Terminal.say(check.text) }
        if !check.isOK { throw CheckFailed(message: "") }
    }
}
