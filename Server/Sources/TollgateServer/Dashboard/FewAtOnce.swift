internal import Stores
internal import Synchronization
internal import TollgateAPI
internal import TollgateService

/// Lets a few do at once what takes much memory.
///
/// Whoever comes next is sent away: who waited would hold on to a connection, and more would come
/// meanwhile.
final class FewAtOnce: Sendable {
    private let most: Int
    private let running = Mutex(0)

    /// - Parameter most: how many may be at it.
    init(_ most: Int) {
        self.most = most
    }

    /// - Throws: a refusal 429 `rate_limited`, and nothing is done; what `work` throws.
    func run<Result: Sendable>(_ work: () async throws -> Result) async throws -> Result {
        let isFull = running.withLock { running in
            guard running < most else { return true }
            running += 1
            return false
        }
        guard !isFull else {
            throw Refusal(
                429,
                .rateLimited,
                "\(most) others have all sales of some days read at this moment, which takes much "
                    + "memory. Try again in a minute."
            )
        }
        defer { running.withLock { $0 -= 1 } }
        return try await work()
    }
}
