import ArgumentParser

/// The command line: `tollgate COMMAND`.
@main
struct TollgateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tollgate",
        abstract: "A self-hosted billing and entitlement server for iOS apps.",
        discussion: """
            --listen, --metrics-listen, --database, --catalog, --public-url, --client-address-header \
            and --server are also environment variables: --database is TOLLGATE_DATABASE. docs/operations.md \
            names those without an option. Exit codes: 0 ok, 1 a check failed, 2 wrong usage.
            """,
        subcommands: [
            ServeCommand.self, DemoCommand.self, SandboxCommand.self, VerifyCommand.self,
            ExplainCommand.self, RebuildCommand.self, CatalogCommand.self, ScenarioCommand.self,
            ReconcileCommand.self, ImportCommand.self, AppStoreCommand.self, ParkedCommand.self,
            StaffCommand.self, AuditCommand.self, ReportCommand.self, ExportCommand.self,
            SimulateCommand.self,
            WebhooksCommand.self, KeysCommand.self, CheckAccessCommand.self,
        ]
    )

    static func main() async {
        Terminal.outliveReaders()
        do {
            try await perform()
            try Terminal.finish()
        } catch let error as CheckFailed {
            if !error.message.isEmpty { Terminal.complain(error.message) }
            exit(withError: ExitCode(1))
        } catch let error as WrongSettings {
            Terminal.complain("\(error)")
            exit(withError: ExitCode(error.isUsage ? 2 : 1))
        } catch {
            let code = exitCode(for: error)
            // ArgumentParser has no words for errors that are none of its own.
            let isFailure = code == .failure && !(error is ExitCode)
            Terminal.complain(
                isFailure ? "Error: \(PlainWords.of(error))" : fullMessage(for: error)
            )
            // What ArgumentParser calls a wrong usage is 2 here, everything that failed is 1.
            exit(withError: code == .validationFailure ? ExitCode(2) : ExitCode(1))
        }
    }

    /// Does what is asked, or prints the help that is asked for.
    private static func perform() async throws {
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

/// `tollgate sandbox`: the stores, played on this machine.
struct SandboxCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sandbox",
        abstract: "Play the App Store or Stripe on this machine, for any project.",
        subcommands: [SandboxAppStoreCommand.self, SandboxStripeCommand.self]
    )
}

/// A check that did not come true: exit code 1, after this sentence.
struct CheckFailed: Error {
    var message: String
}
