import ArgumentParser

/// `tollgate reconcile`: asks a store for what it could not deliver, and for what looks overdue.
struct ReconcileCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reconcile",
        abstract: "Ask a store for what was missed.",
        subcommands: [ReconcileAppStoreCommand.self, ReconcileStripeCommand.self]
    )
}
