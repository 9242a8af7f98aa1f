// SPDX-License-Identifier: Apache-2.0
/// A mistake in one setting, found by what it means and not by its form.
package struct SettingMistake: Hashable, Sendable {
    /// The setting's name without `TOLLGATE_`; of a missing setting, the one that needs it.
    package var name: String
    /// The mistake and its remedy as one sentence, without what was given: that may be a secret.
    package var message: String

    init(_ name: String, _ message: String) {
        (self.name, self.message) = (name, message)
    }
}

extension AlertSettings {
    /// The mistakes in settings of mail and quiet hours.
    ///
    /// - Parameter text: the text of a setting by its name without `TOLLGATE_`; `nil`: it is not set.
    package static func mistakes(_ text: (String) -> String?) -> [SettingMistake] {
        var mistakes: [SettingMistake] = []
        _ = AlertEmail.read(text, &mistakes)
        _ = QuietHours.read(text, &mistakes)
        return mistakes
    }
}
