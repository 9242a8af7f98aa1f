internal import Foundation

/// What happened how often, for `/metrics`.
///
/// Names and labels are ours, never a caller's words.
public final class Counters: Sendable {
    private let box = CounterBox()

    public init() {}

    /// - Parameters:
    ///   - name: `tollgate_notifications_total`
    ///   - labels: `store="app_store"`
    public func count(_ name: String, _ labels: String = "", by amount: Int64 = 1) {
        box.add(name, labels, amount)
    }

    /// In the text format of Prometheus, sorted.
    public var text: String {
        var text = ""
        var previous = ""
        for (name, labels, value) in box.all {
            if name != previous { text += "# TYPE \(name) counter\n" }
            previous = name
            text += labels.isEmpty ? "\(name) \(value)\n" : "\(name){\(labels)} \(value)\n"
        }
        return text
    }
}

private final class CounterBox: @unchecked Sendable {
    // `lock` guards `values`.
    private let lock = NSLock()
    private var values: [String: [String: Int64]] = [:]

    func add(_ name: String, _ labels: String, _ amount: Int64) {
        lock.withLock { values[name, default: [:]][labels, default: 0] += amount }
    }

    var all: [(String, String, Int64)] {
        lock.withLock {
            values.sorted { $0.key < $1.key }.flatMap { name, labelled in
                labelled.sorted { $0.key < $1.key }.map { (name, $0.key, $0.value) }
            }
        }
    }
}
