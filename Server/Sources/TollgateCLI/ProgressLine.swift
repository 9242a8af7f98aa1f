import CommandOutput
import Stores
import Synchronization
import TollgateService

/// One line on the terminal that says how far long work has come; nothing where nobody looks.
final class ProgressLine: Sendable {
    private struct Shown {
        var width = 0
        var pace = ProgressPace()
    }

    private let isShown: Bool
    private let begun = ContinuousClock.now
    private let shown = Mutex(Shown())

    /// - Parameter json: a command that answers in JSON is read by a program.
    init(json: Bool) {
        isShown = Terminal.isInteractive && !json
    }

    var report: WorkProgress.Report {
        { [self] progress in
            guard isShown else { return }
            shown.withLock { shown in
                let text = shown.pace.line(progress, at: begun.duration(to: .now))
                let padding = String(repeating: " ", count: max(0, shown.width - text.count))
                Terminal.mark("\r" + text + padding)
                shown.width = text.count
            }
        }
    }

    /// Leaves the line, so that what follows begins on a new one.
    func end() {
        guard isShown else { return }
        shown.withLock { shown in
            if shown.width > 0 { Terminal.mark("\n") }
            shown.width = 0
        }
    }
}
