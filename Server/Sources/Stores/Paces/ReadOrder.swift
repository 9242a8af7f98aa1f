internal import Synchronization
public import TollgateCore

/// Keeps reads apart that speak of the same second of a clock that stands still.
///
/// In real time a read speaks of the second before it was sent, so whatever comes later is newer. On
/// a sandbox's clock, or one of Stripe's test clocks, a whole story may happen within one second;
/// there the last read is the newest word.
public final class ReadOrder: Sendable {
    private let counts = Mutex<[Int64: Int64]>([:])

    public init() {}

    /// An instant within `second`, never its first millisecond, that is later than all that were given
    /// before.
    public func next(in second: Int64) -> Instant {
        counts.withLock { counts in
            if counts.count > 1024 { counts.removeAll() }
            let count = min(counts[second, default: 0] + 1, 999)
            counts[second] = count
            return Instant(seconds: second).advanced(by: count)
        }
    }
}
