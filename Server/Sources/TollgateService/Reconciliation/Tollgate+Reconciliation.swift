internal import AppStoreAPI
internal import Foundation
internal import Logging
internal import Storage
public import TollgateCore

extension Tollgate {
    /// Brings the record up to what the App Store knows, in one environment.
    ///
    /// - Returns: `nil` if another server is at it.
    /// - Throws: a refusal 503 where the App Store Server API is not configured;
    ///   `AppStore.ServerAPIError` where it does not answer: another call goes on from there.
    public func reconcileAppStore(
        in environment: StoreEnvironment,
        progress: @escaping WorkProgress.Report = { _ in }
    ) async throws -> AppStoreReconciliation.Report? {
        let pass = AppStoreReconciliation(
            tollgate: self,
            environment: environment,
            client: try appStoreServer(environment),
            progress: progress
        )
        let name = AppStoreReconciliation.cursorName(environment)
        let report = try await leased(name) { prolong in try await pass.run(prolong) }
        if let report {
            counters.count("tollgate_reconciliations_total", "store=\"app_store\"")
            counters.count(
                "tollgate_reconciled_total",
                "store=\"app_store\"",
                by: Int64(report.taken + report.changed)
            )
        }
        return report
    }

    /// Reconciles every environment whose last pass ended longer than `seconds` of real time ago.
    ///
    /// Any number of servers may call it at any time; errors are logged and tried again.
    ///
    /// - Returns: whether nothing failed.
    @discardableResult
    public func reconcileAppStoreIfDue(every seconds: Int64) async -> Bool {
        var isDone = true
        for environment in appStoreEnvironments {
            do {
                let kept = try await store.cursor(AppStoreReconciliation.cursorName(environment))
                let place = kept.flatMap {
                    try? JSONDecoder().decode(
                        AppStoreReconciliation.Place.self,
                        from: Data($0.body)
                    )
                }
                let wall = clocks.wall().milliseconds
                if let finished = place?.finished, place?.step == .done,
                    finished <= wall, wall - finished < seconds * 1000
                {
                    continue
                }
                guard let report = try await reconcileAppStore(in: environment) else { continue }
                guard report.taken + report.changed + report.parked > 0 else { continue }
                logger.notice(
                    "the App Store had news that had not been delivered",
                    metadata: [
                        "environment": "\(environment.rawValue)",
                        "notifications": "\(report.taken)", "purchases": "\(report.changed)",
                        "parked": "\(report.parked)",
                    ]
                )
            } catch {
                isDone = false
                logger.warning(
                    "reconciling with the App Store will be tried again",
                    metadata: ["environment": "\(environment.rawValue)", "error": "\(error)"]
                )
            }
        }
        return isDone
    }
}
