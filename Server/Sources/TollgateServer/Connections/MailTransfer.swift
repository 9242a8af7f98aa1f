// SPDX-License-Identifier: Apache-2.0
internal import CCurl
internal import Foundation
internal import TollgateService

/// One mail on its way to a mail server, or a greeting without a mail, on the thread that calls it.
final class MailTransfer {
    /// The sender's address; we greet by its domain.
    private let sender: String
    /// `nil`: the connection is made, and the login, and nothing is sent.
    private let mail: Mail?
    private let server: MailServer
    private let stop: OutgoingMail.Stop
    /// The bytes of the mail that libcurl has not taken yet.
    private var rest: ArraySlice<UInt8>
    /// The last line that the server said, but for its good-bye.
    private var reply = ""
    /// The number of commands that the server has answered with 250 or 251.
    private var accepted = 0

    init(_ mail: Mail?, from sender: String, to server: MailServer, _ stop: OutgoingMail.Stop) {
        (self.sender, self.mail) = (sender, mail)
        (self.server, self.stop) = (server, stop)
        rest = (mail?.bytes ?? [])[...]
    }

    /// - Throws: `MailFailed`.
    func run(within limit: Duration) throws {
        guard LibCurl.isReady, let curl = curl_easy_init() else {
            throw MailFailed("libcurl cannot be used on this machine.")
        }
        // The good-bye is said within the cleanup.
        defer { withExtendedLifetime(self) { curl_easy_cleanup(curl) } }
        let recipients = mail.flatMap { curl_slist_append(nil, "<\($0.recipient)>") }
        defer { curl_slist_free_all(recipients) }
        setUp(curl, within: limit)
        try protect(curl)
        if let recipients {
            _ = tollgate_curl_set_long(curl, CURLOPT_UPLOAD, 1)
            _ = tollgate_curl_set_list(curl, CURLOPT_MAIL_RCPT, recipients)
        } else {
            _ = tollgate_curl_set_long(curl, CURLOPT_NOBODY, 1)
            _ = tollgate_curl_set_text(curl, CURLOPT_CUSTOMREQUEST, "NOOP")
        }
        let code = curl_easy_perform(curl)
        guard code == CURLE_OK else { throw failure(code) }
    }

    // MARK: - What libcurl is told

    private func setUp(_ curl: UnsafeMutableRawPointer, within limit: Duration) {
        // Signals are for programs with one thread.
        _ = tollgate_curl_set_long(curl, CURLOPT_NOSIGNAL, 1)
        let milliseconds = Int(limit / .milliseconds(1))
        _ = tollgate_curl_set_long(curl, CURLOPT_TIMEOUT_MS, milliseconds)
        _ = tollgate_curl_set_long(curl, CURLOPT_CONNECTTIMEOUT_MS, min(10_000, milliseconds))
        // The whole limit counts neither for the answer to the good-bye nor for a lookup that hangs.
        _ = tollgate_curl_set_long(
            curl,
            CURLOPT_SERVER_RESPONSE_TIMEOUT,
            max(1, milliseconds / 1000)
        )
        _ = tollgate_curl_set_long(curl, CURLOPT_QUICK_EXIT, 1)
        // Variables of the process that name a proxy are meant for HTTP.
        _ = tollgate_curl_set_text(curl, CURLOPT_PROXY, "")
        _ = tollgate_curl_set_text(curl, CURLOPT_URL, address)
        _ = tollgate_curl_set_text(curl, CURLOPT_MAIL_FROM, "<\(sender)>")
        if let username = server.username, let password = server.password {
            _ = tollgate_curl_set_text(curl, CURLOPT_USERNAME, username)
            _ = tollgate_curl_set_text(curl, CURLOPT_PASSWORD, password)
            // Of what a server offers libcurl tries one way alone, Kerberos first.
            _ = tollgate_curl_set_text(curl, CURLOPT_LOGIN_OPTIONS, "AUTH=PLAIN;AUTH=LOGIN")
        }
        let own = Unmanaged.passUnretained(self).toOpaque()
        _ = tollgate_curl_set_pointer(curl, CURLOPT_READDATA, own)
        _ = tollgate_curl_set_transfer(curl, CURLOPT_READFUNCTION) { buffer, size, count, own in
            MailTransfer.of(own).read(into: buffer, size * count)
        }
        _ = tollgate_curl_set_pointer(curl, CURLOPT_HEADERDATA, own)
        _ = tollgate_curl_set_transfer(curl, CURLOPT_HEADERFUNCTION) { buffer, size, count, own in
            MailTransfer.of(own).heard(buffer, size * count)
        }
        _ = tollgate_curl_set_long(curl, CURLOPT_NOPROGRESS, 0)
        _ = tollgate_curl_set_pointer(curl, CURLOPT_XFERINFODATA, own)
        _ = tollgate_curl_set_progress(curl) { own, _, _, _, _ in
            MailTransfer.of(own).stop.isRequested ? 1 : 0
        }
    }

