import CommandOutput
import ArgumentParser
import Foundation
import Storage
import TollgateCore
import TollgateService

/// `tollgate staff`: who may sign in to the dashboard.
struct StaffCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "staff",
        abstract: "Manage the staff who may sign in to the dashboard.",
        discussion: """
            The first admin is made here; admins can invite others on the dashboard. Every change is \
            written into the audit log.
            """,
        subcommands: [
            AddStaffCommand.self, ListStaffCommand.self, RemoveStaffCommand.self,
            StaffPasswordCommand.self, ResetSecondFactorCommand.self,
        ]
    )

    /// Who runs the command, for the audit log.
    static var actor: Actor {
        Actor(name: "cli:\(NSUserName())", role: "cli", request: "")
    }
}

/// `tollgate staff add NAME --role ROLE`.
struct AddStaffCommand: DatabaseCommand {
    static let configuration = CommandConfiguration(
        commandName: "add",
        abstract: "Add a staff member: print a link where they choose a password."
    )

    @Argument(help: "The name, such as an email address.")
    var name: String

    @Option(help: "viewer, support or admin.")
    var role = StaffRole.viewer.rawValue

    @Option(name: .customLong("public-url"), help: "Where browsers reach the server.")
    var publicURL: String?

    @OptionGroup var place: DatabaseOptions

    func run() async throws {
        guard let role = StaffRole(rawValue: role.lowercased()) else {
            throw ValidationError("--role is viewer, support or admin.")
        }
        let link = try await WritingCommand.run(database: database) { tollgate in
            try await tollgate.auditLog.audited(
                Deed("staff.add", "staff:\(name.lowercased())", role.rawValue),
                by: StaffCommand.actor,
                state: { try await tollgate.staff.member(name)?.role.rawValue }
            ) {
                _ = try await tollgate.staff.add(name, role: role)
                return try await tollgate.signIns.invitation(for: name)
            }
        }
        try StaffLink(name: name.lowercased(), link: link, publicURL: publicURL).say(json: json)
    }
}

/// `tollgate staff password NAME`.
struct StaffPasswordCommand: DatabaseCommand {
    static let configuration = CommandConfiguration(
        commandName: "password",
        abstract: "Print a link where somebody chooses a new password, or set one.",
        discussion: "With --stdin the first line of standard input becomes the password."
    )

    @Argument(help: "The name.")
    var name: String

    @Flag(help: "Read the password from standard input.")
    var stdin = false

    @Option(name: .customLong("public-url"), help: "Where browsers reach the server.")
    var publicURL: String?

    @OptionGroup var place: DatabaseOptions

    func run() async throws {
        let password = stdin ? readLine(strippingNewline: true) ?? "" : nil
        let link = try await WritingCommand.run(database: database) { tollgate -> String? in
            let deed = Deed(
                password == nil ? "staff.invite" : "staff.password",
                "staff:\(name.lowercased())"
            )
            return try await tollgate.auditLog.audited(deed, by: StaffCommand.actor) {
                guard let password else { return try await tollgate.signIns.invitation(for: name) }
                try await tollgate.passwords.set(password, of: name)
                return nil
            }
        }
        guard let link else {
            if json { return try Terminal.sayJSON(StaffWord(name: name, hasPassword: true)) }
            return Terminal.say("The password of \(name) is set.")
        }
        try StaffLink(name: name.lowercased(), link: link, publicURL: publicURL).say(json: json)
    }
}

/// `tollgate staff remove NAME`.
struct RemoveStaffCommand: DatabaseCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove",
        abstract: "Remove a staff member, and sign them out everywhere."
    )

    @Argument(help: "The name.")
    var name: String

    @OptionGroup var place: DatabaseOptions

    func run() async throws {
        try await WritingCommand.run(database: database) { tollgate in
            try await tollgate.auditLog.audited(
                Deed("staff.remove", "staff:\(name.lowercased())"),
                by: StaffCommand.actor,
                state: { try await tollgate.staff.member(name)?.role.rawValue }
            ) { try await tollgate.staff.remove(name) }
        }
        if json { return try Terminal.sayJSON(StaffWord(name: name, deleted: true)) }
        Terminal.say("\(name) can no longer sign in.")
    }
}

/// `tollgate staff reset-second-factor NAME`.
struct ResetSecondFactorCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reset-second-factor",
        abstract: "Remove a person's second factor, and sign them out everywhere."
    )

    @Argument(help: "The name.")
    var name: String

    @Option(help: "sqlite:PATH or postgres://USER@HOST:PORT/NAME.")
    var database: String?

    func run() async throws {
        try await WritingCommand.run(database: database) { tollgate in
            try await tollgate.auditLog.audited(
                Deed("staff.factor_reset", "staff:\(name.lowercased())"),
                by: StaffCommand.actor
            ) { try await tollgate.secondFactors.reset(of: name) }
        }
        Terminal.say("\(name) no longer has a second factor.")
    }
}

/// `tollgate staff list`.
struct ListStaffCommand: DatabaseCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List who may sign in."
    )

    @OptionGroup var place: DatabaseOptions

    private struct Entry: Encodable {
        var name: String
        var role: String
        var hasPassword: Bool
        var created: Int64

        enum CodingKeys: String, CodingKey {
            case name, role, created
            case hasPassword = "has_password"
        }
    }

    func run() async throws {
        let members = try await ReadingCommand.run(database: database) { records in
            try await Staff(records: records.staff, clocks: .real).all()
        }
        if json {
            return try Terminal.sayJSON(
                members.map {
                    Entry(
                        name: $0.name,
                        role: $0.role.rawValue,
                        hasPassword: $0.hasPassword,
                        created: $0.created.milliseconds
                    )
                }
            )
        }
        for member in members {
            let role = member.role.rawValue.padding(toLength: 8, withPad: " ", startingAt: 0)
            Terminal.say("\(role) \(member.name)\(member.hasPassword ? "" : "  (invited)")")
        }
    }
}

/// What `remove` and `password --stdin` print in JSON.
private struct StaffWord: Encodable {
    var name: String
    var deleted: Bool?
    var hasPassword: Bool?

    enum CodingKeys: String, CodingKey {
        case name, deleted
        case hasPassword = "has_password"
    }

    init(name: String, deleted: Bool? = nil, hasPassword: Bool? = nil) {
        self.name = name.lowercased()
        self.deleted = deleted
        self.hasPassword = hasPassword
    }
}

/// What `add` and `password` print.
private struct StaffLink: Encodable {
    var name: String
    var link: String

    init(name: String, link: String, publicURL: String?) {
        self.name = name
        guard let slashes = link.firstRange(of: "/dashboard/") else {
            self.link = link
            return
        }
        // Where the server was not told its address, the usual one stands in.
        let base = publicURL ?? String(link[..<slashes.lowerBound])
        self.link = (base.isEmpty ? "http://127.0.0.1:8080" : base) + link[slashes.lowerBound...]
    }

    func say(json: Bool) throws {
        if json { return try Terminal.sayJSON(self) }
        Terminal.say("\(name) chooses a password here, once, within three days:\n\n  \(link)\n")
    }
}
