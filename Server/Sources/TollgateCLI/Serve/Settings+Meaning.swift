// SPDX-License-Identifier: Apache-2.0
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

extension TraceSettings {
    /// Where spans are sent, from `TOLLGATE_TRACES_…`; `nil` where no collector is set.
    ///
    /// - Throws: `WrongSettings` with all mistakes.
    static func configured() throws -> TraceSettings? {
        try Settings.meaning { text, mistakes in read(text, &mistakes) }
    }
}

extension Settings {
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
