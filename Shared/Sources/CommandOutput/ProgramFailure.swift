public import ArgumentParser
internal import Foundation

/// An error with which a command ends, and all that is to be said of it.
public protocol ProgramFailure: Error {
    /// Sentences for a person; nothing is said if it is empty.
    var message: String { get }
    /// 1 for what failed, 2 for a wrong usage.
    var exitCode: ExitCode { get }
}

extension ProgramFailure {
    public var exitCode: ExitCode { ExitCode(1) }
}

extension ProgramFailure where Self: CustomStringConvertible {
    public var message: String { description }
}

/// A check that did not come true: exit code 1, after this sentence.
public struct CheckFailed: ProgramFailure {
    public var message: String

    public init(message: String) {
        self.message = message
    }
}

/// A wrong usage: exit code 2, after this sentence and the usage of the command.
private struct WrongUsage: ProgramFailure {
    var message: String
    var exitCode: ExitCode { ExitCode(2) }
}

extension AsyncParsableCommand {
    /// Does what the command line asks, says what it comes to, and ends the process.
    ///
    /// Exit codes: 0 ok, 1 a check failed, 2 wrong usage.
    ///
    /// - Parameters:
    ///   - words: an error in words for a person.
    ///   - nearest: of several names the one that somebody meant by a word; `nil`: none is near.
    public static func runAsProgram(
        words: (any Error) -> String,
        nearest: (_ word: String, _ names: [String]) -> String? = { _, _ in nil }
    ) async {
        Terminal.outliveReaders()
        do {
            try requireKnownCommand(nearest)
            try await runOrHelp()
            try Terminal.finish()
        } catch let error as any ProgramFailure {
            if !error.message.isEmpty { Terminal.complain(error.message) }
            exit(withError: error.exitCode)
        } catch {
            let code = exitCode(for: error)
            // ArgumentParser has no words for errors that are none of its own.
            let isFailure = code == .failure && !(error is ExitCode)
            Terminal.complain(isFailure ? "Error: \(words(error))" : fullMessage(for: error))
            // What ArgumentParser calls a wrong usage is 2 here, everything that failed is 1.
            exit(withError: code == .validationFailure ? ExitCode(2) : ExitCode(1))
        }
    }

    private static func runOrHelp() async throws {
        do {
            var command = try parseAsRoot()
            do {
                if var command = command as? any AsyncParsableCommand {
                    try await command.run()
                } else {
                    try command.run()
                }
            } catch let error as ValidationError {
                // ArgumentParser, which no longer knows the command, would print the program's usage.
                throw WrongUsage(
                    message: """
                        Error: \(error.message)
                        Usage: \(usageString(for: type(of: command)))
                          See '\(named().path) --help' for more information.
                        """
                )
            }
        } catch let error where exitCode(for: error) == .success {
            Terminal.say(fullMessage(for: error))
        }
    }

    /// The command that the arguments name, and the first word that names none.
    private static func named() -> (path: String, command: any ParsableCommand.Type, rest: String?)
    {
        var arguments = ProcessInfo.processInfo.arguments.dropFirst()
        if arguments.first == "help" { arguments = arguments.dropFirst() }
        var path = _commandName
        var command: any ParsableCommand.Type = self
        while let word = arguments.first, !word.hasPrefix("-") {
            let next = command.configuration.subcommands.first {
                $0._commandName == word || $0.configuration.aliases.contains(word)
            }
            guard let next else { return (path, command, word) }
            path += " " + word
            command = next
            arguments = arguments.dropFirst()
        }
        return (path, command, nil)
    }

    /// - Throws: `WrongUsage` where a word that is no command stands in the place of one.
    private static func requireKnownCommand(
        _ nearest: (_ word: String, _ names: [String]) -> String?
    ) throws {
        let (path, command, rest) = named()
        let configuration = command.configuration
        guard let word = rest, !configuration.subcommands.isEmpty,
            configuration.defaultSubcommand == nil
        else { return }
        let names = configuration.subcommands.filter { $0.configuration.shouldDisplay }
            .map { $0._commandName }
        let advice =
            nearest(word, names).map { "Did you mean '\(path) \($0)'?" }
            ?? "Its commands are \(names.sorted().joined(separator: ", "))."
        throw WrongUsage(
            message: """
                Error: '\(path)' has no command '\(word.prefix(60))'. \(advice)
                  See '\(path) --help' for more information.
                """
        )
    }
}
