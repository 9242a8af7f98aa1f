import ArgumentParser

/// `tollgate import`: brings in what existed before Tollgate did.
struct ImportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Import customers, purchases and reports from before Tollgate.",
        subcommands: [
            ImportGooglePlayCommand.self, ImportReceiptsCommand.self, ImportReportsCommand.self,
            ImportRevenueCatCommand.self, ImportStripeCommand.self,
        ]
    )
}
