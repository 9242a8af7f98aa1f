public import ArgumentParser

/// An error with which a command ends, and all that is to be said of it.
public protocol ProgramFailure: Error {
    /// Sentences for a person; nothing is said if it is empty.
    var message: String { get }
    /// 1 for what failed, 2 for a wrong usage.
    var exitCode: ExitCode { get }
}

/// A check that did not come true: exit code 1, after this sentence.
public struct CheckFailed: ProgramFailure {
    public var message: String

    public init(message: String) {
        self.message = message
    }

    public var exitCode: ExitCode { ExitCode(1) }
}

extension AsyncParsableCommand {
    /// Does what the command line asks, says what it comes to, and ends the process.
    ///
    /// Exit codes: 0 ok, 1 a check failed, 2 wrong usage.
    ///
    /// - Parameter words: an error in words for a person.
    public static func runAsProgram(words: (any Error) -> String) async {
        Terminal.outliveReaders()
        do {
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
            if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                try command.run()
            }
        } catch let error where exitCode(for: error) == .success {
            Terminal.say(fullMessage(for: error))
        }
    }
}
