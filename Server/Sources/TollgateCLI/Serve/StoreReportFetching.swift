import ServiceLifecycle
import TollgateService

/// Fetches the stores' sales and finance reports, balance transactions and payouts, as long as the
/// server runs.
struct StoreReportFetching: Service {
    let tollgate: Tollgate
    /// Seconds of real time between rounds; on PostgreSQL all servers together make one.
    static let interval: Int64 = 3600

    func run() async throws {
        await cancelWhenGracefulShutdown {
            // Whatever starts together with the server is there by then.
            try? await Task.sleep(for: .seconds(5))
            while !Task.isCancelled {
                let isDone = await tollgate.fetchStoreReportsIfDue(every: Self.interval)
                try? await Task.sleep(for: .seconds(isDone ? 60 : 600))
            }
        }
    }
}
