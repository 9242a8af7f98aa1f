// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Stores
import TollgateAPI
import TollgateService

extension AlertSettings {
    /// The names of all settings of alarms.
    static let names = Settings.names.filter { $0.hasPrefix("ALERTS_") }

    /// The bounds of alarms and who is told, from `TOLLGATE_ALERTS_…`; `nil` where none is set.
    ///
    /// - Parameter allowsPrivate: whether the webhook may be on this machine or beside it.
    /// - Throws: what cannot be read, or is set and told nowhere.
    static func configured(allowsPrivate: Bool) throws -> AlertSettings? {
        var mistakes: [SettingMistake] = []
        let text = { (name: String) in Settings.text(nil, name) }
        let email = AlertEmail.read(text, &mistakes)
        let quietHours = QuietHours.read(text, &mistakes)
        guard mistakes.isEmpty else {
            throw WrongSettings(
                problems: mistakes.map { "TOLLGATE_\($0.name): \($0.message)." },
                isUsage: true
            )
        }
        let webhook = try webhook(allowsPrivate: allowsPrivate)
        guard webhook != nil || email != nil else {
            if let name = names.sorted().first(where: { Settings.text(nil, $0) != nil }) {
                throw ValidationError(
                    "TOLLGATE_\(name) needs TOLLGATE_ALERTS_WEBHOOK or TOLLGATE_ALERTS_EMAIL_HOST, where alarms are told."
                )
            }
            return nil
        }
        return AlertSettings(
            bounds: try bounds(),
            webhook: webhook,
            email: email,
            quietHours: quietHours
        )
    }

    private static func webhook(allowsPrivate: Bool) throws -> AlertWebhook? {
        guard let url = Settings.text(nil, "ALERTS_WEBHOOK") else {
            guard Settings.text(nil, "ALERTS_SECRET") == nil else {
                throw ValidationError(
                    "TOLLGATE_ALERTS_SECRET needs TOLLGATE_ALERTS_WEBHOOK, whose messages it signs."
                )
            }
            return nil
        }
        do {
            return try AlertWebhook(
                url: url,
                secret: Settings.text(nil, "ALERTS_SECRET"),
                allowsPrivate: allowsPrivate
            )
        } catch let refusal as Refusal {
            let name = refusal.error.param == "secret" ? "ALERTS_SECRET" : "ALERTS_WEBHOOK"
            throw ValidationError("TOLLGATE_\(name): \(refusal.error.message)")
        }
    }

    private static func bounds() throws -> AlertBounds {
        var bounds = AlertBounds()
        bounds.question = try span("ALERTS_AFTER_QUESTION") ?? bounds.question
        bounds.silence = try span("ALERTS_AFTER_SILENCE")
        bounds.webhook = try span("ALERTS_AFTER_WEBHOOK") ?? bounds.webhook
        bounds.deadline = try span("ALERTS_BEFORE_DEADLINE") ?? bounds.deadline
        bounds.expiry = try span("ALERTS_BEFORE_EXPIRY") ?? bounds.expiry
        if let percent = try Settings.count("ALERTS_DISK_PERCENT") {
            guard percent <= 100 else {
                throw ValidationError("TOLLGATE_ALERTS_DISK_PERCENT: \(percent) is more than 100.")
            }
            bounds.diskPercent = Int64(percent)
        }
        return bounds
    }

    /// In milliseconds; `nil` where nobody said.
    private static func span(_ name: String) throws -> Int64? {
        try Settings.text(nil, name).map {
            try TimeSpan($0, option: "TOLLGATE_\(name)").duration.components.seconds * 1000
        }
    }
}
