import Logging
import Synchronization

/// What an application warns of, for a test to read.
final class Warnings: Sendable {
    private let lines = Mutex<[String]>([])

    /// The oldest first.
    var all: [String] { lines.withLock { $0 } }

    var logger: Logger {
        Logger(label: "test", factory: { _ in WarningHandler(warnings: self) })
    }

    fileprivate func keep(_ line: String) { lines.withLock { $0.append(line) } }
}

private struct WarningHandler: LogHandler {
    let warnings: Warnings
    var logLevel = Logger.Level.warning
    var metadata: Logger.Metadata = [:]
    var metadataProvider: Logger.MetadataProvider?

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) { warnings.keep("\(event.message)") }
}
