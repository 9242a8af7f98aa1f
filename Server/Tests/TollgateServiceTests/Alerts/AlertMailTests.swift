// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing
import TollgateCore

@testable import TollgateService

@Suite("A mail of alarms")
struct AlertMailTests {
    private static func lines(_ mail: MailText) -> [String] {
        String(decoding: mail.bytes, as: UTF8.self).components(separatedBy: "\r\n")
    }

    private static func mail(subject: String = "Tollgate", text: String = "One\nline") -> MailText {
        MailText(
            id: "alert_1",
            from: "tollgate@example.com",
            to: "ops@example.com",
            subject: subject,
            text: text,
            date: Instant(milliseconds: 1_780_272_000_000)
        )
    }

    @Test("has the fields that RFC 5322 asks for, and its text in UTF-8")
    func whole() throws {
        let lines = Self.lines(Self.mail(text: "Zürich\n→"))
        #expect(
            lines.prefix(9) == [
                "From: Tollgate <tollgate@example.com>", "To: <ops@example.com>",
                "Subject: Tollgate", "Date: Mon, 01 Jun 2026 00:00:00 +0000",
                "Message-ID: <alert_1@example.com>", "Auto-Submitted: auto-generated",
                "MIME-Version: 1.0", "Content-Type: text/plain; charset=utf-8",
                "Content-Transfer-Encoding: base64",
            ]
        )
        #expect(lines[9] == "")
        let body = try #require(Data(base64Encoded: lines[10]))
        #expect(String(decoding: body, as: UTF8.self) == "Zürich\r\n→")
    }

    @Test(
        "has no other fields, whatever is in it",
        arguments: [
            "a\r\nBcc: x@example.com", "a\nBcc: x", "a\rBcc: x", "Zürich", "=?x?=", "\u{0}\u{7F}",
        ]
    )
    func injection(_ text: String) throws {
        var mail = Self.mail(subject: text, text: text)
        (mail.id, mail.to) = (text, "ops@example.com\r\nBcc: x@example.com")
        let lines = Self.lines(mail)
        let end = try #require(lines.firstIndex(of: ""))
        let names = lines.prefix(end).filter { !$0.hasPrefix(" ") }.map { $0.prefix { $0 != ":" } }
        #expect(
            names == [
                "From", "To", "Subject", "Date", "Message-ID", "Auto-Submitted", "MIME-Version",
                "Content-Type", "Content-Transfer-Encoding",
            ]
        )
        let bytes = mail.bytes
        #expect(bytes.allSatisfy { (0x20...0x7E).contains($0) || $0 == 0x0A || $0 == 0x0D })
        #expect(bytes.count { $0 == 0x0A } == bytes.count { $0 == 0x0D })
    }

    @Test("has short lines, and a long subject in several words")
    func long() {
        let words = String(repeating: "ü", count: 300)
        let lines = Self.lines(Self.mail(subject: words, text: words))
        #expect(lines.allSatisfy { $0.utf8.count <= 76 })
        let encoded = lines.filter { $0.contains("=?utf-8?B?") }
            .map { $0.replacing("Subject: ", with: "").trimmingCharacters(in: .whitespaces) }
        #expect(encoded.count > 10 && encoded.allSatisfy { $0.utf8.count <= 75 })
        let read = encoded.map { $0.replacing("=?utf-8?B?", with: "").replacing("?=", with: "") }
            .compactMap { Data(base64Encoded: $0) }.map { String(decoding: $0, as: UTF8.self) }
        #expect(read.joined() == words)
    }

    @Test("says foreign words on one line, without mentions, and with signs as they are")
    func foreign() {
        let news = AlertNews(
            kind: .raised,
            name: "check/x",
            sentence: "<b>a & b</b>\r\nBcc: @all [x](y)\u{2028}",
            remedy: "Look.",
            since: Instant(milliseconds: 0)
        )
        let message = AlertMessage(id: "alert_1", [news], of: "https://x", form: .mail)
        #expect(
            message.text
                == "Tollgate at https://x\nALARM: <b>a & b</b>  Bcc: @\u{200B}all [x]\u{200B}(y)  → Look."
        )
        #expect(message.subject == "Tollgate at https://x: 1 new alarm")
    }

    @Test("counts in its subject")
    func subject() {
        func news(_ kind: AlertNews.Kind, _ name: String) -> AlertNews {
            AlertNews(kind: kind, name: name, sentence: "x", since: Instant(milliseconds: 0))
        }
        let message = AlertMessage(
            id: "alert_1",
            [news(.raised, "a"), news(.raised, "b"), news(.reminder, "c"), news(.cleared, "d")],
            of: "x",
            form: .mail
        )
        #expect(message.subject == "Tollgate at x: 2 new alarms, 1 reminder, 1 all-clear")
        #expect(
            AlertMessage(testOf: "x", id: "1", form: .mail).subject == "Tollgate at x: test message"
        )
    }

    private static func read(_ changes: [String: String?]) -> (AlertEmail?, [SettingMistake]) {
        var texts: [String: String] = [
            "HOST": "smtp.example.com", "FROM": "a@example.com", "TO": "b@example.com",
        ]
        for (name, text) in changes { texts[name] = text }
        var mistakes: [SettingMistake] = []
        let email = AlertEmail.read(
            { texts[String($0.dropFirst("ALERTS_EMAIL_".count))] },
            &mistakes
        )
        return (email, mistakes)
    }

    @Test("takes the usual port of its encryption, and each recipient once")
    func defaults() throws {
        let email = try #require(Self.read(["TO": "b@example.com, c@example.com,b@example.com"]).0)
        #expect(
            email.server == MailServer(host: "smtp.example.com", port: 587, security: .startTLS)
        )
        #expect(email.recipients == ["b@example.com", "c@example.com"])
        #expect(try #require(Self.read(["TLS": "implicit"]).0).server.port == 465)
        let local = try #require(Self.read(["TLS": "none", "HOST": "127.0.0.1"]).0)
        #expect(local.server.port == 25)
    }

    @Test(
        "goes unencrypted to this machine alone",
        arguments: ["smtp.example.com", "10.0.0.1", "localhost.example.com", "::2", "128.0.0.1"]
    )
    func unencrypted(_ host: String) {
        #expect(Self.read(["TLS": "none", "HOST": host]).1.map(\.name) == ["ALERTS_EMAIL_TLS"])
        for host in ["localhost", "127.0.0.1", "127.8.8.8", "::1"] {
            #expect(Self.read(["TLS": "none", "HOST": host]).1 == [])
        }
    }

    @Test(
        "goes to and comes from plain addresses only",
        arguments: [
            "a", "a@", "@b", "a@b@c", "A <a@example.com>", "a\n@example.com", "a@exa mple.com",
            "ä@example.com", "a..b@example.com", "a@-x.com", "\"a b\"@example.com", "a@b.com>",
        ]
    )
    func addresses(_ text: String) {
        let mistakes = Self.read(["FROM": text, "TO": text]).1
        #expect(mistakes.map(\.name) == ["ALERTS_EMAIL_FROM", "ALERTS_EMAIL_TO"])
    }
}
