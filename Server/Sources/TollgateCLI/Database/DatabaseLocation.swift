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

    init(_ text: String) throws {
        guard
            text.hasPrefix("sqlite:") || text.hasPrefix("postgres://")
                || text.hasPrefix("postgresql://")
        else {
            throw ValidationError(
                "--database: '\(text)' is neither sqlite:PATH nor postgres://USER@HOST:PORT/NAME."
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
    var description: String {
        guard let at = text.lastIndex(of: "@"), let slashes = text.range(of: "//") else {
            return text
        }
        let user = text[slashes.upperBound..<at].split(separator: ":").first ?? ""
        return "\(text[..<slashes.upperBound])\(user)\(text[at...])"
    }
}
