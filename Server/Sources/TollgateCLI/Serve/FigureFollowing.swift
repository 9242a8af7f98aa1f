import Foundation
import Logging
import ServiceLifecycle
import Storage
import TollgateService

/// Keeps the figures of reports in step with the journal, out of the way of ingest.
///
/// While messages keep coming it rests nine times as long as it works, so that they pay a tenth at
/// most; once they stop it rests as long as it works, since somebody may be reading.
struct FigureFollowing: Service {
    let tollgate: Tollgate

    func run() async throws {
        await cancelWhenGracefulShutdown {
            let clock = ContinuousClock()
            var end: Int64 = 0
            while !Task.isCancelled {
                let begin = clock.now
                var isDone = true
                do {
                    isDone = try await tollgate.followJournalOnce()
                } catch {
                    tollgate.logger.warning(
                        "the figures of reports will be tried again",
                        metadata: ["error": "\(error)"]
                    )
                }
                let newest = (try? await tollgate.store.journalEnd()) ?? end
                let isBusy = newest != end
                end = newest
                let rest: Duration =
                    isDone ? .milliseconds(500) : (clock.now - begin) * (isBusy ? 9 : 1)
                try? await Task.sleep(for: rest)
            }
        }
    }
}
