internal import Synchronization

/// Wakes background work of this process when something was committed.
///
/// Signals coalesce: work that sleeps is woken once, and work that is busy finds a higher count when it
/// is done. Commits of other processes do not count.
public final class CommitSignal: Sendable {
    private let sleepers = Mutex(Sleepers<CheckedContinuation<Void, Never>>())

    public init() {}

    /// The number of writes so far, whatever came of them.
    public var count: Int { sleepers.withLock { $0.count } }

    /// Counts a write that has ended.
    package func raise() {
        for sleeper in sleepers.withLock({ $0.wake() }) { sleeper.resume() }
    }

    /// Sleeps until a write has ended since `seen`, for `shortest` at least and `longest` at most.
    ///
    /// Returns at once when the task is cancelled.
    public func rest(since seen: Int, from shortest: Duration, to longest: Duration) async {
        let end = ContinuousClock.now + shortest
        if longest > shortest, count == seen {
            await withTaskGroup(of: Void.self) { group in
                group.addTask { try? await Task.sleep(for: longest) }
                group.addTask { await self.write(since: seen) }
                await group.next()
                group.cancelAll()
            }
        }
        if ContinuousClock.now < end { try? await Task.sleep(until: end, clock: .continuous) }
    }

    private func write(since seen: Int) async {
        let place = sleepers.withLock { $0.newPlace() }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let sleeps = sleepers.withLock { sleepers in
                    // Whoever was cancelled before this is woken by nobody.
                    !Task.isCancelled && sleepers.add(continuation, at: place, since: seen)
                }
                if !sleeps { continuation.resume() }
            }
        } onCancel: {
            sleepers.withLock { $0.remove(place) }?.resume()
        }
    }
}

/// Those who sleep until the next write.
struct Sleepers<Sleeper> {
    /// The number of writes so far.
    private(set) var count = 0
    private var places = 0
    private var sleeping: [Int: Sleeper] = [:]

    mutating func newPlace() -> Int {
        places += 1
        return places
    }

    /// Counts a write, and returns those whom it wakes.
    mutating func wake() -> [Sleeper] {
        count += 1
        guard !sleeping.isEmpty else { return [] }
        defer { sleeping = [:] }
        return Array(sleeping.values)
    }

    /// - Returns: `false` where there was a write since `seen`: then there is nothing to wait for.
    mutating func add(_ sleeper: Sleeper, at place: Int, since seen: Int) -> Bool {
        guard count == seen else { return false }
        sleeping[place] = sleeper
        return true
    }

    /// - Returns: `nil` for one who was woken already.
    mutating func remove(_ place: Int) -> Sleeper? {
        sleeping.removeValue(forKey: place)
    }
}
