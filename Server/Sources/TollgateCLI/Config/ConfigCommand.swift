import ArgumentParser
import CommandOutput
import Foundation
import Storage
import TollgateService

/// `tollgate config`: one file with all settings.
struct ConfigCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "config",
        abstract: "Make and check tollgate.yaml, one file with all settings.",
        discussion: """
            Commands read the file that TOLLGATE_CONFIG names, else tollgate.yaml in the folder in \
            which they are started. Options and TOLLGATE_… variables win over it. \
            docs/operations.md lists its keys.
            """,
        subcommands: [ConfigCheckCommand.self, ConfigInitCommand.self]
    )
}

/// `tollgate config check [FILE]`: every mistake with its place.
struct ConfigCheckCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "List the mistakes in a configuration, with lines.",
        discussion: """
            Also reads the files and variables from which it takes secrets. 'tollgate doctor' then \
            asks the stores, the database and the machine.
            """
    )

    @Argument(help: "The file; if left out, the one that commands read.")
    var file: String?

    @Flag(help: "Answer in JSON.")
    var json = false

    /// What the command found.
    private struct Outcome: Encodable {
        var file: String
        var errors: [CatalogError]
        /// The variables that the file stands for, sorted.
        var settings: [String]
    }

    func run() async throws {
        guard let path = try file ?? SettingsFile.path() else {
            throw ValidationError(
                "There is no tollgate.yaml here. Name a file, or make one with tollgate config init."
            )
        }
        var outcome = Outcome(file: path, errors: [], settings: [])
        do {
            let names = try SettingsFile.settings(at: path, alone: true).keys
            outcome.settings = names.map { "TOLLGATE_" + $0 }.sorted()
        } catch let mistakes as CatalogErrors {
            outcome.errors = mistakes.errors
        }
        if json {
            try Terminal.sayJSON(outcome)
        } else if outcome.errors.isEmpty {
            Terminal.say("\(path): ok, \(outcome.settings.count) settings")
        } else {
            for error in outcome.errors { Terminal.say(error.description) }
        }
        if !outcome.errors.isEmpty { throw CheckFailed(message: "") }
    }
}

/// `tollgate config init`: asks a few questions and writes the file.
struct ConfigInitCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "init",
        abstract: "Write a tollgate.yaml with keys of its own.",
        discussion: """
            Asks for what is not given, where somebody sits at a terminal. A file that is there is \
            not written over.
            """
    )

    @Option(help: "The file to write.")
    var to = "tollgate.yaml"

    @Option(name: .customLong("public-url"), help: "Where browsers and stores reach the server.")
    var publicURL: String?

    @Option(help: "sqlite:PATH or postgres://USER@HOST:PORT/NAME.")
    var database: String?

    @Option(help: "The app in the App Store: its bundle id.")
    var bundleID: String?

    @Option(help: "The app in Google Play: its package name.")
    var packageName: String?

    @Flag(help: "Keys for real money; test keys if left out.")
    var live = false

    func run() async throws {
        let asks = isatty(STDIN_FILENO) == 1
        func answer(_ given: String?, _ question: String) -> String? {
            if let given { return given }
            guard asks else { return nil }
            Terminal.mark(question + " (Enter: none) ")
            let line = readLine()?.trimmingCharacters(in: .whitespaces) ?? ""
            return line.isEmpty ? nil : line
        }
        let text = Self.text(
            publicURL: answer(
                publicURL,
                "Where do browsers and stores reach the server, https://…?"
            ),
            database: database ?? "sqlite:.tollgate/tollgate.sqlite",
            bundleID: answer(bundleID, "The bundle id of the app in the App Store?"),
            packageName: answer(packageName, "The package name of the app in Google Play?"),
            mode: live ? "live" : "test"
        )
        // Another mistake in what was answered is found like one that was typed into the file.
        _ = try SettingsFile.read(bytes: Array(text.utf8), file: to)
        let handle = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard handle >= 0 else {
            let isThere = errno == EEXIST
            throw CheckFailed(
                message: isThere
                    ? "\(to) is there already; name another file with --to."
                    : "\(to) cannot be written: \(String(cString: strerror(errno)))"
            )
        }
        try FileHandle(fileDescriptor: handle, closeOnDealloc: true).write(
            contentsOf: Data(text.utf8)
        )
        Terminal.say("wrote \(to), with a secret key and a publishable key of its own")
        Terminal.say("next: tollgate config check \(to), then tollgate doctor and tollgate serve")
    }

    /// A YAML text in double quotes.
    private static func quoted(_ text: String) -> String {
        "\"" + text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") + "\""
    }

    private static func key(_ kind: String, _ mode: String) -> String {
        "\(kind)_\(mode)_\(RunningServer.randomBytes(32).hex)"
    }

    private static func text(
        publicURL: String?,
        database: String,
        bundleID: String?,
        packageName: String?,
        mode: String
    ) -> String {
        let address = publicURL.map { "public_url: \(quoted($0))" } ?? "# public_url: https://…"
        let bundle = bundleID.map(quoted) ?? "com.example.app"
        let package = packageName.map(quoted) ?? "com.example.app"
        let off = { (isSet: Bool) in isSet ? "" : "# " }
        let (apple, google) = (off(bundleID != nil), off(packageName != nil))
        return """
            # Settings of Tollgate; docs/operations.md lists all keys. Check them with
            # tollgate config check. A value may also come from elsewhere:
            # {file: PATH}, {env: NAME}, or {credential: NAME} of systemd.
            listen: 127.0.0.1:8080
            \(address)
            database: \(quoted(database))
            catalog: catalog.yaml
            keys:
              secret: \(key("sk", mode))
              publishable: \(key("pk", mode))

            \(apple)app_store:
            \(apple)  bundle_id: \(bundle)
            \(apple)  roots: [AppleRootCA-G3.cer]
            #   app_apple_id: 1234567890
            #   key: {issuer_id: …, key_id: …, file: AuthKey.p8}

            # stripe:
            #   secret_key: {env: STRIPE_KEY}
            #   webhook_secrets: [{env: STRIPE_WEBHOOK_SECRET}]

            \(google)google_play:
            \(google)  package_names: [\(package)]
            \(google)  service_account_file: service-account.json
            #   subscription: projects/PROJECT/subscriptions/NAME

            """
    }
}
