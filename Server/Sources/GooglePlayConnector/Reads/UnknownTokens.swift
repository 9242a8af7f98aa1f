internal import Synchronization
internal import TollgateCore

/// Tokens that Google did not show, kept in memory for a day: forgetting one costs two more reads.
final class UnknownTokens: Sendable {
    private static let (memory, capacity): (Int64, Int) = (86_400_000, 50_000)
    private let times = Mutex<[String: Int64]>([:])

    func holds(_ token: String, at wall: Instant) -> Bool {
        times.withLock { times in
            times[token].map { (0..<Self.memory).contains(wall.milliseconds - $0) } ?? false
        }
    }

    func note(_ token: String, at wall: Instant) {
        times.withLock { times in
            if times.count >= Self.capacity { times.removeAll() }
            times[token] = wall.milliseconds
        }
    }
}
