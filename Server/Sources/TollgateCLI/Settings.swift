import ArgumentParser
import Foundation
import Logging

/// An option's value: as given, else from the environment variable `TOLLGATE_…`, else the default.
enum Settings {
    static func text(_ option: String?, _ name: String) -> String? {
        if let option { return option }
        let value = ProcessInfo.processInfo.environment["TOLLGATE_" + name]
        return value?.isEmpty == false ? value : nil
    }

    /// Whether something is switched on; off where nobody said.
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
