// SPDX-License-Identifier: Apache-2.0
internal import Logging
internal import Storage
internal import Stores
internal import TollgateCore

/// Tells people what needs somebody: each alarm once, again after a day, and when it is over.
package struct Alerts: Sendable {
    let records: RecordStore
    let clocks: Clocks
    let random: RandomSource
    let leases: Leases
    let heard: LastHeard
    let accessChecks: AccessChecks
    let connectors: [any StoreConnector]
    /// The address by which people know the server.
    let server: String
    let bounds: AlertBounds
    /// `nil`: there are none.
    let quietHours: QuietHours?
    /// Every way to tell; another one is another element.
    let channels: [AlertChannel]
    let machine: AlertMachine
    let logger: Logger

    private static let lease = "alerts"
    private static let checkUp = "alerts/check_up"
    private static let heardStores = "alerts/heard"
    /// The time for one check-up; the lease is longer.
    private static let limit = Duration.seconds(60)

    /// Looks at everything, and tells every channel what is new there.
    ///
    /// Call it again and again, on any number of servers: one at a time tells, and what was told lies in
    /// the database. A server that dies between telling and keeping lets it be told twice.
    ///
    /// - Returns: whether nothing failed; what did is in the log.
    package func watch() async -> Bool {
        do {
            try await noteHeard()
            guard try await hasWork() else { return true }
            let isTold = try await leases.holding(Self.lease) { prolong in try await tell(prolong) }
            return isTold ?? true
        } catch {
            logger.warning("alarms will be looked for again", metadata: ["error": "\(error)"])
            return false
        }
    }

    /// Every server keeps what it has heard, not only the one that tells.
    private func noteHeard() async throws {
        guard bounds.silence != nil else { return }
        let kept = try await records.cursors.value(Self.heardStores, as: HeardStores.self)
        var known = kept ?? HeardStores()
        let stores = connectors.filter { $0.isSetUp }.map { $0.store }
        guard known.take(heard.all, of: stores, at: clocks.wall()) else { return }
        try await records.cursors.keep(Self.heardStores, value: known, now: clocks.wall())
    }

    /// Only reads.
    ///
    /// - Returns: true if there is something to ask, tell or keep.
    private func hasWork() async throws -> Bool {
        let examination = try await examination()
        if examination.isDue(at: clocks.wall()) { return true }
        let alarms = try await observe(examination).alarms(bounds)
        for channel in channels {
            let before = try await ledger(of: channel)
            var after = before
            _ = take(alarms, into: &after)
            if after != before { return true }
        }
        return false
    }

    /// The caller holds the lease.
    private func tell(_ prolong: @escaping @Sendable () async throws -> Void) async throws -> Bool {
        var examination = try await examination()
        if examination.isDue(at: clocks.wall()) {
            let findings = await machine.checkUp.findings(within: Self.limit)
            examination.take(findings, at: clocks.wall())
            try await records.cursors.keep(Self.checkUp, value: examination, now: clocks.wall())
            try await prolong()
        }
        let alarms = try await observe(examination).alarms(bounds)
        // Side by side, so that a mail server that does not answer holds up no chat; mails in turn, since
        // mail servers take few connections at a time.
        let kinds = Dictionary(grouping: channels, by: \.kind)
        return try await withThrowingTaskGroup(of: Bool.self) { group in
            for channels in kinds.values {
                group.addTask {
                    var isAllTold = true
                    for channel in channels {
                        let isTold = await isTold(alarms, to: channel)
                        isAllTold = isAllTold && isTold
                        try await prolong()
                    }
                    return isAllTold
                }
            }
            return try await group.reduce(true) { $0 && $1 }
        }
    }

    private func isTold(_ alarms: [Alarm], to channel: AlertChannel) async -> Bool {
        do {
            try await tell(alarms, to: channel)
            return true
        } catch {
            logger.warning(
                "alarms did not arrive and will be told again",
                metadata: ["channel": "\(channel.name)", "error": "\(error)"]
            )
            return false
        }
    }

    private func tell(_ alarms: [Alarm], to channel: AlertChannel) async throws {
        let before = try await ledger(of: channel)
        var after = before
        let news = take(alarms, into: &after)
        if !news.isEmpty {
            let message = AlertMessage(
                id: random.id("alert_"),
                news,
                of: server,
                form: channel.form
            )
            do {
                try await tell(message, to: channel)
            } catch let failed as MailFailed where failed.isPermanent {
                logger.error(
                    "a mail server refused alarms for good; those that go on are sent again in an hour",
                    metadata: [
                        "channel": "\(channel.name)", "error": "\(failed.sentence)",
                        "text": "\(message.text)",
                    ]
                )
                after.postpone(message.told, at: clocks.wall())
            }
            after.takeBack(message.left, to: before)
        }
        guard after != before else { return }
        try await records.cursors.keep(Self.cursor(of: channel), value: after, now: clocks.wall())
    }

    private func take(_ alarms: [Alarm], into ledger: inout AlertLedger) -> [AlertNews] {
        let wall = clocks.wall()
        return ledger.take(alarms, at: wall, isQuiet: quietHours?.contains(wall) ?? false)
    }

    /// Tells at least the number of alarms: one that a chat refuses does not hold up the others.
    private func tell(_ message: AlertMessage, to channel: AlertChannel) async throws {
        do {
            try await channel.tell(message)
        } catch let refused as AlertRefused where refused.isAboutMessage {
            logger.warning(
                "a chat refused a message of alarms; it is told their number",
                metadata: [
                    "channel": "\(channel.name)", "status": "\(refused.status)",
                    "text": "\(message.text)",
                ]
            )
            try await channel.tell(message.inNumbers)
        }
    }

    // MARK: - What is kept

    private static func cursor(of channel: AlertChannel) -> String { "alerts/\(channel.name)" }

    private func ledger(of channel: AlertChannel) async throws -> AlertLedger {
        try await records.cursors.value(Self.cursor(of: channel), as: AlertLedger.self)
            ?? AlertLedger()
    }

    private func examination() async throws -> AlertExamination {
        try await records.cursors.value(Self.checkUp, as: AlertExamination.self)
            ?? AlertExamination()
    }

    // MARK: - What is so

    private func observe(_ examination: AlertExamination) async throws -> AlertObservations {
        var seen = AlertObservations(wall: clocks.wall(), now: await clocks.now())
        seen.parked = try await records.parked.counts().map { (name(of: $0.store), $0.count) }
        for connector in connectors {
            for deadline in try await connector.deadlines() {
                seen.deadlines.append((connector.name, deadline))
            }
        }
        let acts = Set(seen.deadlines.map { $0.deadline.kind.rawValue })
        let kinds = try await records.queueLengths().wanted.map(\.kind)
        seen.questions = try await AskedQuestions(records: records, connectors: connectors)
            .oldest(of: kinds.filter { !acts.contains($0) }).map { ($0.kind, $0.raised) }
        if bounds.silence != nil {
            let known = try await records.cursors.value(Self.heardStores, as: HeardStores.self)
            for connector in connectors where connector.isSetUp {
                guard let at = known?[connector.store] else { continue }
                seen.heard.append((connector.name, at))
            }
        }
        if let access = try await accessChecks.summary() {
            seen.lockedOut = access.counts[AccessFinding.Kind.lockedOut.rawValue] ?? 0
            seen.letIn = access.counts[AccessFinding.Kind.letIn.rawValue] ?? 0
        }
        seen.endpoints = try await endpoints()
        let letters = try await records.letters.counts(
            at: seen.now,
            failedSince: seen.wall.advanced(by: -86_400_000)
        )
        seen.stuckLetter = letters.stuck(at: seen.wall)
        seen.failedLetters = letters.failed
        seen.disk = machine.disk()
        seen.endings = machine.endings
        seen.failures = examination.confirmed
        return seen
    }

    private func endpoints() async throws -> [AlertObservations.Endpoint] {
        let counts = try await records.webhooks.deliveryCounts()
        let dead = Dictionary(
            counts.map { ($0.endpoint, $0.dead) },
            uniquingKeysWith: { first, _ in first }
        )
        return try await records.webhooks.endpoints().compactMap {
            row -> AlertObservations.Endpoint? in
            guard row.disabled != WebhookEndpoints.byRequest else { return nil }
            let url = try WebhookSettings(row).url
            let address = try? WebhookAddress(url, allowsPrivate: true)
            return AlertObservations.Endpoint(
                id: row.id,
                host: address?.host ?? "-",
                disabled: row.disabled,
                failingSince: row.failingSince,
                dead: dead[row.id] ?? 0
            )
        }
    }

    private func name(of store: String) -> String {
        connectors.first { $0.store.rawValue == store }?.name ?? store
    }
}
