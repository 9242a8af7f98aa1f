import CommandOutput
import Stores
import Synchronization
import TollgateService

/// One line on the terminal that says how far long work has come; nothing where nobody looks.
final class ProgressLine: Sendable {
    private let isShown: Bool
    private let width = Mutex(0)

    /// - Parameter json: a command that answers in JSON is read by a program.
    init(json: Bool) {
        isShown = Terminal.isInteractive && !json
    }

    var report: WorkProgress.Report {
        { [self] progress in
            let of = progress.of.map { " of \($0)" } ?? ""
            show("\(progress.step): \(progress.done)\(of)")
        }
    }

    private func show(_ text: String) {
        guard isShown else { return }
        width.withLock { width in
            let padding = String(repeating: " ", count: max(0, width - text.count))
            Terminal.mark("\r" + text + padding)
            width = text.count
        }
    }

    /// Leaves the line, so that what follows begins on a new one.
    func end() {
        guard isShown else { return }
        width.withLock { width in
            if width > 0 { Terminal.mark("\n") }
            width = 0
        }
    }
}
