/// How far long work has come, for people who watch it.
public struct WorkProgress: Hashable, Sendable {
    /// What is being done: `notifications that were not delivered`.
    public var step: String
    /// How many pieces of it are done.
    public var done: Int
    /// How many there are; `nil` where nobody knows before the end.
    public var of: Int?

    public init(step: String, done: Int, of: Int? = nil) {
        self.step = step
        self.done = done
        self.of = of
    }

    /// Told after every piece.
    public typealias Report = @Sendable (WorkProgress) -> Void
}

/// The pace of long work, which says how long the rest will take.
public struct ProgressPace: Sendable {
    private var step: String?
    /// What was done when the step was told first, and when that was.
    private var first: (done: Int, time: Duration) = (0, .zero)

    public init() {}

    /// The line that says how far the work has come: after two seconds with the time that is left.
    ///
    /// - Parameter time: the time since the work began.
    public mutating func line(_ progress: WorkProgress, at time: Duration) -> String {
        if step != progress.step || progress.done < first.done {
            (step, first) = (progress.step, (progress.done, time))
        }
        guard let all = progress.of else { return "\(progress.step): \(progress.done)" }
        let tenths = all > 0 ? min(max(0, progress.done * 10 / all), 10) : 10
        let bar = String(repeating: "#", count: tenths) + String(repeating: "-", count: 10 - tenths)
        let rest = left(progress.done, of: all, at: time).map { ", \($0) left" } ?? ""
        return "\(progress.step): \(progress.done) of \(all) [\(bar)]\(rest)"
    }

    private func left(_ done: Int, of all: Int, at time: Duration) -> String? {
        let (gone, work) = (time - first.time, done - first.done)
        guard gone >= .seconds(2), work > 0, done < all else { return nil }
        let seconds = Int(gone / .seconds(1) * Double(all - done) / Double(work))
        return switch seconds {
        case ..<60: "\(max(1, seconds)) s"
        case ..<3_600: "\(seconds / 60) min"
        default: "\(seconds / 3_600) h \(seconds % 3_600 / 60) min"
        }
    }
}
