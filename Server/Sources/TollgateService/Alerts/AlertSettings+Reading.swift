// SPDX-License-Identifier: Apache-2.0
internal import Stores
internal import TollgateAPI

extension AlertSettings {
    /// Reads `ALERTS_…`: the bounds of alarms and who is told.
    ///
    /// - Parameters:
    ///   - text: the text of a setting by its name without `TOLLGATE_`; `nil`: it is not set.
    ///   - names: the names of all settings.
    ///   - allowsPrivate: whether the webhook may be on this machine or beside it.
    ///   - mistakes: what is wrong is added to these.
    /// - Returns: `nil` where none is set, or one is wrong.
    package static func read(
        _ text: (String) -> String?,
        among names: Set<String>,
        allowsPrivate: Bool,
        _ mistakes: inout [SettingMistake]
    ) -> AlertSettings? {
        let count = mistakes.count
        let email = AlertEmail.read(text, &mistakes)
        let quietHours = QuietHours.read(text, &mistakes)
        let webhook = webhook(text, allowsPrivate: allowsPrivate, &mistakes)
        let bounds = bounds(text, &mistakes)
        guard mistakes.count == count else { return nil }
        guard webhook != nil || email != nil else {
            let set = names.sorted().first { $0.hasPrefix("ALERTS_") && text($0) != nil }
            if let set {
                mistakes.append(
                    SettingMistake(
                        set,
                        "this needs ‘webhook’ (TOLLGATE_ALERTS_WEBHOOK) or ‘email’ (TOLLGATE_ALERTS_EMAIL_HOST), where alarms are told",
                        isOfSeveral: true
                    )
                )
            }
            return nil
        }
        return AlertSettings(
            bounds: bounds,
            webhook: webhook,
            email: email,
            quietHours: quietHours
        )
    }

    private static func webhook(
        _ text: (String) -> String?,
        allowsPrivate: Bool,
        _ mistakes: inout [SettingMistake]
    ) -> AlertWebhook? {
        guard let url = text("ALERTS_WEBHOOK") else {
            if text("ALERTS_SECRET") != nil {
                mistakes.append(
                    SettingMistake(
                        "ALERTS_SECRET",
                        "this needs ‘webhook’ (TOLLGATE_ALERTS_WEBHOOK), whose messages it signs",
                        isOfSeveral: true
                    )
                )
            }
            return nil
        }
        do {
            return try AlertWebhook(
                url: url,
                secret: text("ALERTS_SECRET"),
                allowsPrivate: allowsPrivate
            )
        } catch {
            let refusal = Refusal(telling: error)
            let name = refusal.error.param == "secret" ? "ALERTS_SECRET" : "ALERTS_WEBHOOK"
            let message = refusal.error.message
            let sentence = message.hasSuffix(".") ? String(message.dropLast()) : message
            // Whether an address may be a private one is a setting too.
            let isOfSeveral = name == "ALERTS_WEBHOOK"
            mistakes.append(SettingMistake(name, sentence, isOfSeveral: isOfSeveral))
            return nil
        }
    }

    private static func bounds(
        _ text: (String) -> String?,
        _ mistakes: inout [SettingMistake]
    ) -> AlertBounds {
        /// In milliseconds.
        func span(_ name: String) -> Int64? {
            guard let given = text(name) else { return nil }
            let units: [Character: Int64] = ["s": 1, "m": 60, "h": 3_600, "d": 86_400]
            guard let unit = given.last.flatMap({ units[$0] }), let count = Int64(given.dropLast()),
                (1...100_000).contains(count)
            else {
                mistakes.append(
                    SettingMistake(name, "this is no span of time; write it like 30m, 1h or 1d")
                )
                return nil
            }
            return count * unit * 1000
        }
        func percent(_ name: String) -> Int64? {
            guard let given = text(name) else { return nil }
            if let percent = Int64(given), (1...100).contains(percent) { return percent }
            mistakes.append(SettingMistake(name, "a percentage is a number from 1 to 100"))
            return nil
        }
        var bounds = AlertBounds()
        bounds.question = span("ALERTS_AFTER_QUESTION") ?? bounds.question
        bounds.silence = span("ALERTS_AFTER_SILENCE")
        bounds.webhook = span("ALERTS_AFTER_WEBHOOK") ?? bounds.webhook
        bounds.deadline = span("ALERTS_BEFORE_DEADLINE") ?? bounds.deadline
        bounds.expiry = span("ALERTS_BEFORE_EXPIRY") ?? bounds.expiry
        bounds.diskPercent = percent("ALERTS_DISK_PERCENT") ?? bounds.diskPercent
        bounds.refundPercent = percent("ALERTS_REFUND_PERCENT")
        bounds.churnPercent = percent("ALERTS_CHURN_PERCENT")
        return bounds
    }
}
