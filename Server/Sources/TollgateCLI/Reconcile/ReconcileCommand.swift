import ArgumentParser

/// `tollgate reconcile`: asks a store for what the record lacks, and for what looks overdue.
struct ReconcileCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reconcile",
        abstract: "Ask a store for what was missed.",
        subcommands: [
            ReconcileAppStoreCommand.self, ReconcileGooglePlayCommand.self,
            ReconcileStripeCommand.self,
        ]
    )
}
