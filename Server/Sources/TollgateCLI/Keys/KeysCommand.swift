import CommandOutput
import ArgumentParser
import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import Storage
import TollgateAPI
import TollgateService

/// `tollgate keys`: secret keys with scopes, and the keys that sign answers.
struct KeysCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "keys",
        abstract: "Make and revoke secret keys; look at the keys that sign answers, change them.",
        discussion: """
            'create', 'secret' and 'revoke' are about secret keys with scopes; 'list' and 'rotate' \
            about the keys that sign answers. The key set at /.well-known/jwks.json shows the next key for a day before it signs, and \
            a former one until the last answer that it signed has ended. While a server holds a \
            SQLite file, name the server: --server http://127.0.0.1:8080, with its \
            TOLLGATE_SECRET_KEY.
            """,
        subcommands: [
            ListKeysCommand.self, RotateKeysCommand.self, CreateSecretKeyCommand.self,
            ListSecretKeysCommand.self, RevokeSecretKeyCommand.self,
        ],
        defaultSubcommand: ListKeysCommand.self
    )
}

/// Whom a command of keys asks: a server, or else the database itself.
struct KeysPlace: ParsableArguments {
    @Option(help: "Ask this running server, with TOLLGATE_SECRET_KEY.")
    var server: String?

    @Option(help: "sqlite:PATH or postgres://USER@HOST:PORT/NAME.")
    var database: String?

    @Flag(help: "Answer in JSON.")
    var json = false

    /// - Parameter rotation: what to change; nil: nothing.
    func keys(_ rotation: API.SigningKeyRotation? = nil) async throws -> [API.SigningKey] {
        if let server = Settings.text(server, "SERVER") {
            return try await ask(server, rotation)
        }
        guard let rotation else { return try await kept() }
        return try await WritingCommand.run(database: database, signing: true) { tollgate in
            try await tollgate.signingKeys.rotate(rotation, by: StaffCommand.actor).data
        }
    }

    /// The keys in the database, read beside a server.
    private func kept() async throws -> [API.SigningKey] {
        let secretKeys = Settings.list("SECRET_KEY")
        guard !secretKeys.isEmpty else { throw WritingCommand.unsealed }
        return try await ReadingCommand.run(database: database) { records in
            try await AnswerSigner.signingKeys(
                keptIn: records.driver,
                sealing: SealingKeys(secretKeys),
                at: SystemClock.now()
            )
        }
    }

    private func ask(
        _ server: String,
        _ rotation: API.SigningKeyRotation?
    ) async throws -> [API.SigningKey] {
        let path = rotation == nil ? APIPath.signingKeys.path : APIPath.signingKeysRotate.path
        let body = try rotation.map { try APIJSON.encode($0) }
        return try await Self.ask(server, path, body, for: API.List<API.SigningKey>.self).data
    }

    /// Asks a running server with its secret key.
    ///
    /// - Parameter body: what to post; `nil` reads.
    static func ask<Answer: Decodable>(
        _ server: String,
        _ path: String,
        _ body: Data?,
        for type: Answer.Type
    ) async throws -> Answer {
        guard let key = Settings.list("SECRET_KEY").first else {
            throw ValidationError("Set TOLLGATE_SECRET_KEY to the server's secret key.")
        }
        guard !Loopback.isInTheClear(server) else {
            throw ValidationError(
                "--server \(server): the secret key would be sent in the clear. Use https://, or http:// to this machine only."
            )
        }
        let base = server.hasSuffix("/") ? String(server.dropLast()) : server
        var request = HTTPClientRequest(url: base + path)
        request.headers.add(name: APIHeader.authorization, value: APIHeader.bearer(key))
        if let body {
            request.method = .POST
            request.headers.add(name: "Content-Type", value: "application/json")
            request.body = .bytes(ByteBuffer(bytes: body))
        }
        let response: HTTPClientResponse
        do {
            response = try await HTTPClient.shared.execute(request, timeout: .seconds(30))
        } catch {
            throw CheckFailed(message: "No server answers at \(base): \(PlainWords.of(error))")
        }
        let answer = Data((try await response.body.collect(upTo: 1 << 20)).readableBytesView)
        guard (200..<300).contains(response.status.code) else {
            let refusal = try? APIJSON.decode(APIError.self, from: answer)
            throw CheckFailed(
                message: refusal?.message ?? "\(base) answered \(response.status.code)."
            )
        }
        return try APIJSON.decode(type, from: answer)
    }

    /// Prints `keys`.
    func say(_ keys: [API.SigningKey]) throws {
        if json { return try Terminal.sayJSON(keys) }
        for key in keys {
            let status = key.status.rawValue.padding(toLength: 8, withPad: " ", startingAt: 0)
            var line = "\(key.id)  \(status) "
            switch key.status {
            case .next: line += "signs from \(Self.time(key.signsFrom))"
            case .signing, .former:
                line += key.shownUntil.map { "shown until \(Self.time($0))" } ?? "shown"
            }
            Terminal.say(line)
        }
    }

    static func time(_ milliseconds: Int64) -> String {
        ISO8601DateFormatter().string(
            from: Date(timeIntervalSince1970: Double(milliseconds / 1000))
        )
    }
}

/// `tollgate keys list`.
struct ListKeysCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the keys that verify answers now."
    )

    @OptionGroup var place: KeysPlace

    func run() async throws { try place.say(try await place.keys()) }
}

/// `tollgate keys rotate`.
struct RotateKeysCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rotate",
        abstract: "Rotate the key: the new one is published now and signs in a day.",
        discussion: "While a next key is under way no second one is made."
    )

    @Flag(help: "The new key signs within a minute.")
    var atOnce = false

    @Flag(help: "For a stolen key: what former keys signed is worth nothing in a minute.")
    var forgetFormer = false

    @OptionGroup var place: KeysPlace

    func run() async throws {
        try place.say(
            try await place.keys(API.SigningKeyRotation(atOnce: atOnce, forgetFormer: forgetFormer))
        )
    }
}
