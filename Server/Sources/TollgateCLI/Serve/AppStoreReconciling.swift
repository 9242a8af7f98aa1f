import AppStoreConnector
import ServiceLifecycle
import TollgateService

/// Asks the App Store, as long as the server runs, for what the record lacks, and again with
/// the receipts of those who live on them.
struct AppStoreReconciling: Service {
    let tollgate: Tollgate
    /// Seconds of real time between passes; on PostgreSQL all servers together make one.
    static let interval: Int64 = 900

    func run() async throws {
        await cancelWhenGracefulShutdown {
            // Whatever starts together with the server is there by then.
            try? await Task.sleep(for: .seconds(3))
            // At first whenever the last pass was: this may be a restored database.
            var interval: Int64 = 0
            while !Task.isCancelled {
                let isDone = await tollgate.appStore.reconcileIfDue(every: interval)
                if isDone { interval = Self.interval }
                await tollgate.appStore.receipts.revalidateIfDue()
                // What fails is tried again, but does not fill the log.
                try? await Task.sleep(for: .seconds(isDone ? 10 : 120))
            }
        }
    }
}
