import Foundation
import Logging

/// Writes each event as one line of JSON on standard error: `{"time","level","label","message",…}`.
///
/// Metadata is kept as it is until something is logged; the framework gives every request some, and
/// nearly none of them log.
struct JSONLogHandler: LogHandler {
    let label: String
    private let threshold: LogThreshold
    /// The level of one logger that was given its own.
    private var ownLevel: Logger.Level?
    var metadata: Logger.Metadata = [:]
    var metadataProvider: Logger.MetadataProvider?

    init(label: String, threshold: LogThreshold) {
        (self.label, self.threshold) = (label, threshold)
    }

    var logLevel: Logger.Level {
        get { ownLevel ?? threshold.level }
        set { ownLevel = newValue }
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        var all = metadata
        if let provided = metadataProvider?.get() { all.merge(provided) { _, new in new } }
        if let given = event.metadata { all.merge(given) { _, new in new } }
        if let error = event.error { all["error"] = "\(error)" }
        let line = Line(
            time: Date.now.formatted(
                .iso8601.year().month().day().timeZone(separator: .omitted)
                    .time(includingFractionalSeconds: true)
            ),
            level: "\(event.level)",
            label: label,
            message: Self.cut("\(event.message)"),
            metadata: all.mapValues { Self.cut("\($0)") }
        )
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        guard var data = try? encoder.encode(line) else { return }
        data.append(UInt8(ascii: "\n"))
        // One call, so that lines of several threads do not mix; nobody is left to tell if it fails.
        try? FileHandle.standardError.write(contentsOf: data)
    }

    /// Callers' words may be among them, and as long as they like.
    private static func cut(_ text: String) -> String {
        text.utf8.count <= 4_096
            ? text : String(decoding: text.utf8.prefix(4_093), as: UTF8.self) + "…"
    }

    private struct Line: Encodable {
        var time: String
        var level: String
        var label: String
        var message: String
        var metadata: [String: String]
    }
}
