internal import Logging
internal import Storage
public import Stores

extension GooglePlayConnector {
    public var passes: [String] { setUp.apps.map { GooglePlayReconciliation.cursorName(of: $0) } }

    /// Looks for what no hint has told, if a pass is due and no other server is at it.
    ///
    /// - Returns: `false` where an app's pass failed; the other apps had theirs.
    public func reconcileIfDue() async throws -> Bool {
        var isWell = true
        for app in setUp.apps {
            do {
                _ = try await reconciliation.run(app)
            } catch is QuotaUsedUp {
                // Hints and acts come first; the pass goes on where it was.
                continue
            } catch {
                isWell = false
                tellOfFailedPass(app, error)
            }
        }
        return isWell
    }

    /// Reads what hints may have missed, now.
    ///
    /// - Parameter reach: `.news` reads what looks overdue, the voided purchases and the orders; the
    ///   others also every purchase that can still change.
    /// - Returns: the findings; `nil` where another server is at it.
    /// - Throws: `QuotaUsedUp` where waiting took too long; another run goes on from there.
    public func reconcile(
        reach: ReconciliationReach = .news,
        progress: @escaping WorkProgress.Report = { _ in }
    ) async throws -> GooglePlayReconciled? {
        let patient = reconciliation.waiting(progress: progress) {
            try await Task.sleep(for: .milliseconds(200))
        }
        var all: GooglePlayReconciled?
        var trouble: (any Error)?
        for app in setUp.apps {
            do {
                guard let found = try await patient.run(app, reach: reach) else { continue }
                all = all.map { $0.adding(found) } ?? found
            } catch {
                tellOfFailedPass(app, error)
                trouble = trouble ?? error
            }
        }
        if let trouble { throw trouble }
        return all
    }

    private func tellOfFailedPass(_ app: GooglePlaySetUp.App, _ error: any Error) {
        context.logger.warning(
            "a pass over an app's purchases in Google Play failed and will be made again",
            metadata: ["app": "\(app.packageName)", "error": "\(error)"]
        )
    }
}

extension GooglePlayReconciled {
    fileprivate func adding(_ other: Self) -> Self {
        var sum = self
        sum.overdue += other.overdue
        sum.overdueNews += other.overdueNews
        sum.voids += other.voids
        sum.voidNews += other.voidNews
        sum.orders += other.orders
        sum.orderNews += other.orderNews
        sum.unreadable += other.unreadable
        sum.purchases += other.purchases
        sum.purchaseNews += other.purchaseNews
        // Of several apps, what holds for all.
        sum.voidsFrom = [voidsFrom, other.voidsFrom].compactMap(\.self).max()
        sum.purchasesAsOf =
            if let asOf = purchasesAsOf, let others = other.purchasesAsOf {
                min(asOf, others)
            } else { nil }
        return sum
    }
}
