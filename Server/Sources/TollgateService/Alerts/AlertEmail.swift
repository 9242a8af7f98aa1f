// SPDX-License-Identifier: Apache-2.0
internal import Stores
internal import TollgateCore

/// People who are told of alarms by mail, each by a mail of their own.
///
/// A refusal by one recipient's server does not keep the mail from the others. A new recipient is told of
/// all alarms that go on.
package struct AlertEmail: Hashable, Sendable {
    /// The greatest number of recipients: a mailing list takes more.
    static let mostRecipients = 10

    var server: MailServer
    var sender: String
    var recipients: [String]

    package init(server: MailServer, sender: String, recipients: [String]) {
        (self.server, self.sender, self.recipients) = (server, sender, recipients)
    }

    func channels(over transport: @escaping MailTransport, clocks: Clocks) -> [AlertChannel] {
        recipients.map { recipient in
            AlertChannel(
                name: "email/\(recipient)",
                form: .mail,
                kind: "email",
                place: recipient
            ) { message in
                try await transport(mail(message, to: recipient, at: clocks.wall()), server)
            }
        }
    }

    /// - Parameter wall: real time.
    func mail(_ message: AlertMessage, to recipient: String, at wall: Instant) -> Mail {
        let text = MailText(
            id: message.id,
            from: sender,
            to: recipient,
            subject: message.subject,
            text: message.text,
            date: wall
        )
        return Mail(sender: sender, recipient: recipient, bytes: text.bytes)
    }
}

// MARK: - Settings

extension AlertEmail {
    private static let prefix = "ALERTS_EMAIL_"
    private static let parts = [
        "HOST", "PORT", "TLS", "USERNAME", "PASSWORD", "FROM", "TO", "CA_FILE",
    ]

    /// Reads `ALERTS_EMAIL_…`.
    ///
    /// - Parameters:
    ///   - text: the text of a setting by its name; `nil`: it is not set.
    ///   - mistakes: what is wrong is added to these.
    /// - Returns: `nil` if none is set, or one is wrong.
    package static func read(
        _ text: (String) -> String?,
        _ mistakes: inout [SettingMistake]
    ) -> AlertEmail? {
        func given(_ part: String) -> String? { text(prefix + part) }
        guard let first = parts.first(where: { given($0) != nil }) else { return nil }
        var found: [SettingMistake] = []
        func wrong(_ part: String, _ message: String, isOfSeveral: Bool = false) {
            found.append(SettingMistake(prefix + part, message, isOfSeveral: isOfSeveral))
        }
        for (part, what) in [
            ("HOST", "‘host’, the name of your mail server"),
            ("FROM", "‘from’, the address that mail comes from"),
            ("TO", "‘to’, the addresses that get mail"),
        ] where given(part) == nil {
            wrong(first, "mail needs \(what); add it to ‘alerts.email’", isOfSeveral: true)
        }
        let host = given("HOST") ?? ""
        if given("HOST") != nil, !isHost(host) {
            wrong("HOST", "this is no host; write its name alone, like smtp.example.com")
        }
        let sender = given("FROM") ?? ""
        if given("FROM") != nil, !isAddress(sender) {
            wrong("FROM", "this is no address of mail; write it alone, like tollgate@example.com")
        }
        let recipients = list(given("TO") ?? "")
        if given("TO") != nil, recipients.isEmpty || !recipients.allSatisfy(isAddress) {
            wrong("TO", "‘to’ has something that is no address of mail, like ops@example.com")
        }
        if recipients.count > mostRecipients {
            wrong("TO", "there are more than \(mostRecipients) addresses; use a mailing list")
        }
        let server = mailServer(host, given, wrong)
        mistakes += found
        guard found.isEmpty else { return nil }
        return AlertEmail(server: server, sender: sender, recipients: recipients)
    }

    private static func mailServer(
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

    /// Each address once, in order.
    private static func list(_ text: String) -> [String] {
        text.split(separator: ",").flatMap { $0.split(separator: " ").map(String.init) }
            .reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
    }

    private static func isHost(_ text: String) -> Bool {
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
    private static func isAddress(_ text: String) -> Bool {
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

    private static func isLoopback(_ host: String) -> Bool {
        guard let address = IPAddress(host) else { return host.lowercased() == "localhost" }
        return address.bytes.count == 4
            ? address.bytes[0] == 127 : address.bytes == [UInt8](repeating: 0, count: 15) + [1]
    }
}
