internal import Synchronization
public import TollgateCore

/// What a store did not know when it was asked, kept in memory for a day.
///
/// Each server keeps its own; forgetting one costs another request.
public final class RecentlyUnknown<Key: Hashable & Sendable>: Sendable {
    private static var day: Int64 { 86_400_000 }
    private let capacity: Int
    private let times = Mutex<[Key: Int64]>([:])

    /// - Parameter capacity: the number of keys at which all are forgotten.
    public init(capacity: Int = 50_000) {
        self.capacity = capacity
    }

    /// Returns `true` if the store did not know it within the last day.
    public func contains(_ key: Key, at wall: Instant) -> Bool {
        times.withLock { times in
            times[key].map { (0..<Self.day).contains(wall.milliseconds - $0) } ?? false
        }
    }

    /// Notes that the store has just not known it.
    public func insert(_ key: Key, at wall: Instant) {
        times.withLock { times in
            if times.count >= capacity { times.removeAll() }
            times[key] = wall.milliseconds
        }
    }
}
