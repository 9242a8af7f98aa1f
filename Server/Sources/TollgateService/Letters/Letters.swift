// SPDX-License-Identifier: Apache-2.0
internal import Foundation
internal import Logging
internal import Storage
package import Stores
internal import TollgateAPI
internal import TollgateCore

/// Emails customers about their purchases, one letter for each cause.
///
/// The feed says which purchases changed. A letter is queued once. Its text is written at the time of
/// sending, from the record of that moment. If a server dies after sending a letter and before keeping
/// the result, the letter is sent twice, with the same Message-ID.
package struct Letters: Sendable {
    let records: RecordStore
    package var clocks: Clocks
    let leases: Leases
    let refusals: LetterRefusals
    let standings: Standings
    let connectors: [any StoreConnector]
    let counters: Counters
    let logger: Logger
    let configuration: Configuration
    let setUp: LetterSetUp
    /// `nil`: no mail server can be reached from here.
    let transport: MailTransport?

    private static let lease = "emails"
    /// The number of failures in a row after which a mail server is left alone for a while.
    private static let patience = 3
    /// The time for which letters are listed that were dealt with, in milliseconds.
    private static let memory: Int64 = 30 * 86_400_000

    /// Queues letters about what is new, and sends those that are due.
    ///
    /// Call it again and again, on any number of servers: one at a time does it.
    ///
    /// - Returns: whether nothing failed; what did is in the log.
    package func work() async -> Bool {
        guard transport != nil else { return true }
        do {
            guard try await hasWork() else { return true }
            let isWell = try await leases.holding(Self.lease) { prolong in
                while try await takeIn() { try await prolong() }
                let old = clocks.wall().advanced(by: -Self.memory)
                try await records.letters.forget(before: old)
                return try await sendDue(prolong)
            }
            return isWell ?? true
        } catch {
            logger.warning("emails will be sent later", metadata: ["error": "\(error)"])
            return false
        }
    }

    /// Only reads; with nothing to send, a server writes once a minute at most.
    private func hasWork() async throws -> Bool {
        let progress = try await LetterProgress.read(records)
        let newest = try await records.feed.newestMessage()
        guard let progress, progress.position >= newest,
            progress.covers(setUp.settings.kinds, wall: clocks.wall())
        else { return true }
        return try await !due(limit: 1).isEmpty
    }

    private func due(limit: Int64) async throws -> [LetterRow] {
        let now = await clocks.now()
        // Another server may have other kinds on. What nobody sends ends by its age.
        return try await records.letters.due(
            setUp.settings.kinds.map(\.rawValue).sorted(),
            orCausedBefore: now.advanced(by: -Letter.Kind.longestAge),
            at: now,
            wall: clocks.wall(),
            limit: limit
        )
    }

    // MARK: - Queueing

    /// Queues letters about the next events of the feed.
    ///
    /// - Returns: whether there may be more.
    private func takeIn() async throws -> Bool {
        let bytes = try await records.letters.progress()
        let before = bytes.flatMap { LetterProgress($0) }
        let now = await clocks.now()
        // What happened before the first look, or while all kinds were off, is not read.
        let newest = try await records.feed.newestMessage()
        var progress = before ?? LetterProgress(position: newest)
        if progress.since.isEmpty { progress.position = newest }
        let begun = progress.cover(setUp.settings.kinds, at: now, wall: clocks.wall())
        let messages = try await records.feed.messages(after: progress.position, limit: 100)
        var rows: [LetterRow] = []
        for message in messages {
            for letter in try await letters(of: message, at: now) where progress.wants(letter) {
                rows.append(row(letter, to: message))
            }
        }
        progress.position = messages.last?.number ?? progress.position
        guard progress != before else { return false }
        try await records.letters.take(
            rows,
            from: bytes,
            to: progress.bytes(),
            beginning: begun,
            now: clocks.wall()
        )
        return !messages.isEmpty
    }

    /// The fresh letters about the purchases that an event names.
    private func letters(of message: FeedMessage, at now: Instant) async throws -> [Letter] {
        guard message.kind != .customerErased, sends(about: message.environment) else { return [] }
        var named = Set(message.purchases.map(\.purchase))
        for case .revoked(let entitlement) in message.changes {
            named.insert(entitlement.purchase)
        }
        guard !named.isEmpty, try await profile(message.customer)?.customer.email != nil else {
            return []
        }
        return try await letters(to: message.customer, in: message.environment, at: now)
            .filter { named.contains($0.purchase) && $0.isFresh(at: now) }
    }

    private func row(_ letter: Letter, to message: FeedMessage) -> LetterRow {
        LetterRow(
            key: RowKey(
                "letter",
                letter.kind.rawValue,
                letter.purchase.canonical,
                letter.reference
            ),
            customer: message.row.inEnvironment(message.environment),
            kind: letter.kind.rawValue,
            purchase: letter.purchase,
            reference: letter.reference,
            caused: letter.caused,
            due: letter.caused,
            queued: clocks.wall()
        )
    }

    /// The letters of every kind, also those that were sent.
    private func letters(
        to customer: Customer.ID,
        in environment: StoreEnvironment,
        at now: Instant
    ) async throws -> [Letter] {
        let purchases = try await records.purchases(of: customer, in: environment)
        return Letter.all(
            about: purchases,
            standings: standings,
            billing: connectors.compactMap(\.billing),
            in: records.history.current,
            at: now
        )
    }

    private func profile(_ customer: Customer.ID) async throws -> Profile? {
        guard let stored = try await records.profile(customer), !stored.body.isEmpty else {
            return nil
        }
        return try Profile(stored)
    }

    private func sends(about environment: StoreEnvironment) -> Bool {
        environment == .production || setUp.settings.includesSandbox
    }

    // MARK: - Sending

    /// The caller holds the lease.
    private func sendDue(_ prolong: @Sendable () async throws -> Void) async throws -> Bool {
        var failures = 0
        while !Task.isCancelled {
            let rows = try await due(limit: 20)
            guard !rows.isEmpty else { break }
            for row in rows where !Task.isCancelled {
                failures = try await send(row) ? 0 : failures + 1
                // Where everything fails, the next letters would, too.
                guard failures < Self.patience else { return false }
                try await prolong()
            }
        }
        return failures == 0
    }

    /// - Returns: `false` where the mail server could not be reached or wants the letter later.
    private func send(_ row: LetterRow) async throws -> Bool {
        let mail: Mail
        switch try await next(row) {
        case .drop(let reason):
            try await settle(row, .dropped, reason)
            return true
        case .giveUp(let reason):
            try await settle(row, .failed, reason)
            return true
        case .send(let written): mail = written
        }
        guard let transport else { return false }
        do {
            try await transport(mail, setUp.settings.server)
        } catch {
            // A letter that was broken off because the server ends is tried again.
            guard !Task.isCancelled else { return false }
            let failed = error as? MailFailed ?? MailFailed("The letter could not be sent.")
            let outcome = failed.sentence.masking(mail.recipient)
            if failed.isPermanent, failed.subject != .server {
                try await settle(row, failed.subject == .recipient ? .refused : .failed, outcome)
                return true
            }
            try await settle(row, .waiting, outcome)
            return false
        }
        try await settle(row, .sent, "The mail server accepted it.")
        return true
    }

    private func settle(
        _ row: LetterRow,
        _ status: LetterRow.Status,
        _ outcome: String
    ) async throws {
        let now = clocks.wall()
        let retry = now.advanced(by: Self.delay(after: row.attempts + 1))
        let result = LetterResult(status, retry: retry, outcome: outcome)
        try await records.letters.settle(row, result, now: now)
        let word =
            switch status {
            case .waiting: "retried"
            case .sent: "sent"
            case .failed: "failed"
            case .refused: "refused"
            case .dropped: "dropped"
            }
        counters.count("tollgate_emails_total", "kind=\"\(row.kind)\",outcome=\"\(word)\"")
        guard status != .sent, status != .dropped else { return }
        logger.warning(
            status == .waiting
                ? "an email to a customer will be sent again" : "an email to a customer failed",
            metadata: ["letter": "\(row.key.hex)", "kind": "\(row.kind)", "error": "\(outcome)"]
        )
    }

    /// The time until the next attempt, in milliseconds; the letter's age ends the attempts.
    static func delay(after attempts: Int64) -> Int64 {
        let seconds: [Int64] = [60, 300, 1_800, 7_200, 21_600]
        return seconds[Int(min(max(attempts, 1), Int64(seconds.count))) - 1] * 1_000
    }
}

