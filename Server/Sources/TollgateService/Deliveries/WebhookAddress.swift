internal import Stores
internal import TollgateAPI

/// Where a webhook goes, read so strictly that nobody else can read it otherwise.
public struct WebhookAddress: Hashable, Sendable {
    /// As it was given, but for the host, which is spelled as ``host`` has it: the client looks up
    /// what was judged under exactly that name.
    public let url: String
    /// A name in lower case, or an address without brackets.
    public let host: String
    public let port: Int
    /// The host as an address, if it is one.
    public let address: IPAddress?

    /// - Parameter allowsPrivate: for a sandbox on one machine: also plain HTTP, any port and any
    ///   host.
    /// - Throws: a refusal 422 `url_forbidden`.
    public init(_ url: String, allowsPrivate: Bool) throws {
        func forbidden(_ why: String) -> Refusal {
            Refusal(422, "url_forbidden", "Nothing is sent to this URL: \(why).", param: "url")
        }
        let bytes = Array(url.utf8)
        guard bytes.count <= 2_000, bytes.allSatisfy({ $0 > 0x20 && $0 < 0x7F }),
            !bytes.contains(where: { [0x5C, 0x22, 0x3C, 0x3E, 0x60, 0x7B, 0x7D].contains($0) })
        else {
            throw forbidden("it holds characters that a URL spells otherwise")
        }
        let isTLS = url.lowercased().hasPrefix("https://")
        guard isTLS || (allowsPrivate && url.lowercased().hasPrefix("http://")) else {
            throw forbidden("it does not begin with https://")
        }
        let rest = url.dropFirst(isTLS ? 8 : 7)
        let authority = rest.prefix { !"/?#".contains($0) }
        guard !rest.contains("#") else { throw forbidden("it has a fragment") }
        guard !authority.contains("@") else { throw forbidden("it names a user") }
        guard !authority.contains("%") else { throw forbidden("its host is escaped") }
        let (name, portText) =
            try Self.split(authority) ?? { throw forbidden("its host is none") }()
        guard let port = portText.map({ Self.port($0) }) ?? (isTLS ? 443 : 80) else {
            throw forbidden("its port is none")
        }
        let host = name.lowercased()
        let address = IPAddress(host)
        if address == nil {
            guard Self.isName(host) else { throw forbidden("its host is no full name") }
        }
        if !allowsPrivate {
            guard port == 443 || port == 8443 else {
                throw forbidden("its port is not 443 or 8443")
            }
            if let address {
                guard address.isPublic else { throw forbidden("its address is not public") }
            } else {
                guard !Self.isLocal(host) else { throw forbidden("its host is not public") }
            }
        }
        self.host = address.map { "\($0)" } ?? host
        self.url =
            (isTLS ? "https://" : "http://")
            + (self.host.contains(":") ? "[\(self.host)]" : self.host)
            + (portText.map { ":\($0)" } ?? "") + rest.dropFirst(authority.count)
        self.port = port
        self.address = address
    }

    private static func split(_ authority: Substring) -> (host: String, port: Substring?)? {
        if authority.hasPrefix("[") {
            guard let end = authority.firstIndex(of: "]") else { return nil }
            let after = authority[authority.index(after: end)...]
            guard after.isEmpty || after.hasPrefix(":") else { return nil }
            return (String(authority[...end]), after.isEmpty ? nil : after.dropFirst())
        }
        let parts = authority.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count <= 2, let host = parts.first, !host.isEmpty else { return nil }
        return (String(host), parts.count == 2 ? parts[1] : nil)
    }

    private static func port(_ text: Substring) -> Int? {
        guard (1...5).contains(text.utf8.count),
            text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let port = Int(text),
            (1...65_535).contains(port)
        else { return nil }
        return port
    }

    /// Labels of letters, digits and hyphens, the last of which is no number: anything else might be
    /// an address in somebody's spelling.
    private static func isName(_ host: String) -> Bool {
        let labels = host.split(separator: ".", omittingEmptySubsequences: false)
        guard host.utf8.count <= 253, let last = labels.last else { return false }
        let isSound = labels.allSatisfy { label in
            (1...63).contains(label.utf8.count) && label.first != "-" && label.last != "-"
                && label.utf8.allSatisfy {
                    (0x30...0x39).contains($0) || (0x61...0x7A).contains($0) || $0 == 0x2D
                }
        }
        let isNumber =
            last.allSatisfy(\.isNumber) || (last.hasPrefix("0x") && last.count > 2)
        return isSound && !isNumber
    }

    /// Names that never belong to a host of the internet.
    private static func isLocal(_ host: String) -> Bool {
        guard host.contains(".") else { return true }
        return [
            "localhost", "local", "internal", "intranet", "lan", "home", "corp", "home.arpa",
            "test", "example", "invalid", "onion",
        ].contains { host == $0 || host.hasSuffix("." + $0) }
    }

    /// Which of the addresses that the host's name has now is spoken to.
    ///
    /// One that is not public spoils all: who can name one can name another a moment later.
    ///
    /// - Throws: `WebhookRefused`.
    public static func peer(among resolved: [IPAddress], allowsPrivate: Bool) throws -> IPAddress {
        guard let first = resolved.first else {
            throw WebhookRefused(reason: "the host has no address")
        }
        if !allowsPrivate, let bad = resolved.first(where: { !$0.isPublic }) {
            throw WebhookRefused(reason: "the host leads to \(bad), which is not public")
        }
        return first
    }
}

/// Nothing was sent, because of where it would have gone.
public struct WebhookRefused: Error, Hashable, Sendable {
    /// In our words.
    public var reason: String

    public init(reason: String) {
        self.reason = reason
    }
}
