internal import Stores
internal import Foundation
internal import Logging
internal import SecondOpinion
package import Storage
internal import TollgateAPI
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

/// Second opinions on who may use what (RULES §17).
package struct AccessChecks: Sendable {
    let records: RecordStore
    let clocks: Clocks
    let leases: Leases
    let logger: Logger

    private static let name = "access/check"

    /// Checks everybody's access as of `instant`, and keeps nothing.
    ///
    /// - Parameter step: told how many rows of the journal were read.
    package static func report(
        of records: RecordStore,
        at instant: Instant,
        step: @Sendable (Int) async throws -> Void = { _ in }
    ) async throws -> AccessReport {
        let history = try await records.figures.currentHistory()
        return try await AccessCheck(records, history: history, at: instant).run(step: step)
    }

    /// Checks everybody's access now, and keeps what was found.
    ///
    /// - Parameter pause: called after each page, so that others are served meanwhile.
    /// - Returns: `nil` where another server is at it.
    @discardableResult
    package func check(
        pause: @escaping @Sendable () async -> Void = {}
    ) async throws -> AccessReport? {
        try await leases.holding(Self.name) { prolong in
            let report = try await Self.report(of: records, at: clocks.now()) { _ in
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
            try await records.evidence.keep(report, now: clocks.wall())
            try await dropSettledDevices()
            try await records.cursors.keep(Self.name, value: summary, now: clocks.wall())
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
    package func checkIfDue(pause: @escaping @Sendable () async -> Void = {}) async -> Bool {
        do {
            let last = try await summary()
            guard last?.engine != engineVersion || (last?.ended ?? .never) < lastNight else {
                return true
            }
            try await check(pause: pause)
            return true
        } catch {
            logger.warning("the access check will be tried again", metadata: ["error": "\(error)"])
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
    package func summary() async throws -> AccessSummary? {
        try await records.cursors.value(Self.name)
    }

    /// What a device saw a week ago and no more, or what is answered with yes by now.
    private func dropSettledDevices() async throws {
        let now = await clocks.now()
        var gone: [AccessFinding] = []
        for kept in try await records.evidence.findings(of: [.device], oldestFirst: true) {
            let finding = kept.finding
            let reading = try await records.reading(of: finding.customer, in: finding.environment)
            let hasIt = reading.timeline.active(at: now).contains {
                $0.lookupKey == finding.lookupKey
            }
            let isOld = kept.seen.advanced(by: 7 * 86_400_000) < clocks.wall()
            if hasIt || isOld { gone.append(finding) }
        }
        try await records.evidence.drop(gone)
    }
}

extension Instant {
    fileprivate static let never = Instant(milliseconds: .min)
}
