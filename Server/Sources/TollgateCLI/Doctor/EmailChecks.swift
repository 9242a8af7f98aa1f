// SPDX-License-Identifier: Apache-2.0
import AsyncHTTPClient
import CommandOutput
import Foundation
import NIOCore
import NIOHTTP1
import TollgateCore
import TollgateServer
import TollgateService

/// What can be wrong with emails to customers: the mail server, the sender, the link to unsubscribe.
struct EmailChecks {
    let settings: ServeSettings

    func all(over client: HTTPClient) async -> [Finding] {
        guard let emails = settings.emails?.settings else {
            return [.skipped("emails", "No emails to customers are switched on.")]
        }
        // Each may wait, and whoever asks waits thirty seconds.
        async let link = unsubscribe(emails, over: client)
        return [await server(emails), sender(emails), await link]
    }

    /// Logs in at the mail server and sends nothing.
    private func server(_ emails: LetterSettings) async -> Finding {
        let name = "emails.server"
        let server = emails.server
        do {
            try await OutgoingMail.greet(server, as: emails.sender)
            let place = "\(server.host):\(server.port)"
            return .ok(
                name,
                server.username == nil
                    ? "\(place) takes the connection."
                    : "\(place) takes the connection and the login."
            )
        } catch {
            return .failed(
                name,
                Sentence(quoting: (error as? MailFailed)?.sentence ?? PlainWords.of(error)),
                "Correct ‘emails’ in the settings; tollgate emails test ADDRESS sends an email."
            )
        }
    }

    private func sender(_ emails: LetterSettings) -> Finding {
        let name = emails.senderName.map { "‘\($0)’ " } ?? ""
        return .ok(
            "emails.sender",
            "Emails come from \(name)<\(emails.sender)>; answers go to \(emails.replyTo ?? emails.sender)."
        )
    }

    // MARK: - The link to unsubscribe

    private func unsubscribe(
        _ emails: LetterSettings,
        over client: HTTPClient
    ) async -> Finding {
        let name = "emails.unsubscribe"
        guard !emails.kinds.allSatisfy(\.isTransactional) else {
            return .skipped(name, "No email that is switched on has a link to unsubscribe.")
        }
        let publicURL = settings.publicURL ?? ""
        let url =
            (publicURL.hasSuffix("/") ? String(publicURL.dropLast()) : publicURL)
            + "/emails/unsubscribe"
        guard Self.isPublic(url) else {
            return .warning(
                name,
                "The link to unsubscribe leads to \(url), which customers cannot open.",
                "Set TOLLGATE_PUBLIC_URL to an https:// address that is reached from everywhere: mail programs want one, too."
            )
        }
        return await reached(url, name, over: client)
    }

    /// Returns `true` for an address of `https` that may be anywhere on the internet.
    private static func isPublic(_ url: String) -> Bool {
        guard let parts = URLComponents(string: url), parts.scheme?.lowercased() == "https",
            let host = parts.host
        else { return false }
        return IPAddress(host)?.isPublic ?? !Loopback.isHost(host)
    }

    /// The page answers 404 to a link that nobody has signed.
    private func reached(
        _ url: String,
        _ name: String,
        over client: HTTPClient
    ) async -> Finding {
        let remedy: Sentence =
            "Let the proxy pass /emails/unsubscribe on: a customer must be able to unsubscribe."
        do {
            let answer = try await client.execute(
                HTTPClientRequest(url: url),
                timeout: .seconds(10)
            )
            guard answer.status == .notFound else {
                return .failed(name, "\(url) answers \(answer.status.code).", remedy)
            }
            return .ok(name, "The link to unsubscribe leads to \(url), which answers.")
        } catch {
            return .failed(name, "\(url): \(PlainWords.of(error))", remedy)
        }
    }
}
