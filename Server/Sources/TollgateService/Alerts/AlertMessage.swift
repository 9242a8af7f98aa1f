// SPDX-License-Identifier: Apache-2.0
/// News of alarms as one text for people.
package struct AlertMessage: Hashable, Sendable {
    /// The form of a text.
    enum Form: Hashable, Sendable {
        /// For chats, which read `&`, `<` and `>` as markup.
        case chat
        /// For mail of plain text, in which these stand for themselves.
        case mail

        /// The greatest length of a message: Discord takes 2,000.
        var longest: Int {
            switch self {
            case .chat: 1_800
            case .mail: 20_000
            }
        }
    }

    /// Unique to one attempt to tell.
    package var id: String
    /// In the form of the channel; see `escaped`.
    package var text: String
    /// The news that the text holds.
    let told: [AlertNews]
    /// The news for which it has no room: they are for the next message.
    let left: [AlertNews]
    private let title: String
    private let form: Form

    // Lengths are in UTF-16 of the escaped text, the longest way in which a chat may count.

    /// The greatest length of one alarm.
    static let longestLine = 500

    /// - Parameter server: the address by which people know the server.
    init(id: String, _ news: [AlertNews], of server: String, form: Form = .chat) {
        (self.id, self.form) = (id, form)
        title = Self.escaped("Tollgate at \(server)", form)
        var text = title
        var (told, left): ([AlertNews], [AlertNews]) = ([], [])
        for item in news {
            let line = "\n" + Self.escaped(Self.line(item), form)
            if text.utf16.count + line.utf16.count <= form.longest {
                text += line
                told.append(item)
            } else {
                left.append(item)
            }
        }
        if !left.isEmpty { text += "\n… and \(left.count) more" }
        (self.text, self.told, self.left) = (text, told, left)
    }

    /// A message that tells of no alarm, to see that messages arrive.
    init(testOf server: String, id: String, form: Form) {
        self.init(id: id, [], of: server, form: form)
        text +=
            "\nTEST: Somebody asked Tollgate for this message. Alarms of this server arrive here, too."
    }

    /// The subject of a mail: no text of stores or strangers.
    var subject: String {
        func count(_ kind: AlertNews.Kind, _ one: String, _ many: String) -> String? {
            let count = told.count { $0.kind == kind }
            return count == 0 ? nil : "\(count) \(count == 1 ? one : many)"
        }
        let parts = [
            count(.raised, "new alarm", "new alarms"), count(.reminder, "reminder", "reminders"),
            count(.cleared, "all-clear", "all-clears"),
        ].compactMap(\.self)
        return "\(title): \(parts.isEmpty ? "test message" : parts.joined(separator: ", "))"
    }

    /// The same in numbers, for a chat that does not take the words.
    var inNumbers: AlertMessage {
        func count(_ kind: AlertNews.Kind) -> Int { told.count { $0.kind == kind } }
        var message = self
        message.id += "_numbers"
        message.text =
            "\(title)\nThis chat refused a message. The server's log has it. "
            + "New alarms: \(count(.raised)), reminders: \(count(.reminder)), all-clears: \(count(.cleared))."
        return message
    }

    private static func line(_ news: AlertNews) -> String {
        let remedy = news.remedy.map { " → \($0)" } ?? ""
        return switch news.kind {
        case .raised: "ALARM: \(news.sentence)\(remedy)"
        case .reminder: "STILL, since \(news.since): \(news.sentence)\(remedy)"
        case .cleared: "ALL CLEAR, after \(news.since): \(news.sentence)"
        }
    }

    /// One line that means nothing to its reader's program but its words: stores and strangers have written some.
    ///
    /// For chats, the three characters that Slack reads are escaped. Mentions (`@`) and links of Markdown (`](`) are
    /// broken by a space without width, and what breaks lines becomes a space.
    /// https://api.slack.com/reference/surfaces/formatting#escaping
    private static func escaped(_ text: String, _ form: Form) -> String {
        var (result, length) = ("", 0)
        var last: Unicode.Scalar?
        for scalar in text.unicodeScalars {
            let piece =
                switch scalar {
                case "&" where form == .chat: "&amp;"
                case "<" where form == .chat: "&lt;"
                case ">" where form == .chat: "&gt;"
                case "@": "@\u{200B}"
                case "(" where last == "]": "\u{200B}("
                case _ where breaksLines(scalar): " "
                default: String(scalar)
                }
            length += piece.utf16.count
            // One is left for the sign that something is missing.
            guard length < longestLine else { return result + "…" }
            result += piece
            last = scalar
        }
        return result
    }

    private static func breaksLines(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator: true
        default: false
        }
    }
}
