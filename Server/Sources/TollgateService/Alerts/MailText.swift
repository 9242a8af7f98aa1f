// SPDX-License-Identifier: Apache-2.0
internal import Foundation
internal import TextFormats
internal import TollgateCore

/// A mail of plain text in UTF-8, written as RFC 5322 and MIME have it.
struct MailText: Hashable, Sendable {
    /// Unique; the part of the message's id before the `@`.
    var id: String
    var from: String
    var to: String
    var subject: String
    var text: String
    /// Real time.
    var date: Instant

    /// Header and text; lines end with CR and LF.
    ///
    /// None is longer than 76 characters, but for an address.
    var bytes: [UInt8] {
        let domain = from.split(separator: "@").last.map(String.init) ?? "localhost"
        let fields = [
            ("From", "Tollgate <\(Self.plain(from))>"),
            ("To", "<\(Self.plain(to))>"),
            ("Subject", Self.encoded(subject)),
            ("Date", Self.date(date)),
            ("Message-ID", "<\(Self.plain(id))@\(Self.plain(domain))>"),
            // No answering machine answers it (RFC 3834 §5).
            ("Auto-Submitted", "auto-generated"),
            ("MIME-Version", "1.0"),
            ("Content-Type", "text/plain; charset=utf-8"),
            ("Content-Transfer-Encoding", "base64"),
        ]
        let head = fields.map { "\($0): \($1)\r\n" }.joined()
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        let body = Data(lines.joined(separator: "\r\n").utf8).base64EncodedString(options: [
            .lineLength76Characters, .endLineWithCarriageReturn, .endLineWithLineFeed,
        ])
        return Array("\(head)\r\n\(body)\r\n".utf8)
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