// MARK: - Writing

extension Letters {
    /// The next step with a letter, by the record of this moment.
    private enum Step {
        case send(Mail)
        case drop(String)
        case giveUp(String)
    }

    private static let late = "It was too old to be sent again."

    private func next(_ row: LetterRow) async throws -> Step {
        let now = await clocks.now()
        let kind = Letter.Kind(rawValue: row.kind)
        let greatestAge = kind?.greatestAge ?? Letter.Kind.longestAge
        guard now.milliseconds - row.caused.milliseconds <= greatestAge else {
            guard let outcome = row.outcome else { return .drop("It was too old to be sent.") }
            let isTold = outcome.hasPrefix(Self.late)
            return .giveUp(
                isTold ? outcome : "It was too old to be sent again. Last attempt: \(outcome)"
            )
        }
        guard let kind, setUp.settings.kinds.contains(kind),
            sends(about: row.purchase.environment)
        else { return .drop("Emails of this kind are switched off.") }
        guard let stored = try await records.profile(row: row.customer), !stored.body.isEmpty,
            case let customer = try Profile(stored).customer, let address = customer.email
        else { return .drop("The customer has no address.") }
        guard MailServer.isAddress(address) else {
            return .drop("The customer's address is not an email address.")
        }
        let letter = try await letters(
            to: stored.customer,
            in: row.purchase.environment,
            at: now
        ).first { $0.purchase == row.purchase && $0.kind == kind && $0.reference == row.reference }
        guard let letter else { return .drop("Its cause is gone.") }
        var unsubscribe: String?
        if !kind.isTransactional {
            let name = try await refusals.key(of: address)
            guard try await !records.letters.isRefused(name) else {
                return .drop("The customer has unsubscribed.")
            }
            unsubscribe = try await refusals.link(name)
        }
        let text = setUp.write(content(letter, unsubscribe), language(of: customer))
        return .send(mail(text, row, to: address, unsubscribe))
    }

