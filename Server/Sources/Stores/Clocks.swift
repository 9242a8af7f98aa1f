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
    /// Now, but after `instant`: two decisions about one thing never bear the same time, even
    /// while a sandbox's clock stands still.
    public func later(than instant: Instant?) async -> Instant {
        let now = await now()
        guard let instant else { return now }
        return max(now, instant.advanced(by: 1))
    }
}
