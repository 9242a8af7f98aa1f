// SPDX-License-Identifier: Apache-2.0
/// A mistake in one setting, found by what it means and not by its form.
package struct SettingMistake: Hashable, Sendable {
    /// The setting's name without `TOLLGATE_`; of a missing setting, the one that needs it.
    package var name: String
    /// The mistake and its remedy as one sentence, without what was given: that may be a secret.
    package var message: String
    /// True if other settings decide it; a command beside a server may lack variables that the server has.
    package var isOfSeveral: Bool

    init(_ name: String, _ message: String, isOfSeveral: Bool = false) {
        (self.name, self.message, self.isOfSeveral) = (name, message, isOfSeveral)
    }

    /// The mistakes in settings of alarms, traces and emails.
    ///
    /// - Parameters:
    ///   - text: the text of a setting by its name without `TOLLGATE_`; `nil`: it is not set.
    ///   - names: the names of all settings.
    package static func all(_ text: (String) -> String?, among names: Set<String>)
        -> [SettingMistake]
    {
        var mistakes: [SettingMistake] = []
        let allowsPrivate = ["true", "1"].contains(text("WEBHOOKS_ALLOW_PRIVATE")?.lowercased())
        _ = AlertSettings.read(text, among: names, allowsPrivate: allowsPrivate, &mistakes)
        _ = TraceSettings.read(text, &mistakes)
        _ = LetterSettings.read(text, &mistakes)
        return mistakes
    }
}
