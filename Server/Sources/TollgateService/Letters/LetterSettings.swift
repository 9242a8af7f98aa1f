// SPDX-License-Identifier: Apache-2.0
internal import Stores

/// The settings of emails to customers.
package struct LetterSettings: Hashable, Sendable {
    /// The languages of the built-in texts.
    package static let languages = CustomerLanguage.allCases.map(\.rawValue)

    package var server: MailServer
    /// The address of the sender.
    package var sender: String
    /// The name of the sender; `nil`: the address alone is shown.
    package var senderName: String?
    /// The address that answers go to; `nil`: the sender's.
    package var replyTo: String?
    /// The kinds that are sent; at least one.
    package var kinds: Set<Letter.Kind>
    /// True if letters about the stores' test purchases are sent, too.
    package var includesSandbox = false
    /// The language of customers who have named none.
    package var language = "en"
    /// The folder with templates that take the place of the built-in ones; `nil`: there is none.
    package var templates: String?
    /// The page that letters lead to; `nil`: the portal.
    package var accountURL: String?

    package init(server: MailServer, sender: String, kinds: Set<Letter.Kind>) {
        (self.server, self.sender, self.kinds) = (server, sender, kinds)
    }
}

/// The subject and the text of a letter.
package struct LetterText: Hashable, Sendable {
    package var subject: String
    package var text: String
    package var html: String

    package init(subject: String, text: String, html: String) {
        (self.subject, self.text, self.html) = (subject, text, html)
    }
}

/// A letter with the values that its template may name.
package struct LetterContent: Hashable, Sendable {
    package var letter: Letter
    /// The name of the app; empty where the catalog has none.
    package var app: String
    /// The name of the store that sold it; empty for a gift.
    package var shop: String
    /// The page that it leads to.
    package var link: String
    /// The link that unsubscribes; `nil` in letters about payments.
    package var unsubscribe: String?

    package init(
        _ letter: Letter,
        app: String,
        shop: String,
        link: String,
        unsubscribe: String? = nil
    ) {
        (self.letter, self.app, self.shop) = (letter, app, shop)
        (self.link, self.unsubscribe) = (link, unsubscribe)
    }
}

/// Everything that the server needs to write letters.
public struct LetterSetUp: Sendable {
    package var settings: LetterSettings
    /// Writes a letter in a language of `LetterSettings.languages`.
    package var write: @Sendable (_ content: LetterContent, _ language: String) -> LetterText

    package init(
        settings: LetterSettings,
        write: @escaping @Sendable (LetterContent, String) -> LetterText
    ) {
        (self.settings, self.write) = (settings, write)
    }
}

// MARK: - Reading

extension LetterSettings {
    private static let prefix = "EMAILS_"
    private static let serverParts = ["HOST", "PORT", "TLS", "USERNAME", "PASSWORD", "CA_FILE"]
    private static let parts =
        Letter.Kind.allCases.map { $0.rawValue.uppercased() } + [
            "FROM", "FROM_NAME", "REPLY_TO", "SANDBOX", "LANGUAGE", "TEMPLATES", "ACCOUNT_URL",
        ] + serverParts

    /// Reads `EMAILS_…`.
    ///
    /// - Parameters:
    ///   - text: the text of a setting by its name; `nil`: it is not set.
    ///   - isTrial: whether settings without a kind count, too.
    ///   - mistakes: what is wrong is added to these.
    /// - Returns: `nil` if no kind is switched on, or something is wrong.
    package static func read(
        _ text: (String) -> String?,
        isTrial: Bool = false,
        _ mistakes: inout [SettingMistake]
    ) -> LetterSettings? {
        func given(_ part: String) -> String? { text(prefix + part) }
        guard let first = parts.first(where: { given($0) != nil }) else { return nil }
        var found: [SettingMistake] = []
        func wrong(_ part: String, _ message: String, isOfSeveral: Bool = false) {
            found.append(SettingMistake(prefix + part, message, isOfSeveral: isOfSeveral))
        }
        func flag(_ part: String) -> Bool {
            switch given(part)?.lowercased() {
            case nil, "false", "0": return false
            case "true", "1": return true
            default:
                wrong(part, "this is neither true nor false; write one of them")
                return false
            }
        }
        let kinds = Letter.Kind.allCases.filter { flag($0.rawValue.uppercased()) }
        let server = server(text, first: first) { wrong($0, $1, isOfSeveral: $2) }
        if given("FROM") == nil {
            wrong(first, "emails need ‘from’, the sender's address; add it", isOfSeveral: true)
        }
        for part in ["FROM", "REPLY_TO"] {
            guard let address = given(part), !MailServer.isAddress(address) else { continue }
            wrong(part, "this is not an email address; write it like billing@example.com")
        }
        if given("FROM_NAME")?.utf8.contains(where: { $0 < 0x20 }) == true {
            wrong("FROM_NAME", "this has a control character; remove it")
        }
        if let language = given("LANGUAGE"), !languages.contains(language) {
            let advice = NearMiss.advice(language, among: languages)
            wrong("LANGUAGE", "‘language’ has an unknown value: \(advice)")
        }
        if let url = given("ACCOUNT_URL"), !isPage(url) {
            wrong("ACCOUNT_URL", "this is not a web address; write it like https://example.com/")
        }
        let includesSandbox = flag("SANDBOX")
        mistakes += found
        guard found.isEmpty, let server, isTrial || !kinds.isEmpty else { return nil }
        var settings = LetterSettings(
            server: server,
            sender: given("FROM") ?? "",
            kinds: Set(kinds)
        )
        (settings.senderName, settings.replyTo) = (given("FROM_NAME"), given("REPLY_TO"))
        (settings.templates, settings.accountURL) = (given("TEMPLATES"), given("ACCOUNT_URL"))
        settings.language = given("LANGUAGE") ?? settings.language
        settings.includesSandbox = includesSandbox
        return settings
    }

    /// The mail server of `EMAILS_…`, else that of alarms.
    private static func server(
        _ text: (String) -> String?,
        first: String,
        _ wrong: (String, String, Bool) -> Void
    ) -> MailServer? {
        func own(_ part: String) -> String? { text(prefix + part) }
        func ofAlerts(_ part: String) -> String? { text("ALERTS_EMAIL_" + part) }
        if let host = own("HOST") {
            if !MailServer.isHost(host) {
                wrong(
                    "HOST",
                    "this is not a host; write its name alone, like smtp.example.com",
                    false
                )
            }
            return MailServer.read(host, own, wrong)
        }
        if let part = serverParts.first(where: { own($0) != nil }) {
            wrong(part, "this belongs to a mail server; add its ‘host’ to ‘emails’", true)
            return nil
        }
        guard let host = ofAlerts("HOST") else {
            wrong(
                first,
                "emails need ‘host’, the name of your mail server; add it to ‘emails’ or ‘alerts.email’",
                true
            )
            return nil
        }
        // The settings of alarms report its mistakes.
        return MailServer.read(host, ofAlerts) { _, _, _ in }
    }

    private static func isPage(_ url: String) -> Bool {
        guard url.hasPrefix("https://") || url.hasPrefix("http://"), url.utf8.count <= 500 else {
            return false
        }
        return url.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != 0x22 && $0 != 0x3C }
    }
}
