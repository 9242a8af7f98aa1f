import ServiceLifecycle
import TollgateService

/// Checks each night, and after each change of the engine, who may use what, against a second opinion.
///
/// It rests as long as it works, so that at most half of the machine is busy with it.
struct AccessChecking: Service {
    let tollgate: Tollgate

    func run() async throws {
        await cancelWhenGracefulShutdown {
            // Whatever starts together with the server is there by then.
            try? await Task.sleep(for: .seconds(20))
            while !Task.isCancelled {
                let clock = ContinuousClock()
                let pace = Pace(clock.now)
                let isDone = await tollgate.accessChecks.checkIfDue {
                    try? await Task.sleep(
                        for: min(.seconds(1), await pace.worked(until: clock.now))
                    )
                    await pace.rested(until: clock.now)
                }
                // What fails is tried again, but does not fill the log.
                try? await Task.sleep(for: .seconds(isDone ? 60 : 600))
            }
        }
    }

    /// When the work began that was not rested for yet.
    private actor Pace {
        private var begin: ContinuousClock.Instant

        init(_ begin: ContinuousClock.Instant) { self.begin = begin }

        func worked(until now: ContinuousClock.Instant) -> Duration { now - begin }
        func rested(until now: ContinuousClock.Instant) { begin = now }
    }
}
