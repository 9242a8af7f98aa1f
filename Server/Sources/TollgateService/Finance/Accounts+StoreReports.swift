internal import Logging
internal import Reports
internal import Storage
internal import Stores
internal import TollgateCore

extension Accounts {
    /// Fetches the reports of all stores that are not here yet, where they are configured and no
    /// other server is at it.
    ///
    /// Any number of servers may call it at any time; what fails is logged and tried again.
    ///
    /// - Parameter seconds: how much real time lies between two rounds.
    /// - Returns: whether nothing failed.
    @discardableResult
    public func fetchReportsIfDue(every seconds: Int64) async -> Bool {
        var isDone = true
        for books in books where books.canFetch {
            let count = await fetchIfDue(books.roundName, every: seconds) { today, prolong in
                try await books.fetch(today: today, prolong: prolong)
            }
            isDone = isDone && count != nil
        }
        let isCompared = await compareNewReports()
        return isDone && isCompared
    }

    /// Compares the last ninety days anew for whoever looks at the dashboard, if a report has come
    /// since that was done last, whoever brought it in.
    ///
    /// - Returns: whether nothing failed.
    private func compareNewReports() async -> Bool {
        do {
            let environment = defaultEnvironment
            guard let reports = try await records.reports.mark() else { return true }
            if try await keptReconciliation(in: environment)?.reports == reports { return true }
            let today = Finance.Day(utc: await clocks.now())
            let made = try await reconcileAndKeep(
                from: today.advanced(by: -89),
                to: today,
                in: environment
            )
            if made == nil { logger.info("the stores' reports will be compared later") }
            return true
        } catch {
            logger.warning(
                "the stores' reports could not be compared",
                metadata: ["error": "\(error)"]
            )
            return false
        }
    }

    /// - Returns: how many reports were new; nil if it failed.
    private func fetchIfDue(
        _ name: String,
        every seconds: Int64,
        _ fetch:
            @escaping (Instant, _ prolong: @escaping @Sendable () async throws -> Void) async throws
            -> Int
    ) async -> Int? {
        do {
            let wall = clocks.wall()
            if let last = try await records.cursors.read(name)?.updated, last <= wall,
                wall < last.advanced(by: seconds * 1000)
            {
                return 0
            }
            let today = await clocks.now()
            let count = try await leases.holding(name, seconds: 600) { prolong in
                try await fetch(today, prolong)
            }
            guard let count else { return 0 }
            try await records.cursors.keep(name, [], now: clocks.wall())
            if count > 0 {
                logger.info(
                    "reports of a store have come",
                    metadata: ["reports": "\(name)", "count": "\(count)"]
                )
            }
            return count
        } catch {
            logger.warning(
                "fetching a store's reports will be tried again",
                metadata: ["reports": "\(name)", "error": "\(error)"]
            )
            return nil
        }
    }
}
