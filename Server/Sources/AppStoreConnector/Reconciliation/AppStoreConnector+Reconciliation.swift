internal import AppStoreAPI
internal import Foundation
internal import Logging
internal import Storage
public import Stores
internal import Synchronization
public import TollgateCore

extension AppStoreConnector {
    /// Brings the record up to what the App Store knows, in one environment.
    ///
    /// All that was sent since the last pass is compared with the journal. The first time, once
    /// something turns out to have been lost, and where it is asked for, so is all that the store
    /// still tells, and all purchases of every known customer are read.
    ///
    /// - Parameters:
    ///   - slice: for how many milliseconds of real time one call reads purchases; the next goes on.
    ///     `nil`: to the end.
    /// - Returns: `nil` if another server is at it.
    /// - Throws: a refusal 503 where the App Store Server API is not configured;
    ///   `AppStore.ServerAPIError` where it does not answer: another call goes on from there.
    public func reconcile(
        in environment: StoreEnvironment,
        reach: ReconciliationReach = .news,
        slice: Int64? = nil,
        progress: @escaping WorkProgress.Report = { _ in }
    ) async throws -> AppStoreReconciliation.Report? {
        let pass = AppStoreReconciliation(
            connector: self,
            environment: environment,
            client: try reads.client(environment),
            reach: reach,
            slice: slice,
            progress: progress
        )
        let name = AppStoreReconciliation.cursorName(environment)
        let report = try await house.leases.holding(name) { prolong in try await pass.run(prolong) }
        if let report {
            house.counters.count("tollgate_reconciliations_total", "store=\"app_store\"")
            house.counters.count(
                "tollgate_reconciled_total",
                "store=\"app_store\"",
                by: Int64(report.taken + report.changed + report.historiesChanged)
            )
        }
        return report
    }

    /// Reconciles every environment whose last pass ended longer than `seconds` of real time ago, or
    /// has left purchases to be read.
    ///
    /// Any number of servers may call it at any time; errors are logged and tried again.
    ///
    /// - Returns: whether nothing failed.
    @discardableResult
    public func reconcileIfDue(every seconds: Int64) async -> Bool {
        var isDone = true
        for environment in environments {
            do {
                let kept = try await house.records.cursors.read(
                    AppStoreReconciliation.cursorName(environment)
                )
                let place = kept.flatMap {
                    try? JSONDecoder().decode(
                        AppStoreReconciliation.Place.self,
                        from: Data($0.body)
                    )
                }
                let wall = house.clocks.wall().milliseconds
                if let finished = place?.finished, place?.step == .done, place?.reading == nil,
                    finished <= wall, wall - finished < seconds * 1000
                {
                    continue
                }
                let report = try await reconcile(in: environment, slice: Self.slice)
                if let report { tell(report) }
            } catch {
                isDone = false
                house.logger.warning(
                    "reconciling with the App Store will be tried again",
                    metadata: ["environment": "\(environment.rawValue)", "error": "\(error)"]
                )
            }
        }
        return isDone
    }

    /// Asks for what the record lacks every quarter of an hour, and again with the receipts of those
    /// who live on them; on PostgreSQL all servers together make one pass.
    public func reconcileIfDue() async -> Bool {
        let isDone = await reconcileIfDue(every: dueAfter.withLock { $0 })
        if isDone { dueAfter.withLock { $0 = 900 } }
        await receipts.revalidateIfDue()
        return isDone
    }

    /// While purchases are read that take hours, what is sent is looked at every ten minutes.
    private static let slice: Int64 = 600_000

    private func tell(_ report: AppStoreReconciliation.Report) {
        let purchases = report.changed + report.historiesChanged
        guard report.taken + purchases + report.parked > 0 else { return }
        house.logger.notice(
            "the App Store had news that the record lacked",
            metadata: [
                "environment": "\(report.environment.rawValue)",
                "notifications": "\(report.taken)", "purchases": "\(purchases)",
                "parked": "\(report.parked)",
            ]
        )
    }
}
