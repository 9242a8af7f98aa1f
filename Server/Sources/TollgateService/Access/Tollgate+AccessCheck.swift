internal import AppStoreConnector
internal import Foundation
internal import Logging
internal import SecondOpinion
package import Storage
internal import Stores
package import TollgateAPI
package import TollgateCore

/// The kept result of the last check of everybody.
package struct AccessSummary: Codable, Sendable {
    /// The instant that was looked at, by the stores' time.
    package var at: Instant
    /// The real time at which it ended.
    package var ended: Instant
    /// The engine whose answers were checked.
    package var engine: Int64
    /// The number of findings of each kind.
    package var counts: [String: Int]
    /// Since when the oldest finding of each kind is so, by the stores' time.
    package var since: [String: Instant]
    package var rows: Int
    package var purchases: Int
    package var unjudged: Int
    package var isCut: Bool
}

// A second opinion on who may use what: RULES §17.
extension Tollgate {
    private static let accessCheck = "access/check"

    /// Checks everybody's access as of `instant`, and keeps nothing.
    ///
    /// - Parameter step: told how many rows of the journal were read.
    package func accessReport(
        at instant: Instant? = nil,
        step: @Sendable (Int) async throws -> Void = { _ in }
    ) async throws -> AccessReport {
        var at = instant
        if at == nil { at = await clocks.now() }
        let history = try await store.currentHistory()
        return try await AccessCheck(store, history: history, at: at ?? .init(milliseconds: 0))
            .run(step: step)
    }

    /// Checks everybody's access now, and keeps what was found.
    ///
    /// - Parameter pause: called after each page, so that others are served meanwhile.
    /// - Returns: `nil` where another server is at it.
    @discardableResult
    package func checkAccess(
        pause: @escaping @Sendable () async -> Void = {}
    ) async throws -> AccessReport? {
        try await house.leased(Self.accessCheck) { prolong in
            let report = try await accessReport { _ in
                try await prolong()
                await pause()
            }
            let kinds = Dictionary(grouping: report.findings, by: \.kind.rawValue)
            let counts = kinds.mapValues(\.count)
            let summary = AccessSummary(
                at: report.at,
                ended: clocks.wall(),
                engine: engineVersion,
                counts: counts,
                since: kinds.compactMapValues { $0.map(\.since).min() },
                rows: report.rows,
                purchases: report.purchases,
                unjudged: report.unjudged,
                isCut: report.isCut
            )
            try await store.keep(report, now: clocks.wall())
            try await dropSettledDevices()
            try await store.keepCursor(
                Self.accessCheck,
                Array(try APIJSON.encode(summary)),
                now: clocks.wall()
            )
            if !report.findings.isEmpty {
                logger.error(
                    "a second opinion disagrees about who has access; look at the dashboard's page",
                    metadata: [
                        "locked_out": "\(counts["locked_out"] ?? 0)",
                        "let_in": "\(counts["let_in"] ?? 0)",
                    ]
                )
            }
            return report
        }
    }

    /// Checks everybody once a night, and once after each change of the engine.
    ///
    /// - Returns: whether nothing is left to do; what fails is logged.
    package func checkAccessIfDue(
        pause: @escaping @Sendable () async -> Void = {}
    ) async -> Bool {
        do {
            let last = try await accessSummary()
            guard last?.engine != engineVersion || (last?.ended ?? .never) < lastNight else {
                return true
            }
            try await checkAccess(pause: pause)
            return true
        } catch {
            logger.warning(
                "the access check will be tried again",
                metadata: ["error": "\(error)"]
            )
            return false
        }
    }

    /// The last 03:00 in UTC, by real time.
    private var lastNight: Instant {
        let (day, hour): (Int64, Int64) = (86_400_000, 3_600_000)
        let now = clocks.wall().milliseconds - 3 * hour
        return Instant(milliseconds: now - now % day + 3 * hour)
    }

    /// The result of the last check; `nil` before the first.
    package func accessSummary() async throws -> AccessSummary? {
        try await store.cursor(Self.accessCheck).flatMap {
            try? APIJSON.decode(AccessSummary.self, from: Data($0.body))
        }
    }

    /// What a device saw a week ago and no more, or what is answered with yes by now.
    private func dropSettledDevices() async throws {
        let now = await clocks.now()
        var gone: [AccessFinding] = []
        for kept in try await store.accessFindings(of: [.device], oldestFirst: true) {
            let finding = kept.finding
            let reading = try await store.reading(of: finding.customer, in: finding.environment)
            let hasIt = reading.timeline.active(at: now).contains {
                $0.lookupKey == finding.lookupKey
            }
            let isOld = kept.seen.advanced(by: 7 * 86_400_000) < clocks.wall()
            if hasIt || isOld { gone.append(finding) }
        }
        try await store.drop(gone)
    }

    // MARK: - What devices see

    /// A device holds purchases that StoreKit has verified, and is answered with no.
    ///
    /// They are taken in as `observed`. What is answered with no all the same is kept with its cause,
    /// for people to look at before the customer writes.
    ///
    /// - Returns: which of the lookup keys the customer has now.
    /// - Throws: refusals 400 `parameter_invalid`, 429 `rate_limited`; as
    ///   `DeviceTransactions.receive`.
    package func settle(
        _ observation: API.AppStoreObservation,
        for session: CustomerSession
    ) async throws -> API.AppStoreObservationReply {
        guard (1...10).contains(observation.signedTransactions.count) else {
            throw Refusal.invalid("signed_transactions", "1 to 10 signed transactions.")
        }
        let catalog = store.history.current
        let lookupKeys = Set(observation.lookupKeys).sorted()
        guard (1...20).contains(lookupKeys.count),
            lookupKeys.allSatisfy({ catalog.entitlement(lookupKey: $0) != nil })
        else { throw Refusal.invalid("lookup_keys", "1 to 20 entitlements of the catalog.") }
        try callLimits.observations.admit(session.customer.rawValue, at: clocks.wall())
        let now = await clocks.now()
        var purchases: [String] = []
        for signed in observation.signedTransactions {
            do {
                _ = try await appStore.devices.receive(
                    API.AppStoreTransactionRequest(signedTransaction: signed, mode: .observed),
                    from: session.customer
                )
            } catch let refusal as Refusal where refusal.status == 409 {
                // Somebody else's: it is taken in all the same, and is the cause.
            }
            if let key = try await appStore.devices.purchase(of: signed) {
                purchases.append(key.canonical)
            }
        }
        let has = try await store.reading(of: session.customer, in: session.environment)
            .timeline.active(at: now).map(\.lookupKey)
        let denied = lookupKeys.filter { !has.contains($0) }
        let check = AccessCheck(store, history: try await store.currentHistory(), at: now)
        for finding in try await check.findings(
            of: session.customer,
            in: session.environment,
            and: purchases,
            denied: denied
        ) where denied.contains(finding.lookupKey) && finding.kind != .letIn {
            try await store.keep(finding, now: clocks.wall())
        }
        counters.count(
            "tollgate_device_observations_total",
            "outcome=\"\(denied.isEmpty ? "settled" : "denied")\""
        )
        return API.AppStoreObservationReply(entitled: lookupKeys.filter { has.contains($0) })
    }
}

extension Instant {
    fileprivate static let never = Instant(milliseconds: .min)
}
