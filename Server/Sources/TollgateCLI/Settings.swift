import CommandOutput
import ArgumentParser
import Foundation
import Logging
import Synchronization
import TollgateService

/// An option's value: as given, else from the environment variable `TOLLGATE_…`, else from
/// `tollgate.yaml`, else the default.
enum Settings {
    /// The names of all settings, which follow `TOLLGATE_`.
    static let names: Set<String> = [
        "CONFIG", "LISTEN", "METRICS_LISTEN", "DATABASE", "BACKUPS", "CATALOG", "PUBLIC_URL",
        "CLIENT_ADDRESS_HEADER",
        "CONNECTIONS_PER_ADDRESS", "SERVER", "DEMO", "SECRET_KEY", "PUBLISHABLE_KEY", "APP_URL",
        "PORTAL_RETURN_URL",
        "APPLE_APP_IDS", "WEBHOOKS_ALLOW_PRIVATE", "LOG_LEVEL", "CLOCK", "RETENTION_MESSAGES",
        "APP_STORE_ROOTS", "APP_STORE_BUNDLE_ID", "APP_STORE_APP_APPLE_ID",
        "APP_STORE_ENVIRONMENT", "APP_STORE_BASE_URL", "APP_STORE_ISSUER_ID", "APP_STORE_KEY_ID",
        "APP_STORE_KEY_FILE", "APP_STORE_SHARED_SECRET", "APP_STORE_ONLINE_CHECKS",
        "APP_STORE_SMALL_BUSINESS", "APP_STORE_XCODE_CERTIFICATE_FILE",
        "CONNECT_ISSUER_ID", "CONNECT_KEY_ID", "CONNECT_KEY_FILE", "CONNECT_VENDOR_NUMBER",
        "CONNECT_BASE_URL",
        "STRIPE_SECRET_KEY", "STRIPE_WEBHOOK_SECRETS", "STRIPE_API_BASE",
        "GOOGLE_PLAY_SERVICE_ACCOUNT_FILE", "GOOGLE_PLAY_PACKAGE_NAME",
        "GOOGLE_PLAY_SUBSCRIPTION", "GOOGLE_PLAY_PUSH_AUDIENCE", "GOOGLE_PLAY_PUSH_EMAIL",
        "GOOGLE_PLAY_LICENSE_KEY", "GOOGLE_PLAY_API_BASE", "GOOGLE_PLAY_PUBSUB_BASE",
        "GOOGLE_PLAY_CERTS_URL", "GOOGLE_PLAY_BUCKET",
        "OIDC_ISSUER", "OIDC_CLIENT_ID", "OIDC_CLIENT_SECRET", "OIDC_NAME", "OIDC_DOMAIN",
        "ALERTS_WEBHOOK", "ALERTS_SECRET", "ALERTS_AFTER_QUESTION", "ALERTS_AFTER_SILENCE",
        "ALERTS_AFTER_WEBHOOK", "ALERTS_BEFORE_DEADLINE", "ALERTS_BEFORE_EXPIRY",
        "ALERTS_DISK_PERCENT", "ALERTS_REFUND_PERCENT", "ALERTS_CHURN_PERCENT",
        "ALERTS_EMAIL_HOST", "ALERTS_EMAIL_PORT", "ALERTS_EMAIL_TLS",
        "ALERTS_EMAIL_USERNAME", "ALERTS_EMAIL_PASSWORD", "ALERTS_EMAIL_FROM", "ALERTS_EMAIL_TO",
        "ALERTS_EMAIL_CA_FILE",
        "ALERTS_QUIET_FROM", "ALERTS_QUIET_TO", "ALERTS_QUIET_TIME_ZONE",
        "EMAILS_RECEIPT", "EMAILS_PAYMENT_FAILED", "EMAILS_TRIAL_ENDS", "EMAILS_LAPSED",
        "EMAILS_FROM", "EMAILS_FROM_NAME", "EMAILS_REPLY_TO", "EMAILS_HOST", "EMAILS_PORT",
        "EMAILS_TLS", "EMAILS_USERNAME", "EMAILS_PASSWORD", "EMAILS_CA_FILE", "EMAILS_LANGUAGE",
        "EMAILS_TEMPLATES", "EMAILS_ACCOUNT_URL", "EMAILS_SANDBOX",
        "TRACES_ENDPOINT", "TRACES_HEADERS", "TRACES_SAMPLE_RATIO",
    ]

    /// What this repository's tests and scripts are told; servers that they start inherit it.
    private static let ofTests: Set<String> = [
        "BIN", "BENCH_PYTHON", "CUTS", "EVERY_QUESTION", "FAILOVERS", "FUZZ", "FUZZERS",
        "FUZZ_ROOT", "KILLS", "MUTANT", "MUTANT_TRACE", "ORDERS", "PACKAGES", "PACKAGE_BEFORE",
        "PLANTED",
        "RACES", "REPOSITORY", "SCENARIO_ORDERS", "SEED", "SIMULATED_WORLDS", "SOAK",
        "SOAK_MINUTES",
        "TEST_BACKENDS", "TEST_OUTPUT", "TEST_TARGET", "WYCHEPROOF",
    ]

