internal import Synchronization
public import TollgateCore

/// When each recurring work of this process was last done, for `/metrics`.
public final class WorkAges: Sendable {
    private let done = Mutex<[String: Instant]>([:])

    init() {}

    /// Keeps that a round ended well, or that the work begins with the server.
    public func note(_ name: String, at wall: Instant) {
        done.withLock { $0[name] = wall }
    }

    /// The seconds since then, by name.
    func seconds(at wall: Instant) -> [(name: String, seconds: Int64)] {
        done.withLock { $0 }.sorted { $0.key < $1.key }.map { name, done in
            (name, max(0, (wall.milliseconds - done.milliseconds) / 1_000))
        }
    }
}
