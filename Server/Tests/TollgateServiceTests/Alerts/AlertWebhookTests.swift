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

    @Test(
        "A message fits into a chat, whatever alarms say and however many there are",
        arguments: ["x", "<", "👩‍👩‍👧‍👦", "e\u{301}\u{302}\u{303}"]
    )
    func bounded(_ character: String) {
        let words = String(repeating: character, count: 900)
        let many = (0..<200).map { Self.news(.raised, "Alarm \($0) \(words)") }
        let message = AlertMessage(id: "alert_1", many, of: "https://billing.example.com")
        #expect(message.text.utf16.count < 2_000)
        #expect(message.text.contains("ALARM: Alarm 0 "))
        let lines = message.text.split(separator: "\n")
        #expect(lines.last == "… and \(200 - (lines.count - 2)) more")
        #expect(message.told.count == lines.count - 2)
        #expect(message.told + message.left == many)
    }

    @Test("A short alarm still fits behind long ones; what does not fit is left")
    func left() {
        let long = (0..<4).map {
            Self.news(.raised, "\($0)" + String(repeating: "x", count: 600))
        }
        let short = Self.news(.cleared, "It was so.")
        let message = AlertMessage(
            id: "alert_1",
            long + [short],
            of: "https://billing.example.com"
        )
        #expect(message.told == Array(long.prefix(3)) + [short])
        #expect(message.left == [long[3]])
        #expect(message.text.hasSuffix(": It was so.\n… and 1 more"))
    }

    @Test("The words of strangers mention nobody, link nowhere and make no line of their own")
    func strangers() {
        let message = Self.message(
            "a\r\nb\u{2028}c\u{7}d @here <!channel> [x](https://evil.example) [x]\u{1}(y)"
        )
        let line =
            "ALARM: a  b c d @\u{200B}here &lt;!channel&gt; [x]\u{200B}(https://evil.example) [x] (y) → Look."
        #expect(message.text == "Tollgate at https://billing.example.com\n" + line)
    }

    @Test(
        "A chat's refusal is about the message, but for one that is about the time or the chat",
        arguments: [
            (400, true), (404, true), (413, true), (408, false), (429, false), (503, false),
        ]
    )
    func refusals(_ status: Int, _ isAboutMessage: Bool) {
        #expect(AlertRefused(status: status).isAboutMessage == isAboutMessage)
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
