import ArgumentParser
import Foundation
import Storage
import StoragePostgres
import StorageSQLite

/// `sqlite:PATH` or `postgres://…`.
///
/// The only place that picks a driver.
struct DatabaseLocation: Sendable {
    var text: String

    /// The value of `--database`, else of `TOLLGATE_DATABASE`, else the usual file.
    init(option: String?) throws {
        try self.init(Settings.text(option, "DATABASE") ?? "sqlite:.tollgate/tollgate.sqlite")
    }

    init(_ text: String) throws {
        guard
            text.hasPrefix("sqlite:") || text.hasPrefix("postgres://")
                || text.hasPrefix("postgresql://")
        else {
            throw ValidationError(
                "--database: '\(Self.withoutPassword(text))' is neither sqlite:PATH nor postgres://USER@HOST:PORT/NAME."
            )
        }
        self.text = text
    }

    var sqlitePath: String? {
        text.hasPrefix("sqlite:") ? String(text.dropFirst("sqlite:".count)) : nil
    }

    /// Opens it as the server does; a SQLite file that another process serves is refused.
    func open() throws -> any StorageDriver {
        if let sqlitePath { return try StorageSQLite(path: sqlitePath) }
        return try StoragePostgres(url: text)
    }

    /// Opens it beside a running server, to read.
    func openReadOnly() throws -> any StorageDriver {
        if let sqlitePath { return try StorageSQLite(path: sqlitePath, mode: .readOnly) }
        return try StoragePostgres(url: text)
    }

    /// For people: without a password.
    var description: String { Self.withoutPassword(text) }

    /// A location without a password, which may stand before the @ or among the parameters.
    private static func withoutPassword(_ text: String) -> String {
        guard !text.hasPrefix("sqlite:") else { return text }
        guard let slashes = text.range(of: "//") else {
            return text.contains("@") ? "\(text.prefix { $0 != ":" }):…" : text
        }
        let rest = text[slashes.upperBound...]
        let host = rest.prefix { $0 != "/" }
        // Before an @ a question mark is a part of the password.
        let named = host.contains("@") ? host : rest.prefix { $0 != "?" }
        let scheme = text[..<slashes.upperBound]
        guard let at = named.lastIndex(of: "@") else { return "\(scheme)\(named)" }
        let user = named.prefix { $0 != ":" && $0 != "@" }
        return "\(scheme)\(user)\(rest[at...].prefix { $0 != "?" })"
    }
}

/// The options of a command that opens a database and can answer in JSON.
struct DatabaseOptions: ParsableArguments {
    @Option(help: "sqlite:PATH or postgres://USER@HOST:PORT/NAME.")
    var database: String?

    @Flag(help: "Answer in JSON.")
    var json = false
}

protocol DatabaseCommand: AsyncParsableCommand {
    var place: DatabaseOptions { get }
}

extension DatabaseCommand {
    var database: String? { place.database }
    var json: Bool { place.json }
}
