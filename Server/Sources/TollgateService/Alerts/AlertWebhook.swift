// SPDX-License-Identifier: Apache-2.0
internal import Foundation
internal import Stores
internal import TollgateAPI
internal import TollgateCore

/// A chat, or a program, that takes alarms by POST: `{"text": "…"}`, as Slack's incoming webhooks do.
///
/// https://api.slack.com/messaging/webhooks
package struct AlertWebhook: Sendable {
    private let address: WebhookAddress
    /// `nil`: nothing is signed; a chat does not look.
    private let secrets: WebhookSecrets?
    private let allowsPrivate: Bool

    /// - Parameters:
    ///   - secret: `whsec_` and 24 to 64 bytes in Base64, as receivers of webhooks keep theirs.
    ///   - allowsPrivate: whether it may be on this machine or beside it, for a sandbox.
    /// - Throws: refusals 422 `url_forbidden`, 400 `parameter_invalid`; neither repeats what was given.
    package init(url: String, secret: String?, allowsPrivate: Bool) throws {
        address = try WebhookAddress(url, allowsPrivate: allowsPrivate)
        if let secret {
            guard let read = WebhookSecrets(secret) else {
                throw Refusal.invalid(
                    "secret",
                    "it is not whsec_ with 24 to 64 bytes in Base64. Make one: echo whsec_$(openssl rand -base64 32)"
                )
            }
            secrets = read
        } else {
            secrets = nil
        }
        self.allowsPrivate = allowsPrivate
    }

    func channel(over transport: @escaping WebhookTransport, clocks: Clocks) -> AlertChannel {
        AlertChannel(name: "webhook", form: .chat, kind: "webhook", place: address.host) {
            message in
            let response = try await transport(try request(message, at: clocks.wall()))
            guard (200..<300).contains(response.status) else {
                throw AlertRefused(status: response.status)
            }
        }
    }

    /// - Parameter wall: real time.
    func request(_ message: AlertMessage, at wall: Instant) throws -> WebhookRequest {
        let body = Array(try APIJSON.encode(Body(text: message.text)))
        let timestamp = wall.milliseconds / 1_000
        var headers: [(name: String, value: String)] = [
            ("content-type", "application/json"), ("user-agent", "Tollgate"),
            ("webhook-id", message.id), ("webhook-timestamp", "\(timestamp)"),
        ]
        if let secrets {
            let signature = secrets.signature(
                id: message.id,
                timestamp: timestamp,
                body: body,
                now: wall.milliseconds
            )
            headers.append(("webhook-signature", signature))
        }
        return WebhookRequest(
            address: address,
            headers: headers,
            body: body,
            allowsPrivate: allowsPrivate
        )
    }

    private struct Body: Encodable {
        var text: String
    }
}

/// A chat did not take a message.
struct AlertRefused: Error {
    /// Of its answer.
    var status: Int

    /// `true` if the chat may have refused the message's content, which no later try would change.
    var isAboutMessage: Bool { (400..<500).contains(status) && ![408, 429].contains(status) }
}
