import Foundation

/// How long the figures of reports rest between two steps.
///
/// While messages keep coming, or this process is busy with requests, they rest nineteen times as
/// long as they work, so that others pay a twentieth; else they rest as long as they work, since
/// somebody may be waiting for a report. A step that was slow because others were does not make them
/// rest longer than four seconds.
struct FigurePace: Sendable {
    /// CPU use, in cores, above which the process counts as busy.
    private static let busy = 0.2

    private let clock = ContinuousClock()
    private var end: Int64 = 0
    private var begun: ContinuousClock.Instant
    /// When the last rest began, and what the process had used of its processors by then.
    private var rested: (at: ContinuousClock.Instant, used: Duration)?
    private var isServing = false

    init() { begun = clock.now }

    /// A step begins.
    mutating func begin() {
        begun = clock.now
        // What was used during the rest is others' work.
        guard let rested else { return }
        isServing = Self.processorTime - rested.used > (begun - rested.at) * Self.busy
    }

    /// A step has ended.
    ///
    /// - Parameters:
    ///   - isDone: whether there is nothing more to do.
    ///   - newest: the journal's newest row; `nil` where the database does not say.
    mutating func rest(after isDone: Bool, newest: Int64?) -> Duration {
        let isBusy = isServing || (newest ?? end) != end
        end = newest ?? end
        rested = (clock.now, Self.processorTime)
        return isDone
            ? .milliseconds(500) : min(.seconds(4), (clock.now - begun) * (isBusy ? 19 : 1))
    }

    /// What this process has used of its processors.
    private static var processorTime: Duration {
        // In millionths of a second, as POSIX has it.
        .microseconds(Int(Foundation.clock()))
    }
}
