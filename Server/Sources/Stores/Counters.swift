internal import Synchronization

/// What happened how often, for `/metrics`.
///
/// Names and labels are ours, never a caller's words.
public final class Counters: Sendable {
    private let values = Mutex<[String: [String: Int64]]>([:])

    public init() {}

    /// - Parameters:
    ///   - name: `tollgate_messages_total`
    ///   - labels: `store="app_store"`
    public func count(_ name: String, _ labels: String = "", by amount: Int64 = 1) {
        values.withLock { $0[name, default: [:]][labels, default: 0] += amount }
    }

    /// In the text format of Prometheus, sorted.
    public var text: String {
        var text = ""
        var previous = ""
        for (name, labels, value) in all {
            if name != previous { text += "# TYPE \(name) counter\n" }
            previous = name
            text += labels.isEmpty ? "\(name) \(value)\n" : "\(name){\(labels)} \(value)\n"
        }
        return text
    }

    private var all: [(String, String, Int64)] {
        values.withLock { values in
            values.sorted { $0.key < $1.key }.flatMap { name, labelled in
                labelled.sorted { $0.key < $1.key }.map { (name, $0.key, $0.value) }
            }
        }
    }
}
