// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing
import TollgateCore

@testable import TollgateService

@Suite("The settings of emails to customers")
struct LetterSettingsTests {
    private static func read(_ settings: [String: String]) -> (LetterSettings?, [String]) {
        var mistakes: [SettingMistake] = []
        let read = LetterSettings.read({ settings[$0] }, &mistakes)
        return (read, mistakes.map(\.name))
    }

    @Test("Nothing is sent unless a kind is switched on")
    func off() {
        #expect(Self.read([:]) == (nil, []))
        let on = ["EMAILS_FROM": "a@example.com", "EMAILS_HOST": "smtp.example.com"]
        #expect(Self.read(on) == (nil, []))
        let (settings, mistakes) = Self.read(on.merging(["EMAILS_LAPSED": "true"]) { $1 })
        #expect(settings?.kinds == [.lapsed] && mistakes.isEmpty)
        #expect(settings?.includesSandbox == false && settings?.server.port == 587)
    }

    @Test("The mail server is that of alarms unless there is one of its own")
    func server() {
        var given = [
            "EMAILS_RECEIPT": "true", "EMAILS_FROM": "a@example.com",
            "ALERTS_EMAIL_HOST": "alerts.example.com", "ALERTS_EMAIL_PORT": "2525",
        ]
        #expect(Self.read(given).0?.server.host == "alerts.example.com")
        #expect(Self.read(given).0?.server.port == 2525)
        given["EMAILS_HOST"] = "mail.example.com"
        #expect(Self.read(given).0?.server.host == "mail.example.com")
        #expect(Self.read(given).0?.server.port == 587)
        given["ALERTS_EMAIL_HOST"] = nil
        given["EMAILS_HOST"] = nil
        #expect(Self.read(given) == (nil, ["EMAILS_RECEIPT"]))
    }

    @Test("A letter has both texts, and a mail program's button to unsubscribe")
    func mail() throws {
        var mail = MailText(
            id: "1",
            from: "billing@example.com",
            to: "ann@example.com",
            subject: "x",
            text: "plain",
            date: Instant(milliseconds: 1_780_272_000_000)
        )
        (mail.fromName, mail.replyTo) = ("Zürich, \"A\"\r\nBcc: x@example.com", "help@example.com")
        (mail.html, mail.unsubscribe) = ("<p>html</p>", "https://example.com/u?a=1&b=2")
        let text = String(decoding: mail.bytes, as: UTF8.self)
        let lines = text.components(separatedBy: "\r\n")
        #expect(lines[0].hasPrefix("From: =?utf-8?B?"))
        #expect(!lines.contains { $0.hasPrefix("Bcc") })
        #expect(lines.contains("Reply-To: <help@example.com>"))
        #expect(lines.contains("List-Unsubscribe: <https://example.com/u?a=1&b=2>"))
        #expect(lines.contains("List-Unsubscribe-Post: List-Unsubscribe=One-Click"))
        #expect(lines.filter { $0 == "--=_part" }.count == 2 && lines.contains("--=_part--"))
        for body in ["plain", "<p>html</p>"] {
            #expect(lines.contains(Data(body.utf8).base64EncodedString()))
        }
    }
}
