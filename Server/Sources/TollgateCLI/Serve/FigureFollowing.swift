import Foundation
import Logging
import ServiceLifecycle
import Storage
import TollgateService

/// Keeps the figures of reports in step with the journal, out of the way of everybody else.
///
/// While messages keep coming, or this process is busy with requests, it rests nineteen times as
/// long as it works, so that they pay a twentieth; else it rests as long as it works, since somebody
/// may be waiting for a report. A step that was slow because others were does not make it rest longer
/// than four seconds.
struct FigureFollowing: Service {
    let tollgate: Tollgate

    /// From how many cores on this process is busy.
    private static let busy = 0.2

    func run() async throws {
        await cancelWhenGracefulShutdown {
            let clock = ContinuousClock()
            var end: Int64 = 0
            var isServing = false
            while !Task.isCancelled {
                let begin = clock.now
                var isDone = true
                do {
                    isDone = try await tollgate.figures.followOnce()
                } catch {
                    tollgate.logger.warning(
                        "the figures of reports will be tried again",
                        metadata: ["error": "\(error)"]
                    )
                }
                let newest = (try? await tollgate.store.journalEnd()) ?? end
                let isBusy = isServing || newest != end
                end = newest
                let rest: Duration =
                    isDone
                    ? .milliseconds(500)
                    : min(.seconds(4), (clock.now - begin) * (isBusy ? 19 : 1))
                let (rested, used) = (clock.now, Self.processorTime)
                try? await Task.sleep(for: rest)
                // What was used meanwhile is others' work.
                isServing = Self.processorTime - used > (clock.now - rested) * Self.busy
            }
        }
    }

    /// What this process has used of its processors.
    private static var processorTime: Duration {
        // In millionths of a second, as POSIX has it.
        .microseconds(Int(clock()))
    }
}