    /// A sentence for each variable that is set and that nothing reads.
    static var unknownVariables: [String] {
        let environment = ProcessInfo.processInfo.environment.filter { !$0.value.isEmpty }
        let inherited = ofTests.map { "TOLLGATE_" + $0 }
        return ServeCheck.unknown(
            Set(environment.keys).subtracting(inherited),
            known: names.sorted().map { "TOLLGATE_" + $0 }
        )
    }

    /// Whether unknown variables were seen to.
    private static let isChecked = Mutex(false)

    /// Leaves unknown variables to a command that refuses them.
    static func refuseUnknownVariables() { isChecked.withLock { $0 = true } }

    /// Says once which variables are no settings: a name that is spelled wrong is otherwise missed
    /// without a word.
    private static func warnOfUnknownVariables() {
        let wasChecked = isChecked.withLock { isChecked in
            defer { isChecked = true }
            return isChecked
        }
        guard !wasChecked else { return }
        for sentence in unknownVariables { Terminal.complain("Warning: \(sentence)") }
    }

    static func text(_ option: String?, _ name: String) -> String? {
        assert(names.contains(name), "\(name) is missing in `Settings.names`")
        warnOfUnknownVariables()
        if let given = given(option, name) { return given }
        let found = file[name]
        return found?.isEmpty == false ? found : nil
    }

    /// The same without `tollgate.yaml`: what the file says of a server is not meant for a demo.
    static func given(_ option: String?, _ name: String) -> String? {
        if let option { return option }
        let value = ProcessInfo.processInfo.environment["TOLLGATE_" + name]
        return value?.isEmpty == false ? value : nil
    }

    /// The settings of `tollgate.yaml`; empty where there is none.
    private static var file: [String: String] { fileReadAgain.withLock { $0 } ?? fileAtStart }

    /// A file with mistakes ends the process: no command may go on with a part of its settings.
    private static let fileAtStart: [String: String] = {
        do {
            return try Settings.readFile()
        } catch {
            Terminal.complain(PlainWords.of(error))
            exit(1)
        }
    }()

    private static let fileReadAgain = Mutex<[String: String]?>(nil)

    private static func readFile() throws -> [String: String] {
        guard let path = try SettingsFile.path() else { return [:] }
        return try SettingsFile.settings(at: path)
    }

    /// Reads `tollgate.yaml`, and the files that it names, once more.
    ///
    /// - Returns: the settings before, for `goBack` and `changes`.
    /// - Throws: what is wrong with the file; then the settings before still hold.
    static func readAgain() throws -> [String: String] {
        let before = file
        let read = try readFile()
        fileReadAgain.withLock { $0 = read }
        return before
    }

    static func goBack(to before: [String: String]) {
        fileReadAgain.withLock { $0 = before }
    }

    /// The names of settings that are others than before; variables win, and do not change.
    static func changes(since before: [String: String]) -> [String] {
        let now = file
        return names.filter { given(nil, $0) == nil && before[$0] != now[$0] }.sorted()
    }

    /// The names of settings that are others than at the start.
    static func changesSinceStart() -> [String] { changes(since: fileAtStart) }

    /// True if something is switched on; off where nobody said.
    ///
    /// - Throws: a usage error for anything but `true` and `false`.
    static func flag(_ name: String) throws -> Bool {
        switch text(nil, name)?.lowercased() {
        case nil, "false", "0": return false
        case "true", "1": return true
        case let word?:
            throw ValidationError("TOLLGATE_\(name): '\(word)' is neither true nor false.")
        }
    }

    /// A number above zero; `nil` where nobody said.
    ///
    /// - Throws: a usage error for anything else.
    static func count(_ name: String) throws -> Int? {
        guard let text = text(nil, name) else { return nil }
        guard let count = Int(text), count > 0 else {
            throw ValidationError("TOLLGATE_\(name): '\(text)' is not a number above 0.")
        }
        return count
    }

    /// `TOLLGATE_LOG_LEVEL`.
    ///
    /// - Throws: a usage error for a word that is no level.
    static func logLevel() throws -> Logger.Level {
        guard let word = text(nil, "LOG_LEVEL") else { return .notice }
        guard let level = Logger.Level(rawValue: word.lowercased()) else {
            let all = Logger.Level.allCases.map(\.rawValue).joined(separator: ", ")
            throw ValidationError("TOLLGATE_LOG_LEVEL: '\(word)' is none of \(all).")
        }
        return level
    }

    /// True if no variable names an app of the App Store.
    static var namesNoApp: Bool { text(nil, "APP_STORE_BUNDLE_ID") == nil }

    static func list(_ name: String) -> [String] {
        (text(nil, name) ?? "").split(separator: ",").map {
            $0.trimmingCharacters(in: .whitespaces)
        }.filter { !$0.isEmpty }
    }
}

/// `host:port`; `:port` means this machine only.
struct ListenAddress: Sendable {
    var host: String
    var port: Int

    init(_ text: String, option: String) throws {
        guard let colon = text.lastIndex(of: ":"),
            let port = Int(text[text.index(after: colon)...]), (0...65_535).contains(port)
        else {
            throw ValidationError("\(option): '\(text)' is not an address like 127.0.0.1:8080.")
        }
        let host = String(text[..<colon])
        self.host = host.isEmpty ? "127.0.0.1" : host
        self.port = port
    }
}
