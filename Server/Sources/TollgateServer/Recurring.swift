internal import Storage
internal import Stores
import Logging
public import ServiceLifecycle
public import TollgateService

/// Work that a server does again and again until it ends.
///
/// What fails is logged and tried again after a pause of its own, so that it does not fill the log.
/// `/metrics` tells how long ago a round ended well. The end of the server cancels a round; what is
/// left to do then is `atEnd`.
public struct Recurring<State: Sendable>: Service {
    /// How a round ended.
    public enum Round: Sendable {
        case done
        /// The work has logged why.
        case failed
        /// Done, with a pause that the work has chosen.
        case resting(Duration)
        /// There is nothing to do for so long unless something is committed.
        case idle(Duration)
    }

    private let name: String
    private let tollgate: Tollgate
    private let start: Duration
    private let pause: Duration
    private let pauseAfterFailure: Duration
    private let state: State
    private let atEnd: @Sendable () async -> Void
    private let round: @Sendable (inout State) async throws -> Round

    /// - Parameters:
    ///   - name: names the work in the log and in `/metrics`.
    ///   - start: how long after the start of the server the first round begins.
    ///   - pause: between two rounds.
    ///   - pauseAfterFailure: after a round that failed; `nil`: the same.
    ///   - state: what a round leaves to the next one.
    public init(
        _ name: String,
        of tollgate: Tollgate,
        after start: Duration = .zero,
        every pause: Duration,
        afterFailure pauseAfterFailure: Duration? = nil,
        keeping state: State,
        atEnd: @escaping @Sendable () async -> Void = {},
        _ round: @escaping @Sendable (inout State) async throws -> Round
    ) {
        self.name = name
        self.tollgate = tollgate
        self.start = start
        self.pause = pause
        self.pauseAfterFailure = pauseAfterFailure ?? pause
        self.state = state
        self.atEnd = atEnd
        self.round = round
    }

    public func run() async throws {
        await cancelWhenGracefulShutdown {
            var state = state
            tollgate.workAges.note(name, at: tollgate.clocks.wall())
            if start > .zero { try? await Task.sleep(for: start) }
            let commits = tollgate.store.driver.commits
            while !Task.isCancelled {
                let seen = commits.count
                let (shortest, longest) = await rest(after: once(&state))
                await commits.rest(since: seen, from: shortest, to: longest)
            }
        }
        await atEnd()
    }

    private func once(_ state: inout State) async -> Round {
        do {
            return try await round(&state)
        } catch {
            // A server that ends has not failed.
            guard !Task.isCancelled else { return .failed }
            tollgate.logger.warning(
                "recurring work will be tried again",
                metadata: ["work": "\(name)", "error": "\(error)"]
            )
            return .failed
        }
    }

    private func rest(after round: Round) -> (shortest: Duration, longest: Duration) {
        if case .failed = round { return (pauseAfterFailure, .zero) }
        tollgate.workAges.note(name, at: tollgate.clocks.wall())
        return switch round {
        case .done, .failed: (pause, .zero)
        case .resting(let rest): (rest, .zero)
        case .idle(let time): (pause, time)
        }
    }
}

extension Recurring where State == Void {
    /// Work whose rounds leave nothing to one another.
    public init(
        _ name: String,
        of tollgate: Tollgate,
        after start: Duration = .zero,
        every pause: Duration,
        afterFailure pauseAfterFailure: Duration? = nil,
        atEnd: @escaping @Sendable () async -> Void = {},
        _ round: @escaping @Sendable () async throws -> Round
    ) {
        self.init(
            name,
            of: tollgate,
            after: start,
            every: pause,
            afterFailure: pauseAfterFailure,
            keeping: (),
            atEnd: atEnd
        ) { (_: inout Void) in try await round() }
    }
}
