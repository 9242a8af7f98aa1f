internal import Synchronization
internal import TollgateCore

/// Keeps reads apart that were made at the same instant of a clock that stands still: the last is the
/// newest word.
final class VirtualOrder: Sendable {
    private let last = Mutex<Instant?>(nil)

    func next(at now: Instant) -> Instant {
        last.withLock { last in
            // A clock that was set back counts, after more than a few reads.
            let next =
                last.map { last in
                    (0...10_000).contains(last.milliseconds - now.milliseconds)
                        ? last.advanced(by: 1) : now
                } ?? now
            last = next
            return next
        }
    }
}
