// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The result of a server's last SIGHUP, as `tollgate reload` reads it in the database.
struct ReloadRecord: Codable, Hashable, Sendable {
    /// Unique to one SIGHUP.
    var id: String
    /// Why the reload failed; `nil` if it did not.
    var refusal: String?
    /// The variables that have changed since the start and need a restart.
    var waiting: [String] = []

    /// The cursor in which this process keeps it.
    static var name: String { Self.name(of: getpid()) }

    /// The cursor in which a server on this machine keeps it.
    ///
    /// The machine's name is a part of it: servers in containers have the same process.
    static func name(of process: Int32) -> String {
        var bytes = [CChar](repeating: 0, count: 256)
        gethostname(&bytes, bytes.count - 1)
        let host = bytes.withUnsafeBytes { host in
            String(decoding: host.prefix { $0 != 0 }, as: UTF8.self)
        }
        return "reload/\(host)/\(process)"
    }
}
