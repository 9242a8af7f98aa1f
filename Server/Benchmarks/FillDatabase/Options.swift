import Foundation
import TollgateCore

/// The command line: `--database URL --catalog FILE --customers N --started MILLISECONDS --seconds S`,
/// and `--messages M` for what reads the stores' own words, such as `tollgate check-access`.
struct Options: Sendable {
    enum Failure: Error {
        case missing(String)
        case noNumber(String)
        case unreadable(String)
    }

    /// As `tollgate serve` takes it.
    let database: String
    let catalog: [UInt8]
    let customers: Int
    /// When the run of the benchmark began; every date is relative to it.
    let started: Instant
    /// When to be content with fewer customers.
    let patience: Duration
    /// How many messages with bodies are journalled for each customer, one for each month that was paid.
    ///
    /// They have Apple's shape and no valid signature. 0: one message without a body.
    let messages: Int
    /// The reads ask for at most this many of the customers.
    let sampledEvery: Int

    /// The file of a SQLite database; nil for PostgreSQL.
    var sqlitePath: String? {
        database.hasPrefix("sqlite:") ? String(database.dropFirst("sqlite:".count)) : nil
    }

    init(_ arguments: [String]) throws {
        func value(_ name: String) throws -> String {
            guard let index = arguments.firstIndex(of: name), index + 1 < arguments.count else {
                throw Failure.missing(name)
            }
            return arguments[index + 1]
        }
        database = try value("--database")
        let path = try value("--catalog")
        guard let catalog = FileManager.default.contents(atPath: path) else {
            throw Failure.unreadable(path)
        }
        self.catalog = [UInt8](catalog)
        guard let customers = Int(try value("--customers")), customers > 0 else {
            throw Failure.noNumber("--customers")
        }
        self.customers = customers
        sampledEvery = max(1, customers / 50_000)
        guard let started = Int64(try value("--started")) else {
            throw Failure.noNumber("--started")
        }
        self.started = Instant(milliseconds: started)
        guard let seconds = Int64(try value("--seconds")), seconds > 0 else {
            throw Failure.noNumber("--seconds")
        }
        patience = .seconds(seconds)
        let asked = arguments.contains("--messages") ? try value("--messages") : "0"
        guard let messages = Int(asked), messages >= 0 else {
            throw Failure.noNumber("--messages")
        }
        self.messages = messages
    }
}
