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
        if given("HOST") != nil, !MailServer.isHost(host) {
            wrong("HOST", "this is not a host; write its name alone, like smtp.example.com")
        }
        let sender = given("FROM") ?? ""
        if given("FROM") != nil, !MailServer.isAddress(sender) {
            wrong("FROM", "this is not an email address; write it like tollgate@example.com")
        }
        let recipients = list(given("TO") ?? "")
        if given("TO") != nil, recipients.isEmpty || !recipients.allSatisfy(MailServer.isAddress) {
            wrong(
                "TO",
                "‘to’ has something that is not an email address; write each like ops@example.com"
            )
        }
        if recipients.count > mostRecipients {
            wrong("TO", "there are more than \(mostRecipients) addresses; use a mailing list")
        }
        let server = MailServer.read(host, given, wrong)
        mistakes += found
        guard found.isEmpty else { return nil }
        return AlertEmail(server: server, sender: sender, recipients: recipients)
    }

    /// Each address once, in order.
    private static func list(_ text: String) -> [String] {
        text.split(separator: ",").flatMap { $0.split(separator: " ").map(String.init) }
            .reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
    }
}
