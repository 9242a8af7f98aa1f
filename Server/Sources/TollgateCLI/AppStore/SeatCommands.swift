import AppStoreConnector
import CommandOutput
import ArgumentParser
import Foundation
import TollgateService

/// `tollgate app-store groups ID`.
struct GroupsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "groups",
        abstract: "List the groups that a customer is in, or a group's members.",
        discussion: """
            Get Customer Groups and Get Group Members. The App Store answers them in the sandbox only \
            so far: --environment sandbox.
            """
    )

    private struct Printed: Encodable {
        var id: String
        var type: String?
        var members: [String]?
    }

    @Argument(help: "Any transaction id of the customer, or their app transaction's id.")
    var customer: String

    @Flag(help: "List the members too, by their app transactions' ids.")
    var members = false

    @OptionGroup var options: AppStoreOptionGroup

    func run() async throws {
        let groups = try await AppStoreConnection.run(options) { connection in
            let support = try connection.support()
            var printed: [Printed] = []
            for group in try await support.groups(of: customer, in: connection.environment) {
                let found =
                    members
                    ? try await support.members(ofGroup: group.id, in: connection.environment) : nil
                printed.append(Printed(id: group.id, type: group.type, members: found))
            }
            return printed
        }
        if options.json { return try Terminal.sayJSON(groups) }
        if groups.isEmpty { Terminal.say("This customer is in no group.") }
        for group in groups {
            Terminal.say([group.id, group.type].compactMap(\.self).joined(separator: "  "))
            for member in group.members ?? [] { Terminal.say("  \(member)") }
        }
    }
}

/// `tollgate app-store seats …`.
struct SeatsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "seats",
        abstract: "Show, claim and release seats of a group to which your app invites.",
        discussion: """
            For an active group subscription whose invitationManagement is DEVELOPER. The App Store \
            answers this in the sandbox only so far: --environment sandbox.
            """,
        subcommands: [
            ShowSeatsCommand.self, ClaimSeatCommand.self, ReleaseSeatCommand.self,
            AssociateSeatCommand.self,
        ]
    )
}

/// `tollgate app-store seats show TRANSACTION`.
struct ShowSeatsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Count the seats, and list the claims."
    )

    private struct Printed: Encodable {
        var total: Int
        var available: Int
        var claims: [String]
    }

    @Argument(help: "The buyer's transaction.")
    var transaction: String

    @OptionGroup var options: AppStoreOptionGroup

    func run() async throws {
        let seats = try await AppStoreConnection.run(options) {
            try await $0.support().seats(of: transaction, in: $0.environment)
        }
        guard !options.json else {
            return try Terminal.sayJSON(
                Printed(total: seats.total, available: seats.available, claims: seats.claims)
            )
        }
        Terminal.say("\(seats.available) of \(seats.total) seats are free")
        for claim in seats.claims { Terminal.say(claim) }
    }
}

/// `tollgate app-store seats claim TRANSACTION`.
struct ClaimSeatCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "claim",
        abstract: "Claim a seat for a member, and print the claim's id."
    )

    @Argument(help: "The buyer's transaction.")
    var transaction: String

    @Option(
        name: .customLong("app-transaction"),
        help: "The member's app transaction id, if you know it."
    )
    var appTransaction: String?

    @Option(help: "A UUID of yours; repeating it returns the same seat.")
    var request: String?

    @OptionGroup var options: AppStoreOptionGroup
    @OptionGroup var audit: AuditOptionGroup

    func validate() throws {
        guard request.map({ UUID(uuidString: $0) != nil }) ?? true else {
            throw ValidationError("--request is a UUID.")
        }
    }

    func run() async throws {
        let id = request.flatMap { UUID(uuidString: $0) } ?? UUID()
        do {
            let claim = try await claim(id)
            try AppStoreDone(done: "claimed", subject: claim).say(json: options.json)
            try Terminal.finish()
        } catch {
            // The App Store may have claimed it all the same.
            if request == nil {
                Terminal.complain(
                    "To try again without claiming a second seat, repeat with --request \(id.uuidString)."
                )
            }
            throw error
        }
    }

    private func claim(_ id: UUID) async throws -> String {
        try await audit.change(Deed("app_store.claim_seat", "transaction:\(transaction)"), options)
        {
            try await $0.claimSeat(
                of: transaction,
                request: id,
                appTransaction: appTransaction,
                in: $1
            )
        }
    }
}

/// `tollgate app-store seats release TRANSACTION CLAIM`.
struct ReleaseSeatCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "release",
        abstract: "Release the seat of a member who has left."
    )

    @Argument(help: "The buyer's transaction.")
    var transaction: String

    @Argument(help: "The claim's id.")
    var claim: String

    @OptionGroup var options: AppStoreOptionGroup
    @OptionGroup var audit: AuditOptionGroup

    func run() async throws {
        let deed = Deed("app_store.release_seat", "transaction:\(transaction)", claim)
        try await audit.change(deed, options) {
            try await $0.releaseSeat(claim, of: transaction, in: $1)
        }
        try AppStoreDone(done: "released", subject: claim).say(json: options.json)
    }
}

/// `tollgate app-store seats associate TRANSACTION CLAIM APP_TRANSACTION`.
struct AssociateSeatCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "associate",
        abstract: "Say who owns a claimed seat."
    )

    @Argument(help: "The buyer's transaction.")
    var transaction: String

    @Argument(help: "The claim's id.")
    var claim: String

    @Argument(help: "The member's app transaction id.")
    var appTransaction: String

    @OptionGroup var options: AppStoreOptionGroup
    @OptionGroup var audit: AuditOptionGroup

    func run() async throws {
        let deed = Deed("app_store.associate_seat", "transaction:\(transaction)", claim)
        try await audit.change(deed, options) {
            try await $0.associateSeat(claim, of: transaction, with: appTransaction, in: $1)
        }
        try AppStoreDone(done: "associated", subject: claim).say(json: options.json)
    }
}
