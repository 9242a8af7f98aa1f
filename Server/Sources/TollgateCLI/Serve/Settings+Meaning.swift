// SPDX-License-Identifier: Apache-2.0
import TollgateServer
import TollgateService

extension AlertSettings {
    /// The bounds of alarms and who is told, from `TOLLGATE_ALERTS_…`; `nil` where none is set.
    ///
    /// - Parameter allowsPrivate: whether the webhook may be on this machine or beside it.
    /// - Throws: `WrongSettings` with all mistakes.
    static func configured(allowsPrivate: Bool) throws -> AlertSettings? {
        try Settings.meaning { text, mistakes in
            read(text, among: Settings.names, allowsPrivate: allowsPrivate, &mistakes)
        }
    }
}

extension LetterSetUp {
    /// Emails to customers and their templates, from `TOLLGATE_EMAILS_…`; `nil` where no kind is on.
    ///
    /// - Throws: `WrongSettings` with all mistakes, `CatalogErrors` with those in templates.
    static func configured() throws -> LetterSetUp? {
        let settings = try Settings.meaning { text, mistakes in
            LetterSettings.read(text, &mistakes)
        }
        guard let settings else { return nil }
        let templates = try LetterTemplates(folder: settings.templates)
        return LetterSetUp(settings: settings) { templates.text(of: $0, in: $1) }
    }
}

extension LetterSettings {
    /// The settings of emails to customers for a test email; `nil` where none is set.
    ///
    /// - Throws: `WrongSettings` with all mistakes.
    static func ofTrial() throws -> LetterSettings? {
        try Settings.meaning { text, mistakes in read(text, isTrial: true, &mistakes) }
    }
}

extension TraceSettings {
    /// Where spans are sent, from `TOLLGATE_TRACES_…`; `nil` where no collector is set.
    ///
    /// - Throws: `WrongSettings` with all mistakes.
    static func configured() throws -> TraceSettings? {
        try Settings.meaning { text, mistakes in read(text, &mistakes) }
    }
}

extension Settings {
    /// The address by which a server with these settings calls itself.
    static func ownAddress() throws -> String {
        if let publicURL = text(nil, "PUBLIC_URL") { return publicURL }
        let address = try ListenAddress(
            text(nil, "LISTEN") ?? "127.0.0.1:8080",
            option: "TOLLGATE_LISTEN"
        )
        return "http://\(address.host):\(address.port)"
    }

    fileprivate static func meaning<Value>(
        _ read: ((String) -> String?, inout [SettingMistake]) -> Value
    ) throws -> Value {
        var mistakes: [SettingMistake] = []
        let value = read({ text(nil, $0) }, &mistakes)
        guard mistakes.isEmpty else {
            throw WrongSettings(
                problems: mistakes.map { "TOLLGATE_\($0.name): \($0.message)." },
                isUsage: true
            )
        }
        return value
    }
}
