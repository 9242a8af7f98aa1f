public import TollgateCore

/// The two clocks, which must not be one (RULES §14).
public struct Clocks: Sendable {
    /// The stores' time: evaluation, freshness of signed dates.
    ///
    /// Virtual in the sandbox.
    public var now: @Sendable () async -> Instant
    /// The same without suspension, where that is possible: lets the commonest question be
    /// answered at once.
    public var nowAtOnce: (@Sendable () -> Instant)?
    /// Real time: sessions, the tolerance of signatures, the end of signed answers.
    public var wall: @Sendable () -> Instant
    /// Whether `now` is a sandbox's clock, which stands still until it is moved: then much happens
    /// within one second.
    public var isVirtual: Bool

    public init(
        now: @escaping @Sendable () async -> Instant,
        wall: @escaping @Sendable () -> Instant,
        isVirtual: Bool = false,
        nowAtOnce: (@Sendable () -> Instant)? = nil
    ) {
        self.now = now
        self.nowAtOnce = nowAtOnce
        self.wall = wall
        self.isVirtual = isVirtual
    }
}

extension Clocks {
    /// How long background work sleeps at most while it has nothing to do: clocks are set, and what another
    /// server leaves behind that dies wakes nobody here.
    public static let longestIdleTime = Duration.seconds(5)

    /// How long background work may sleep at `now` that is due at `due`; `nil`: after a commit only.
    public static func idleTime(until due: Instant?, at now: Instant) -> Duration {
        guard let due else { return longestIdleTime }
        guard due > now else { return .zero }
        return min(longestIdleTime, .milliseconds(due.milliseconds - now.milliseconds))
    }

    /// Now, but after `instant`: two decisions about one thing never bear the same time, even
    /// while a sandbox's clock stands still.
    public func later(than instant: Instant?) async -> Instant {
        let now = await now()
        guard let instant else { return now }
        return max(now, instant.advanced(by: 1))
    }
}
