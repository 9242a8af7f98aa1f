import CommandOutput
import ArgumentParser
import Foundation
import Storage
import TollgateAPI
import TollgateService

/// `tollgate keys create NAME --scope SCOPE…`.
struct CreateSecretKeyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "create",
        abstract: "Make a secret key with scopes; it is printed once.",
        discussion: """
            Scopes: read (customers, what they have, events), customers (create, change, erase; \
            sessions and checkouts), coins (spend), reports (figures and payments), all. Give \
            --scope several times for several.
            """
    )

    @Argument(help: "The purpose of the key.")
    var name: String

    @Option(help: "read, customers, coins, reports or all.")
    var scope: [String]

    @OptionGroup var place: KeysPlace

    func run() async throws {
        let scopes = try scope.flatMap { $0.split(separator: ",") }.map { word in
            guard let scope = API.KeyScope(rawValue: word.lowercased()) else {
                let all = API.KeyScope.allCases.map(\.rawValue).joined(separator: ", ")
                throw ValidationError("--scope: '\(word)' is none of \(all).")
            }
            return scope
        }
        let wanted = API.SecretKeyRequest(name: name, scopes: scopes)
        let key: API.SecretKey
        if let server = Settings.text(place.server, "SERVER") {
            key = try await KeysPlace.ask(
                server,
                APIPath.secretKeys.path,
                try APIJSON.encode(wanted),
                for: API.SecretKey.self
            )
        } else {
            // With the server's own key: its prefix tells which kind of key to make.
            key = try await WritingCommand.run(database: place.database, signing: true) {
                try await $0.secretKeys.create(wanted, by: StaffCommand.actor)
            }
        }
        if place.json { return try Terminal.sayJSON(key) }
        Terminal.say("\(key.id)  \(key.scopes.map(\.rawValue).joined(separator: ","))")
        Terminal.say(key.secret ?? "")
        Terminal.complain("Keep the key now: it is shown this once.")
    }
}

/// `tollgate keys secret`.
struct ListSecretKeysCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "secret",
        abstract: "List the secret keys with scopes, and when each was used last."
    )

    @OptionGroup var place: KeysPlace

    func run() async throws {
        let keys: [API.SecretKey]
        if let server = Settings.text(place.server, "SERVER") {
            keys = try await KeysPlace.ask(
                server,
                APIPath.secretKeys.path,
                nil,
                for: API.List<API.SecretKey>.self
            ).data
        } else {
            keys = try await ReadingCommand.run(database: place.database) {
                try await $0.secretKeys.all().map { API.SecretKey($0) }
            }
        }
        if place.json { return try Terminal.sayJSON(keys) }
        for key in keys {
            let used = key.lastUsed.map { "used \(KeysPlace.time($0))" } ?? "never used"
            let state = key.revoked.map { "revoked \(KeysPlace.time($0))" } ?? used
            Terminal.say(
                "\(key.id)  \(key.scopes.map(\.rawValue).joined(separator: ","))  \(key.name)  "
                    + "made by \(key.createdBy)  \(state)"
            )
        }
    }
}

/// `tollgate keys revoke ID`.
struct RevokeSecretKeyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "revoke",
        abstract: "Refuse a secret key from now on."
    )

    @Argument(help: "The key's id: key_….")
    var id: String

    @OptionGroup var place: KeysPlace

    func run() async throws {
        let key: API.SecretKey
        if let server = Settings.text(place.server, "SERVER") {
            key = try await KeysPlace.ask(
                server,
                APIPath.secretKeysRevoke.path(id: id),
                Data(),
                for: API.SecretKey.self
            )
        } else {
            key = try await WritingCommand.run(database: place.database) {
                try await $0.secretKeys.revoke(id, by: StaffCommand.actor)
            }
        }
        if place.json { return try Terminal.sayJSON(key) }
        Terminal.say("\(key.id) is revoked.")
    }
}
