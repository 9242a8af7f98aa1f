import ServiceLifecycle
import TollgateService

/// Drops what has expired, also while nobody writes: kept replies after two days, and sessions.
struct ExpiredDropping: Service {
    let tollgate: Tollgate

    func run() async throws {
        await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                await tollgate.replies.dropExpired()
                try? await Task.sleep(for: .seconds(60))
            }
        }
    }
}
