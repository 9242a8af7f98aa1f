// SPDX-License-Identifier: Apache-2.0
/// A mail server that takes mail by SMTP, and how the connection to it is made.
public struct MailServer: Hashable, Sendable {
    /// The encryption of a connection.
    public enum Security: String, CaseIterable, Hashable, Sendable {
        /// The connection begins in plain text and must change to TLS (RFC 3207).
        case startTLS = "starttls"
        /// The connection begins with TLS (RFC 8314).
        case implicitTLS = "implicit"
        /// None: for a mail server on this machine only.
        case none

        /// The port that a server usually has for it.
        public var usualPort: Int {
            switch self {
            case .startTLS: 587
            case .implicitTLS: 465
            case .none: 25
            }
        }
    }

    /// A name or an IP address.
    public var host: String
    public var port: Int
    public var security: Security
    /// The user name; `nil`: the server asks for none.
    public var username: String?
    /// The password of the user name.
    public var password: String?
    /// A file in PEM with the root certificates that are trusted; `nil`: those of this machine.
    public var rootsFile: String?

    /// - Parameter host: a name or an IP address.
    public init(host: String, port: Int, security: Security) {
        (self.host, self.port, self.security) = (host, port, security)
    }
}

/// A mail as a mail server takes it.
public struct Mail: Hashable, Sendable {
    /// The address of the sender, also the one to which a mail that cannot be delivered is returned.
    public var sender: String
    /// The address of the one recipient.
    public var recipient: String
    /// Header and text by RFC 5322; lines end with CR and LF.
    public var bytes: [UInt8]

    /// - Parameter bytes: header and text by RFC 5322.
    public init(sender: String, recipient: String, bytes: [UInt8]) {
        (self.sender, self.recipient, self.bytes) = (sender, recipient, bytes)
    }
}

/// Hands a mail to a mail server; throws `MailFailed`.
public typealias MailTransport = @Sendable (Mail, MailServer) async throws -> Void

/// A mail server did not take a mail.
public struct MailFailed: Error, Hashable, Sendable, CustomStringConvertible {
    /// The thing that a mail server refuses.
    public enum Subject: Hashable, Sendable {
        /// The connection, the login or the sender: other mails would be refused, too.
        case server
        /// The mailbox of the recipient.
        case recipient
        /// This mail, for another reason.
        case message
    }

    /// The reason, as a sentence.
    public var sentence: String
    /// True if the same mail would be refused again (5xx, RFC 5321 §4.2.1).
    public var isPermanent: Bool
    public var subject: Subject

    /// - Parameter sentence: the reason.
    public init(_ sentence: String, isPermanent: Bool = false, about subject: Subject = .server) {
        self.sentence = sentence
        (self.isPermanent, self.subject) = (isPermanent, subject)
    }

    public var description: String { sentence }
}
