internal import Synchronization
public import TollgateCore

/// When something was done last that need not be done often.
public final class WorkPace: Sendable {
    private let last = Mutex<Instant?>(nil)

    public init() {}

    /// Whether it is time again; if so, it counts as done.
    public func isDue(_ now: Instant, every milliseconds: Int64) -> Bool {
        last.withLock { last in
            if let last, now.milliseconds - last.milliseconds < milliseconds, now >= last {
                return false
            }
            last = now
            return true
        }
    }
}
