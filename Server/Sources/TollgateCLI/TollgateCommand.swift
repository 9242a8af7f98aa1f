import ArgumentParser
import CommandOutput
import SandboxCommands
import TollgateService

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
        groupedSubcommands: [
            CommandGroup(
                name: "Server",
                subcommands: [
                    ServeCommand.self, DemoCommand.self, ConfigCommand.self, DoctorCommand.self,
                    CatalogCommand.self, ReloadCommand.self, KeysCommand.self, WebhooksCommand.self,
                    AlertsCommand.self, EmailsCommand.self,
                ]
            ),
            CommandGroup(
                name: "Customer",
                subcommands: [ExplainCommand.self, CheckAccessCommand.self]
            ),
            CommandGroup(
                name: "Store",
                subcommands: [
                    ReconcileCommand.self, ImportCommand.self, AppStoreCommand.self,
                    ParkedCommand.self, VerifyCommand.self,
                ]
            ),
            CommandGroup(
                name: "Report",
                subcommands: [ReportCommand.self, ExportCommand.self]
            ),
            CommandGroup(
                name: "Staff",
                subcommands: [StaffCommand.self, AuditCommand.self]
            ),
            CommandGroup(
                name: "Database",
                subcommands: [
                    BackupCommand.self, RestoreCommand.self, RebuildCommand.self,
                    DatabaseCommands.self,
                ]
            ),
            CommandGroup(
                name: "Sandbox",
                subcommands: [
                    SandboxCommand.self, ScenarioCommand.self, SimulateCommand.self,
                ]
            ),
        ]
    )

    static func main() async {
        await runAsProgram(words: PlainWords.of, nearest: NearMiss.of(_:among:))
    }
}
