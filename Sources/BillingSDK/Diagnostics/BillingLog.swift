import Foundation

#if canImport(os)
    import os
#endif

/// One line of the SDK's log; it never holds a key, a secret, or an id of a customer or purchase.
public struct BillingLogEntry: Hashable, Sendable {
    /// The level of importance.
    public enum Level: Int, Comparable, Hashable, Sendable, CaseIterable {
        /// Each request and its answer.
        case debug
        /// A change: a sign-in, a purchase that the server has.
        case info
        /// A retry, or an answer without the server.
        case warning
        /// A problem for people: a final refusal, a mistake in the configuration.
        case error

        /// Less important levels come first.
        public static func < (one: Level, other: Level) -> Bool { one.rawValue < other.rawValue }
    }

    /// By the device's clock.
    public let date: Date
    /// The level of importance.
    public let level: Level
    /// A sentence in English, for developers.
    public let message: String
}

/// Where the SDK writes what it does.
final class BillingLog: Sendable {
    private let level: BillingLogEntry.Level
    private let handler: @Sendable (BillingLogEntry) -> Void
    private let now: @Sendable () -> Date
    private let recent = Locked<[BillingLogEntry]>([])
    private static let mostRecent = 20

    init(
        level: BillingLogEntry.Level,
        handler: (@Sendable (BillingLogEntry) -> Void)?,
        now: @escaping @Sendable () -> Date
    ) {
        self.level = level
        self.handler = handler ?? Self.system
        self.now = now
    }

    /// The last warnings and errors, oldest first.
    var problems: [BillingLogEntry] { recent.withLock { $0 } }

    func write(_ level: BillingLogEntry.Level, _ message: @autoclosure () -> String) {
        guard level >= min(self.level, .warning) else { return }
        let entry = BillingLogEntry(date: now(), level: level, message: message())
        if level >= .warning {
            recent.withLock { recent in
                recent.append(entry)
                recent = recent.suffix(Self.mostRecent)
            }
        }
        if level >= self.level { handler(entry) }
    }

    /// The system's log on Apple's systems; elsewhere only a handler hears.
    private static let system: @Sendable (BillingLogEntry) -> Void = { entry in
        #if canImport(os)
            let logger = Logger(subsystem: "BillingSDK", category: "billing")
            let type: OSLogType =
                switch entry.level {
                case .debug: .debug
                case .info: .info
                case .warning: .default
                case .error: .error
                }
            logger.log(level: type, "\(entry.message, privacy: .public)")
        #endif
    }
}
