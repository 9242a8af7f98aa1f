internal import Synchronization
public import TollgateCore

/// How long not to ask a store again that did not answer.
///
/// Forgetting it costs one more request.
public final class RetryPace: Sendable {
    private let time = Mutex(RetryTime())

    public init() {}

    public func isDue(at wall: Instant) -> Bool {
        time.withLock { $0.isDue(at: wall) }
    }

    public func succeeded() {
        time.withLock { $0 = RetryTime() }
    }

    public func failed(at wall: Instant) {
        time.withLock { $0.failed(at: wall) }
    }
}

/// When to do something again that failed: after 10 s, 20 s, … at most ten minutes, by real time.
struct RetryTime: Sendable {
    /// The longest wait, in milliseconds.
    static let longest: Int64 = 600_000

    private var failures: Int64 = 0
    private(set) var notBefore = Instant(milliseconds: .min)

    func isDue(at wall: Instant) -> Bool { notBefore <= wall }

    mutating func failed(at wall: Instant) {
        notBefore = wall.advanced(by: min(10_000 << min(failures, 6), Self.longest))
        failures += 1
    }
}
