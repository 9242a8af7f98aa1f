// SPDX-License-Identifier: Apache-2.0
internal import Stores
internal import TollgateCore

extension AlertObservations {
    /// Every alarm, one for each cause.
    func alarms(_ bounds: AlertBounds) -> [Alarm] {
        let all: [[Alarm]] = [
            parkedMessages, oldQuestions(bounds), silentStores(bounds), nearDeadlines(bounds),
            failingEndpoints(bounds), letters, disagreements, fullDisk(bounds), nearEndings(bounds),
            brokenChecks,
        ]
        return all.flatMap { $0 }
    }

    private var parkedMessages: [Alarm] {
        parked.filter { $0.count > 0 }.map { store, count in
            Alarm(
                "parked/\(store)",
                "Genuine messages of \(store) could not be used: \(count).",
                "tollgate parked list names them, tollgate parked retry tries them again.",
                // Who paid by one of them has nothing.
                isUrgent: true
            )
        }
    }

    private func oldQuestions(_ bounds: AlertBounds) -> [Alarm] {
        let old = questions.filter { isOver(bounds.question, since: $0.oldest, at: now) }
        return old.map { kind, oldest in
            Alarm(
                "question/\(kind)",
                "A question to a store (\(kind)) has been waiting since \(oldest).",
                "The log says what the store answers; tollgate doctor asks it.",
                // New purchases may wait for the answer.
                isUrgent: true
            )
        }
    }

    private func silentStores(_ bounds: AlertBounds) -> [Alarm] {
        guard let silence = bounds.silence else { return [] }
        return heard.filter { isOver(silence, since: $0.at, at: wall) }.map { store, heard in
            Alarm(
                "silence/\(store)",
                "\(store) has sent no message since \(heard).",
                "Check in the store's console that it still sends to this server; tollgate doctor checks it too."
            )
        }
    }

    private func nearDeadlines(_ bounds: AlertBounds) -> [Alarm] {
        deadlines.filter {
            let left = $0.deadline.instant.milliseconds - now.milliseconds
            return !$0.deadline.waitsForCustomer
                && left < min(bounds.deadline, $0.deadline.time / 2)
        }.map { store, deadline in
            Alarm(
                "deadline/\(store)/\(deadline.act)",
                "\(store) expects ‘\(deadline.act)’ by \(deadline.instant); after that it is too late.",
                "The log says why it fails; tollgate doctor asks the store.",
                isUrgent: deadline.instant.milliseconds - now.milliseconds < Self.urgentDeadline
            )
        }
    }

    private func failingEndpoints(_ bounds: AlertBounds) -> [Alarm] {
        endpoints.compactMap { endpoint -> Alarm? in
            let subject = "The webhook endpoint \(endpoint.id) (\(endpoint.host))"
            let sentence: String
            if let disabled = endpoint.disabled {
                sentence = "\(subject) was disabled: \(disabled)."
            } else if endpoint.dead > 0 {
                sentence = "\(subject) has dead events, no longer retried: \(endpoint.dead)."
            } else if let since = endpoint.failingSince,
                isOver(bounds.webhook, since: since, at: wall)
            {
                sentence = "\(subject) has accepted no event since \(since)."
            } else {
                return nil
            }
            return Alarm(
                "webhook/\(endpoint.id)",
                sentence,
                "Fix your backend, enable the endpoint if it was disabled, then run tollgate webhooks replay \(endpoint.id) --dead, or use the dashboard's page Webhooks out.",
                // Dead events have waited for three days already; now the backend hears of nothing.
                isUrgent: endpoint.disabled != nil || endpoint.failingSince != nil
            )
        }
    }

    private var letters: [Alarm] {
        var alarms: [Alarm] = []
        if let stuckLetter, isOver(Self.stuckLetterAge, since: stuckLetter, at: wall) {
            alarms.append(
                Alarm(
                    "emails/waiting",
                    "The mail server has accepted no email to a customer since \(stuckLetter).",
                    "The dashboard's page Emails has the mail server's words; check the settings of ‘emails’."
                )
            )
        }
        if failedLetters > 0 {
            alarms.append(
                Alarm(
                    "emails/failed",
                    "Emails to customers failed for good within a day: \(failedLetters).",
                    "The dashboard's page Emails has the mail server's words, and sends them again."
                )
            )
        }
        return alarms
    }

    private var disagreements: [Alarm] {
        let remedy =
            "Look at the evidence on the dashboard's page Access check, help the customers, and report the difference."
        var alarms: [Alarm] = []
        if lockedOut > 0 {
            alarms.append(
                Alarm(
                    "access/locked_out",
                    "Entitlements that are paid for and not granted: \(lockedOut).",
                    remedy,
                    isUrgent: true
                )
            )
        }
        if letIn > 0 {
            alarms.append(
                Alarm(
                    "access/let_in",
                    "Entitlements that are granted and not paid for: \(letIn).",
                    remedy
                )
            )
        }
        return alarms
    }

    private func fullDisk(_ bounds: AlertBounds) -> [Alarm] {
        guard let disk, disk.total > 0 else { return [] }
        let free = Double(disk.free) / Double(disk.total) * 100
        guard free < Double(bounds.diskPercent) else { return [] }
        return [
            Alarm(
                "disk",
                "The disk of the database is nearly full: \(disk.free / 1_000_000) MB are free, \(Int(free)) %.",
                "Free space: the server cannot write to a full disk.",
                isUrgent: disk.free < Self.urgentDisk
            )
        ]
    }

    private func nearEndings(_ bounds: AlertBounds) -> [Alarm] {
        let near = endings.filter { $0.end.milliseconds - wall.milliseconds < bounds.expiry }
        return near.map { name, end in
            Alarm(
                "expiry/\(name)",
                "\(name) is valid until \(end).",
                "Add the new certificate beside it and restart the server.",
                isUrgent: end.milliseconds - wall.milliseconds < Self.oneDay
            )
        }
    }

    /// One alarm for each failed check, with its findings on all apps.
    private var brokenChecks: [Alarm] {
        Dictionary(grouping: failures, by: \.check).map { check, findings in
            Alarm(
                "check/\(check)",
                findings.map(\.sentence.text).joined(separator: " "),
                findings.first?.remedy?.text ?? "tollgate doctor says more.",
                isUrgent: Self.isUrgent(check)
            )
        }
    }

    // MARK: - What does not wait until morning

    /// The free bytes of a disk below which it may be full by morning.
    private static let urgentDisk: Int64 = 1_000_000_000
    private static let oneDay: Int64 = 86_400_000
    /// The time for which a mail server may accept no emails.
    private static let stuckLetterAge: Int64 = 3_600_000
    /// The time left before a store's deadline, such as the refund of what is not acknowledged.
    private static let urgentDeadline: Int64 = 43_200_000

    /// True for checks whose failure keeps purchases away: stores reach no server, take no key, or have
    /// their messages refused by the wrong time.
    private static func isUrgent(_ check: String) -> Bool {
        check.hasPrefix("public_url") || check == "clock" || check.hasSuffix(".key")
            || check.hasSuffix(".notifications") || check == "stripe.webhook_endpoint"
    }

    private func isOver(_ length: Int64, since start: Instant, at instant: Instant) -> Bool {
        instant.milliseconds - start.milliseconds >= length
    }
}
