internal import Foundation

/// Which addresses never leave this machine.
package enum Loopback {
    /// Tells if `host` is this machine: `localhost`, 127.0.0.0/8 or `::1`.
    package static func isHost(_ host: String) -> Bool {
        if host.lowercased() == "localhost" { return true }
        guard let address = IPAddress(host) else { return false }
        return address.bytes.count == 4
            ? address.bytes[0] == 127 : address == IPAddress("::1")
    }

    /// Tells if `url` leads to this machine.
    package static func isURL(_ url: String) -> Bool {
        URLComponents(string: url).map { isHost($0.host ?? "") } ?? false
    }

    /// Tells if nobody can read what is sent to `url` on its way: `https://`, or `http://` to this
    /// machine.
    package static func isPrivate(_ url: String) -> Bool {
        guard let parts = URLComponents(string: url), let host = parts.host, !host.isEmpty else {
            return false
        }
        switch parts.scheme?.lowercased() {
        case "https": return true
        case "http": return isHost(host)
        default: return false
        }
    }

    /// Tells if what is sent to `url` can be read on its way: `http://` to another machine.
    package static func isInTheClear(_ url: String) -> Bool {
        guard let parts = URLComponents(string: url), parts.scheme?.lowercased() == "http" else {
            return false
        }
        return !isHost(parts.host ?? "")
    }
}
