import ServiceLifecycle
import TollgateService

/// Takes over the signing keys that another server, or a command, has made.
///
/// Three times within the minute after which a key may sign.
struct SigningKeyFollowing: Service {
    let tollgate: Tollgate

    func run() async throws {
        await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                try? await Task.sleep(for: .seconds(20))
                guard !Task.isCancelled else { return }
                await tollgate.signingKeys.refresh()
            }
        }
    }
}
