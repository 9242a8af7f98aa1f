// SPDX-License-Identifier: Apache-2.0
// The settings of a mail server, as alarms and emails to customers share them.
extension MailServer {
    /// Reads the settings of a mail server but for its host.
    ///
    /// - Parameters:
    ///   - given: the text of a part such as `PORT`; `nil`: it is not set.
    ///   - wrong: is told each mistake with its part, and whether other settings decide it.
    static func read(
        _ host: String,
        _ given: (String) -> String?,
        _ wrong: (String, String, Bool) -> Void
    ) -> MailServer {
        let words = MailServer.Security.allCases.map(\.rawValue)
        let word = given("TLS") ?? MailServer.Security.startTLS.rawValue
        let security = MailServer.Security(rawValue: word)
        if security == nil {
            wrong(
                "TLS",
                "‘tls’ has an unknown value: \(NearMiss.advice(word, among: words))",
                false
            )
        }
        if security == MailServer.Security.none, given("HOST") != nil, !isLoopback(host) {
            wrong(
                "TLS",
                "without TLS, mail and password could be read on their way; use starttls or implicit (none is for a mail server on this machine: localhost)",
                true
            )
        }
        var server = MailServer(host: host, port: 0, security: security ?? .startTLS)
        server.port = given("PORT").map { Int($0) ?? 0 } ?? server.security.usualPort
        if !(1...65_535).contains(server.port) {
            wrong("PORT", "a port is a number from 1 to 65535; mail servers have 587 or 465", false)
        }
        (server.username, server.password) = (given("USERNAME"), given("PASSWORD"))
        if server.username != nil, server.password == nil {
            wrong("USERNAME", "a user name needs a ‘password’; add it", true)
        }
        if server.username == nil, server.password != nil {
            wrong("PASSWORD", "a password needs a ‘username’; add it", true)
        }
        for part in ["USERNAME", "PASSWORD"] {
            guard given(part)?.utf8.contains(where: { $0 < 0x20 }) == true else { continue }
            wrong(part, "this has a control character; remove it", false)
        }
        server.rootsFile = given("CA_FILE")
        return server
    }

    /// Returns whether a text is the name or the address of a machine.
    static func isHost(_ text: String) -> Bool {
        if IPAddress(text) != nil { return true }
        return isName(text)
    }

    private static func isName(_ text: String) -> Bool {
        let labels = text.split(separator: ".", omittingEmptySubsequences: false)
        return text.utf8.count <= 253
            && labels.allSatisfy { label in
                (1...63).contains(label.utf8.count) && label.first != "-" && label.last != "-"
                    && label.utf8.allSatisfy { isAlphanumeric($0) || $0 == UInt8(ascii: "-") }
            }
    }

    /// `local@domain` as RFC 5321 has it, without quoted local parts: nothing in it ends a line or a
    /// header.
    package static func isAddress(_ text: String) -> Bool {
        let parts = text.split(separator: "@", omittingEmptySubsequences: false)
        guard parts.count == 2, (1...64).contains(parts[0].utf8.count), isName(String(parts[1]))
        else { return false }
        let marks = Set("!#$%&'*+/=?^_`{|}~-.".utf8)
        return parts[0].utf8.allSatisfy { isAlphanumeric($0) || marks.contains($0) }
            && parts[0].first != "." && parts[0].last != "." && !parts[0].contains("..")
    }

    private static func isAlphanumeric(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "a")...UInt8(ascii: "z"):
            true
        default: false
        }
    }

    /// Returns whether a host is this machine.
    static func isLoopback(_ host: String) -> Bool {
        guard let address = IPAddress(host) else { return host.lowercased() == "localhost" }
        return address.bytes.count == 4
            ? address.bytes[0] == 127 : address.bytes == [UInt8](repeating: 0, count: 15) + [1]
    }
}