    private func content(_ letter: Letter, _ unsubscribe: String?) -> LetterContent {
        let application = letter.purchase.application
        let app = records.history.current.apps.first {
            [$0.bundleID, $0.packageName].contains(application)
        }
        let seller = connectors.first { $0.store == letter.purchase.store }
        return LetterContent(
            letter,
            app: app?.name ?? setUp.settings.senderName ?? "",
            shop: seller?.shopName ?? "",
            link: setUp.settings.accountURL ?? configuration.appURL
                ?? "\(configuration.publicURL)/portal",
            unsubscribe: unsubscribe
        )
    }

    /// The language that the backend named in the customer's metadata (`language`), else the default.
    private func language(of customer: API.Customer) -> String {
        customer.metadata["language"].flatMap { CustomerLanguage(tag: $0) }?.rawValue
            ?? setUp.settings.language
    }

    private func mail(
        _ text: LetterText,
        _ row: LetterRow,
        to address: String,
        _ unsubscribe: String?
    ) -> Mail {
        let settings = setUp.settings
        var mail = MailText(
            id: row.key.hex,
            from: settings.sender,
            to: address,
            subject: text.subject,
            text: text.text,
            date: clocks.wall()
        )
        (mail.fromName, mail.replyTo) = (settings.senderName, settings.replyTo)
        (mail.html, mail.unsubscribe) = (text.html, unsubscribe)
        return Mail(sender: settings.sender, recipient: address, bytes: mail.bytes)
    }
}

extension String {
    /// The text without an address and the part of it before the `@`: mail servers repeat them.
    func masking(_ address: String) -> String {
        let name = String(address.prefix { $0 != "@" })
        let text = replacingOccurrences(of: address, with: "…", options: .caseInsensitive)
        guard name.count < 3 else {
            return text.replacingOccurrences(of: name, with: "…", options: .caseInsensitive)
        }
        // A short name is part of many words.
        let word = NSRegularExpression.escapedPattern(for: name)
        return text.replacingOccurrences(
            of: "(?<![A-Za-z0-9])\(word)(?![A-Za-z0-9])",
            with: "…",
            options: [.regularExpression, .caseInsensitive]
        )
    }
}
