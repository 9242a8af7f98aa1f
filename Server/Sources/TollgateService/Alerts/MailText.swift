// SPDX-License-Identifier: Apache-2.0
internal import Foundation
internal import TextFormats
internal import TollgateCore

/// A mail of text in UTF-8, plain or with the same in HTML, written as RFC 5322 and MIME have it.
struct MailText: Hashable, Sendable {
    /// Unique; the part of the message's id before the `@`.
    var id: String
    var from: String
    var to: String
    var subject: String
    var text: String
    /// Real time.
    var date: Instant
    /// The sender's name; `nil`: the address alone.
    var fromName: String? = "Tollgate"
    /// The address for answers; `nil`: the sender's.
    var replyTo: String?
    /// The text in HTML; `nil`: there is none.
    var html: String?
    /// The link that unsubscribes with one press (RFC 8058); `nil`: there is none.
    var unsubscribe: String?

    /// Header and text; lines end with CR and LF.
    ///
    /// None is longer than 76 characters, but for an address.
    var bytes: [UInt8] {
        let domain = from.split(separator: "@").last.map(String.init) ?? "localhost"
        let name = fromName.map { "\(Self.phrase($0)) " } ?? ""
        var fields = [
            ("From", "\(name)<\(Self.plain(from))>"),
            ("To", "<\(Self.plain(to))>"),
            ("Subject", Self.encoded(subject)),
            ("Date", Self.date(date)),
            ("Message-ID", "<\(Self.plain(id))@\(Self.plain(domain))>"),
            // No answering machine answers it (RFC 3834 §5).
            ("Auto-Submitted", "auto-generated"),
            ("MIME-Version", "1.0"),
        ]
        if let replyTo { fields.insert(("Reply-To", "<\(Self.plain(replyTo))>"), at: 2) }
        if let unsubscribe {
            fields.append(("List-Unsubscribe", "<\(Self.plain(unsubscribe))>"))
            fields.append(("List-Unsubscribe-Post", "List-Unsubscribe=One-Click"))
        }
        let head = Self.written(fields)
        let plain = Self.part("plain", text)
        guard let html else { return Array("\(head)\(plain)".utf8) }
        // Base64 has no underscore, so no line of a part is the boundary.
        let boundary = "=_part"
        let type = Self.written([
            ("Content-Type", "multipart/alternative; boundary=\"\(boundary)\"")
        ])
        let parts = [plain, Self.part("html", html)].map { "--\(boundary)\r\n\($0)" }.joined()
        return Array("\(head)\(type)\r\n\(parts)--\(boundary)--\r\n".utf8)
    }

    private static func written(_ fields: [(String, String)]) -> String {
        fields.map { "\($0): \($1)\r\n" }.joined()
    }

    /// A text with the fields that say how it is written.
    private static func part(_ type: String, _ text: String) -> String {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        let body = Data(lines.joined(separator: "\r\n").utf8).base64EncodedString(options: [
            .lineLength76Characters, .endLineWithCarriageReturn, .endLineWithLineFeed,
        ])
        let fields = [
            ("Content-Type", "text/\(type); charset=utf-8"),
            ("Content-Transfer-Encoding", "base64"),
        ]
        return "\(written(fields))\r\n\(body)\r\n"
    }

    /// A name before an address: as it is where it is of letters and digits, else encoded.
    private static func phrase(_ name: String) -> String {
        let isPlain = name.utf8.allSatisfy {
            $0 == 0x20 || (0x30...0x39).contains($0) || (0x41...0x5A).contains($0)
                || (0x61...0x7A).contains($0)
        }
        return isPlain && name.utf8.count <= 60 ? name : encodedWords(name)
    }

    /// The printable characters of ASCII alone: nothing that begins another line of the header.
    private static func plain(_ text: String) -> String {
        String(
            String.UnicodeScalarView(
                text.unicodeScalars.filter { (0x21...0x7E).contains($0.value) }
            )
        )
    }

    /// A text of a header: as it is where it is short and of printable ASCII, else in words of RFC 2047.
    private static func encoded(_ text: String) -> String {
        let isPlain = text.unicodeScalars.allSatisfy { (0x20...0x7E).contains($0.value) }
        guard !isPlain || text.utf8.count > 60 || text.contains("=?") else { return text }
        return encodedWords(text)
    }

    /// Words of RFC 2047 on lines of their own.
    private static func encodedWords(_ text: String) -> String {
        // A line has at most 76 characters, and no character is in two words: 39 bytes are 52 in Base64.
        var words: [[UInt8]] = [[]]
        for scalar in text.unicodeScalars {
            let bytes = Array(String(scalar).utf8)
            if words[words.count - 1].count + bytes.count > 39 { words.append([]) }
            words[words.count - 1] += bytes
        }
        return words.map { "=?utf-8?B?\(Data($0).base64EncodedString())?=" }
            .joined(separator: "\r\n ")
    }

    /// `Mon, 01 Jun 2026 00:00:00 +0000`: RFC 5322 §3.3.
    private static func date(_ instant: Instant) -> String {
        let text = HTTPDate.text(of: instant.milliseconds / 1000)
        return text.replacing("GMT", with: "+0000")
    }
}
