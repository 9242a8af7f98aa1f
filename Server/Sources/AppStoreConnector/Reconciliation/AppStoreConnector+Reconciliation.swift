internal import AppStoreAPI
internal import Foundation
internal import Logging
internal import Storage
public import Stores
internal import Synchronization
public import TollgateCore

extension AppStoreConnector {
    /// Brings the record up to what the App Store knows of one app, in one environment.
    ///
    /// All that was sent since the last pass is compared with the journal. The first time, once
    /// something turns out to have been lost, and where it is asked for, so is all that the store
    /// still tells, and all purchases of every known customer are read.
    ///
    /// - Parameters:
    ///   - application: the app's bundle id; `nil`: the first app's.
    ///   - slice: for how many milliseconds of real time one call reads purchases; the next goes on.
    ///     `nil`: to the end.
    /// - Returns: `nil` if another server is at it.
    /// - Throws: a refusal 503 where the App Store Server API is not configured;
    ///   `AppStore.ServerAPIError` where it does not answer: another call goes on from there.
    public func reconcile(
        in environment: StoreEnvironment,
        of application: String? = nil,
        reach: ReconciliationReach = .news,
        slice: Int64? = nil,
        progress: @escaping WorkProgress.Report = { _ in }
    ) async throws -> AppStoreReconciliation.Report? {
        let scope = AppStoreScope(environment, application ?? applications.first ?? "")
        let pass = AppStoreReconciliation(
            connector: self,
            scope: scope,
            client: try reads.client(scope),
            reach: reach,
            slice: slice,
            progress: progress
        )
        let report = try await context.leases.holding(pass.cursorName) { prolong in
            try await pass.run(prolong)
        }
        if let report {
            context.counters.count("tollgate_reconciliations_total", "store=\"app_store\"")
            context.counters.count(
                "tollgate_reconciled_total",
                "store=\"app_store\"",
                by: Int64(report.taken + report.changed + report.historiesChanged)
            )
        }
        return report
    }

    private var scopes: [AppStoreScope] {
        applications.flatMap { application in
            environments.map { AppStoreScope($0, application) }
        }
    }

    public var passes: [String] {
        scopes.map {
            AppStoreReconciliation.cursorName(of: $0, hasSiblings: applications.count > 1)
        }
    }

    /// Reconciles every app and environment whose last pass ended longer than `seconds` of real time ago, or
    /// has left purchases to be read.
    ///
    /// Any number of servers may call it at any time; errors are logged and tried again.
    ///
    /// - Returns: whether nothing failed.
    @discardableResult
    public func reconcileIfDue(every seconds: Int64) async -> Bool {
        var isDone = true
        for scope in scopes {
            do {
                let pass = AppStoreReconciliation(
                    connector: self,
                    scope: scope,
                    client: try reads.client(scope),
                    reach: .news,
                    slice: nil,
                    progress: { _ in }
                )
                let place = try await pass.kept().place
                let wall = context.clocks.wall().milliseconds
                if let finished = place?.finished, place?.step == .done, place?.reading == nil,
                    finished <= wall, wall - finished < seconds * 1000
                {
                    continue
                }
                let report = try await reconcile(
                    in: scope.environment,
                    of: scope.application,
                    slice: Self.slice
                )
                if let report { tell(report) }
            } catch {
                isDone = false
                context.logger.warning(
                    "reconciling with the App Store will be tried again",
                    metadata: about(scope, ["error": "\(error)"])
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
        let isValidated = await receipts.revalidateIfDue()
        return isDone && isValidated
    }

    /// While purchases are read that take hours, what is sent is looked at every ten minutes.
    private static let slice: Int64 = 600_000

    private func tell(_ report: AppStoreReconciliation.Report) {
        let purchases = report.changed + report.historiesChanged
        guard report.taken + purchases + report.parked > 0 else { return }
        context.logger.notice(
            "the App Store had news that the record lacked",
            metadata: about(
                AppStoreScope(report.environment, report.application ?? ""),
                [
                    "notifications": "\(report.taken)", "purchases": "\(purchases)",
                    "parked": "\(report.parked)",
                ]
            )
        )
    }

    /// The metadata of a log line: its environment, and its app where there are several.
    func about(_ scope: AppStoreScope, _ more: Logger.Metadata) -> Logger.Metadata {
        var metadata = more
        metadata["environment"] = "\(scope.environment.rawValue)"
        if applications.count > 1 { metadata["app"] = "\(scope.application)" }
        return metadata
    }
}
