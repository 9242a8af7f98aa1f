internal import Foundation
public import TollgateCore

/// When something was done last that need not be done often.
public final class WorkPace: @unchecked Sendable {
    // `lock` guards `last`.
    private let lock = NSLock()
    private var last: Instant?

    public init() {}

    /// Whether it is time again; if so, it counts as done.
    public func isDue(_ now: Instant, every milliseconds: Int64) -> Bool {
        lock.withLock {
            if let last, now.milliseconds - last.milliseconds < milliseconds, now >= last {
                return false
            }
            last = now
            return true
        }
    }
}