    /// TLS, and who vouches for it: nothing is sent without.
    private func protect(_ curl: UnsafeMutableRawPointer) throws {
        guard server.security != .none else { return }
        var codes = [
            tollgate_curl_set_long(curl, CURLOPT_USE_SSL, Int(CURLUSESSL_ALL.rawValue)),
            tollgate_curl_set_long(curl, CURLOPT_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2)),
        ]
        if let file = server.rootsFile {
            // In place of this machine's, not beside them.
            codes.append(tollgate_curl_set_text(curl, CURLOPT_CAINFO, file))
            codes.append(tollgate_curl_set_text(curl, CURLOPT_CAPATH, nil))
        }
        guard codes.allSatisfy({ $0 == CURLE_OK }) else {
            throw MailFailed("libcurl on this machine cannot protect mail by TLS.")
        }
    }

    /// `smtp://smtp.example.com:587/example.com`; the path is the name by which we greet.
    private var address: String {
        let scheme =
            switch server.security {
            case .implicitTLS: "smtps"
            case .startTLS, .none: "smtp"
            }
        let host =
            server.host.contains(":") && !server.host.hasPrefix("[")
            ? "[\(server.host)]" : server.host
        let name = sender.split(separator: "@").last ?? "localhost"
        return "\(scheme)://\(host):\(server.port)/\(name)"
    }

    private static func of(_ pointer: UnsafeMutableRawPointer?) -> MailTransfer {
        guard let pointer else { preconditionFailure("libcurl hands back what it was given") }
        return Unmanaged<MailTransfer>.fromOpaque(pointer).takeUnretainedValue()
    }

    private func read(into buffer: UnsafeMutablePointer<CChar>?, _ room: Int) -> Int {
        guard let buffer else { return 0 }
        let part = rest.prefix(room)
        UnsafeMutableRawPointer(buffer).copyMemory(from: Array(part), byteCount: part.count)
        rest = rest.dropFirst(part.count)
        return part.count
    }

    private func heard(_ buffer: UnsafeMutablePointer<CChar>?, _ count: Int) -> Int {
        guard let buffer else { return count }
        let bytes = UnsafeRawBufferPointer(start: buffer, count: min(count, 512))
        let line = String(decoding: bytes, as: UTF8.self)
        if !line.hasPrefix("221") { reply = line }
        // A hyphen means that another line follows.
        if line.hasPrefix("25"), !line.dropFirst(3).hasPrefix("-") { accepted += 1 }
        return count
    }

    // MARK: - What went wrong

    private func failure(_ code: CURLcode) -> MailFailed {
        let place = "\(server.host):\(server.port)"
        switch code {
        case CURLE_COULDNT_RESOLVE_HOST:
            return MailFailed("The name \(server.host) has no address: check ‘host’.")
        case CURLE_COULDNT_CONNECT:
            return MailFailed("Nobody answers at \(place): check ‘host’ and ‘port’.")
        case CURLE_OPERATION_TIMEDOUT:
            return MailFailed(
                "\(place) did not answer in time: check ‘host’, ‘port’ and ‘tls’ (port 465 is for ‘implicit’)."
            )
        case CURLE_USE_SSL_FAILED:
            return MailFailed(
                "\(place) offers no STARTTLS, and nothing was sent without it: check ‘tls’ and ‘port’."
            )
        case CURLE_PEER_FAILED_VERIFICATION:
            return MailFailed(
                "The certificate of \(place) is for another name or time, or its issuer is not trusted: check ‘host’, or name the issuer's certificate in ‘ca_file’."
            )
        case CURLE_SSL_CACERT_BADFILE:
            return MailFailed("The file of ‘ca_file’ cannot be read, or is not in PEM.")
        case CURLE_SSL_CONNECT_ERROR:
            return MailFailed(
                server.security == .implicitTLS
                    ? "\(place) speaks no TLS from the first byte, or none from 1.2 on: check ‘tls’ and ‘port’."
                    : "\(place) offers STARTTLS, but no TLS from 1.2 on came about."
            )
        case CURLE_ABORTED_BY_CALLBACK:
            return MailFailed("It was stopped.")
        default:
            return refusal(place, isLogin: code == CURLE_LOGIN_DENIED)
        }
    }

    private func refusal(_ place: String, isLogin: Bool) -> MailFailed {
        let status = Int(reply.prefix(3)) ?? 0
        guard (400..<600).contains(status) else {
            return MailFailed(
                isLogin
                    ? "\(place) offers no login by user name and password."
                    : "The connection to \(place) failed."
            )
        }
        let sentence =
            isLogin
            ? "\(place) refused the user name and password: \(quotedReply)"
            : mail == nil
                ? "\(place) refused us: \(quotedReply)"
                : "\(place) refused the mail: \(quotedReply)"
        return MailFailed(
            sentence,
            isPermanent: status >= 500,
            about: isLogin ? .server : subject(status)
        )
    }

    /// The thing that the server's last answer is about, by the commands before it.
    private func subject(_ status: Int) -> MailFailed.Subject {
        // EHLO is said again after STARTTLS; then comes MAIL.
        let beforeRecipient = server.security == .startTLS ? 3 : 2
        guard accepted >= beforeRecipient, ![530, 535].contains(status) else { return .server }
        // 5.7: a rule of the server forbids it, such as one against relaying (RFC 3463).
        let isMailbox = (550...553).contains(status) && !reply.dropFirst(4).hasPrefix("5.7.")
        return accepted == beforeRecipient && isMailbox ? .recipient : .message
    }

    /// The server's words on one line.
    private var quotedReply: String {
        let printable = reply.unicodeScalars.prefix(200).map { scalar -> Character in
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator: " "
            default: Character(scalar)
            }
        }
        let text = String(printable).trimmingCharacters(in: .whitespaces)
        return "‘\(text)’."
    }
}
