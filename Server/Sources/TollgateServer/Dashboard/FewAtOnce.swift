internal import Stores
internal import Synchronization
internal import TollgateAPI
internal import TollgateService

/// Lets a few do at once what takes much of the machine or of the stores.
///
/// Whoever comes next is sent away: who waited would hold on to a connection, and more would come
/// meanwhile.
final class FewAtOnce: Sendable {
    private let most: Int
    private let reason: String
    private let running = Mutex(0)

    /// - Parameters:
    ///   - most: how many may be at it.
    ///   - reason: why whoever comes next is sent away, as a sentence.
    init(_ most: Int, _ reason: String) {
        (self.most, self.reason) = (most, reason)
    }

    /// - Throws: a refusal 429 `rate_limited`, and nothing is done; what `work` throws.
    func run<Result: Sendable>(_ work: () async throws -> Result) async throws -> Result {
        let isFull = running.withLock { running in
            guard running < most else { return true }
            running += 1
            return false
        }
        guard !isFull else {
            throw Refusal(429, .rateLimited, "\(reason) Try again in a minute.")
        }
        defer { running.withLock { $0 -= 1 } }
        return try await work()
    }
}
