import ServiceLifecycle
import TollgateService

/// Writes once a minute when secret keys were used last, and when the server ends.
struct KeyUseKeeping: Service {
    let tollgate: Tollgate

    func run() async throws {
        await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                try? await Task.sleep(for: .seconds(60))
                guard !Task.isCancelled else { return }
                await tollgate.secretKeys.keepUses()
            }
        }
        await tollgate.secretKeys.keepUses()
    }
}
