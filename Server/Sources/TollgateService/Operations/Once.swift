internal import Synchronization

/// Something that happens once in the life of a server, such as a word of warning.
public final class Once: Sendable {
    private let hasHappened = Mutex(false)

    public init() {}

    /// Whether it has not happened yet; if so, it counts as done.
    public func claim() -> Bool {
        hasHappened.withLock { hasHappened in
            defer { hasHappened = true }
            return !hasHappened
        }
    }
}
