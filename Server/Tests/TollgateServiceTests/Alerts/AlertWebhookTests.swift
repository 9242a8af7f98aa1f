// SPDX-License-Identifier: Apache-2.0
import Foundation
import Stores
import Testing
import TollgateAPI
import TollgateCore

@testable import TollgateService

@Suite("Alarms as webhooks")
struct AlertWebhookTests {
    private static let wall = Instant(milliseconds: 1_780_272_000_500)
    private static let url = "https://hooks.example.com/services/secret"

    private static func news(
        _ kind: AlertNews.Kind,
        _ sentence: String,
        _ remedy: String? = nil
    ) -> AlertNews {
        AlertNews(kind: kind, name: "x", sentence: sentence, remedy: remedy, since: wall)
    }

    private static func message(_ sentence: String) -> AlertMessage {
        AlertMessage(
            id: "alert_1",
            [news(.raised, sentence, "Look.")],
            of: "https://billing.example.com"
        )
    }

    private static func headers(_ request: WebhookRequest) -> [String: String] {
        Dictionary(
            request.headers.map { ($0.name, $0.value) },
            uniquingKeysWith: { first, _ in first }
        )
    }

    @Test("The body is JSON with one text, in which Slack's own characters are escaped")
    func body() throws {
        let webhook = try AlertWebhook(url: Self.url, secret: nil, allowsPrivate: false)
        let request = try webhook.request(Self.message("a < b & \"c\""), at: Self.wall)
        #expect(request.address.url == Self.url)
        let body = try JSONDecoder().decode([String: String].self, from: Data(request.body))
        #expect(
            body == [
                "text":
                    "Tollgate at https://billing.example.com\nALARM: a &lt; b &amp; \"c\" → Look."
            ]
        )
        #expect(Self.headers(request)["content-type"] == "application/json")
    }

    @Test("Without a secret nothing is signed")
    func unsigned() throws {
        let webhook = try AlertWebhook(url: Self.url, secret: nil, allowsPrivate: false)
        let request = try webhook.request(Self.message("It is so."), at: Self.wall)
        #expect(Self.headers(request)["webhook-signature"] == nil)
    }

    @Test(
        "Addresses of this machine and secrets of another form are refused, and not repeated",
        arguments: [
            ("http://hooks.example.com/s3cret", nil), ("https://127.0.0.1/s3cret", nil),
            ("https://hooks.example.com/x", "s3cret"),
            ("https://hooks.example.com/x", "whsec_s3cret"),
            ("https://hooks.example.com/x", "whsec_c2hvcnQ="),
        ] as [(String, String?)]
    )
    func refused(_ url: String, _ secret: String?) throws {
        let refusal = #expect(throws: Refusal.self) {
            try AlertWebhook(url: url, secret: secret, allowsPrivate: false)
        }
        #expect(refusal?.error.message.contains("s3cret") == false)
    }

    @Test("A message fits into a chat, however many alarms there are")
    func bounded() {
        let words = String(repeating: "x", count: 900)
        let many = (0..<200).map { Self.news(.raised, "Alarm \($0) \(words)") }
        let message = AlertMessage(id: "alert_1", many, of: "https://billing.example.com")
        #expect(message.text.count < 2_000)
        #expect(message.text.contains("ALARM: Alarm 0 "))
        let lines = message.text.split(separator: "\n")
        #expect(lines.last == "… and \(200 - (lines.count - 2)) more")
    }

    @Test("Reminders and all-clears say since when")
    func kinds() {
        let message = AlertMessage(
            id: "alert_1",
            [Self.news(.reminder, "It is so.", "Look."), Self.news(.cleared, "It was so.")],
            of: "https://billing.example.com"
        )
        #expect(
            message.text == """
                Tollgate at https://billing.example.com
                STILL, since 2026-06-01T00:00:00Z: It is so. → Look.
                ALL CLEAR, after 2026-06-01T00:00:00Z: It was so.
                """
        )
    }
}
