internal import Foundation
internal import TollgateCore

/// How long not to ask a store again that did not answer.
///
/// Forgetting it costs one more request.
final class RetryPace: @unchecked Sendable {
    // `lock` guards the two.
    private let lock = NSLock()
    private var failures: Int64 = 0
    private var notBefore = Instant(milliseconds: .min)

    func isDue(at wall: Instant) -> Bool {
        lock.withLock { notBefore <= wall }
    }

    func succeeded() {
        lock.withLock {
            failures = 0
            notBefore = Instant(milliseconds: .min)
        }
    }

    /// 10 s, 20 s, … at most ten minutes, by real time.
    func failed(at wall: Instant) {
        lock.withLock {
            notBefore = wall.advanced(by: min(10_000 << min(failures, 6), 600_000))
            failures += 1
        }
    }
}
