import ArgumentParser
import Foundation

/// An option's value: as given, else from the environment variable `TOLLGATE_…`, else the default.
enum Settings {
    static func text(_ option: String?, _ name: String) -> String? {
        if let option { return option }
        let value = ProcessInfo.processInfo.environment["TOLLGATE_" + name]
        return value?.isEmpty == false ? value : nil
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
