// SPDX-License-Identifier: Apache-2.0
import Logging
import Synchronization

/// The level from which a server logs: one for all of its loggers, since each part has a copy of its own.
final class LogThreshold: Sendable {
    private static let levels = Logger.Level.allCases

    /// Read at each call of a logger, on every thread.
    private let place: Atomic<Int>

    init(_ level: Logger.Level) {
        place = Atomic(LogThreshold.place(of: level))
    }

    var level: Logger.Level { Self.levels[place.load(ordering: .relaxed)] }

    func replace(with level: Logger.Level) {
        place.store(Self.place(of: level), ordering: .relaxed)
    }

    private static func place(of level: Logger.Level) -> Int { levels.firstIndex(of: level) ?? 0 }
}
