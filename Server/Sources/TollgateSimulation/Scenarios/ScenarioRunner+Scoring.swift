import SandboxClock

/// How a backend did in one scenario.
public struct ScenarioScore: Sendable {
    public var scenario: Scenario
    /// So many checks were made.
    public var asked = 0
    /// Why checks were not made.
    public var skipped: [String] = []
    /// What did not hold.
    public var failures: [ScenarioFailure] = []

    public init(scenario: Scenario) {
        self.scenario = scenario
    }
}

extension ScenarioRunner {
    /// Plays a scenario to a backend that has only the real time.
    ///
    /// The story is told anew for each check, with new customers, and so much later (or earlier)
    /// that the check falls on now.
    /// - Parameters:
    ///   - webhookSecret: what Stripe's events are signed with.
    ///   - salt: another one makes other customers.
    ///   - now: real time, in UNIX milliseconds.
    public func score(
        _ loaded: LoadedScenario,
        backend: any ScenarioBackend,
        webhookSecret: String,
        salt: UInt64,
        now: @Sendable () -> Int64
    ) async -> ScenarioScore {
        var score = ScenarioScore(scenario: loaded.scenario)
        if loaded.scenario.usesGooglePlay {
            score.skipped.append("a backend reads Google Play itself, which only Tollgate can here")
            return score
        }
        if loaded.scenario.needsDevice {
            score.skipped.append("the app itself speaks to its backend in this story")
            return score
        }
        var number = 0
        for step in loaded.scenario.steps {
            guard case .check(let expectation) = step.deed else { continue }
            defer { number += 1 }
            let line = "line \(step.line): "
            guard expectation.has != nil else {
                score.skipped.append(line + "asks for coins, and the backend is not")
                continue
            }
            guard expectation.past == nil else {
                score.skipped.append(line + "asks about the past, and the backend is not")
                continue
            }
            guard !step.isExact else {
                score.skipped.append(line + "is meant to the second, which real time is not")
                continue
            }
            var telling = Play.Telling()
            // Whole seconds, and never past now, also where the story plays in the future.
            let ahead = now() - step.at
            telling.shift = ahead - (ahead % 1000 + 1000) % 1000
            telling.salt = salt &+ UInt64(number)
            telling.webhookSecret = webhookSecret
            telling.lastCheck = number
            score.asked += 1
            score.failures += await failures(of: loaded, telling: telling, backend: backend)
        }
        return score
    }

    private func failures(
        of loaded: LoadedScenario,
        telling: Play.Telling,
        backend: any ScenarioBackend
    ) async -> [ScenarioFailure] {
        await ScenarioFailure.found(in: loaded.scenario.file, "moved to now") {
            let answers = try await SandboxCalendar.$offset.withValue(telling.shift) {
                var play = try await Play(
                    loaded,
                    backend: backend,
                    authority: authority,
                    telling: telling
                )
                return try await play.run()
            }
            return answers.map { answered in
                var check = answered.check
                check.at -= telling.shift
                return (check.line, check.objection(to: answered.answer))
            }
        }
    }
}
