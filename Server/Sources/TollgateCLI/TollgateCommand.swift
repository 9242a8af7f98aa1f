import ArgumentParser
import CommandOutput
import SandboxCommands

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
        version: Version.text,
        subcommands: [
            ServeCommand.self, DemoCommand.self, SandboxCommand.self, VerifyCommand.self,
            ExplainCommand.self, RebuildCommand.self, BackupCommand.self, RestoreCommand.self,
            CatalogCommand.self, ScenarioCommand.self,
            ReconcileCommand.self, ImportCommand.self, AppStoreCommand.self, ParkedCommand.self,
            StaffCommand.self, AuditCommand.self, ReportCommand.self, ExportCommand.self,
            SimulateCommand.self,
            WebhooksCommand.self, KeysCommand.self, CheckAccessCommand.self, DoctorCommand.self,
            ConfigCommand.self,
        ]
    )

    static func main() async {
        await runAsProgram(words: PlainWords.of)
    }
}
