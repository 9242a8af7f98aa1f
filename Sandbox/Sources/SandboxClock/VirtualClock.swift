internal import Synchronization

/// The time in which both simulated stores live: it stands still until somebody advances it.
///
/// An advance goes from due instant to due instant. At each, every participant does what is due
/// and returns once those it told about it have answered, so that when `advance(to:)` returns,
/// nothing of the span it covered is still under way. Instants are UNIX milliseconds.
public actor VirtualClock {
    /// Somebody who has things to do at certain instants: a simulated store.
    public protocol Participant: Sendable {
        /// The next instant at which this participant has something to do, or `nil`.
        func nextDue() async -> Int64?
        /// Does everything that is due at or before `instant`.
        func perform(at instant: Int64) async
    }

    /// The present, in UNIX milliseconds.
    public private(set) var now: Int64 {
        didSet { shown.withLock { [now] in $0 = now } }
    }
    private let shown: Mutex<Int64>
    /// The same for who cannot wait for an answer.
    public nonisolated var nowAtOnce: Int64 { shown.withLock { $0 } }
    private var participants: [any Participant] = []
    private var isAdvancing = false
    private var waiting: [CheckedContinuation<Void, Never>] = []

    /// - Parameter now: the first present, in UNIX milliseconds.
    public init(now: Int64) {
        self.now = now
        shown = Mutex(now)
    }

    /// Lets `participant` act in every later advance.
    ///
    /// Of two things due at one instant, the one whose participant joined first is done first.
    public func join(_ participant: any Participant) {
        participants.append(participant)
    }

    /// Lets go of all participants: they know their clock and it knows them, so that without this
    /// neither would ever be let go of.
    public func end() {
        participants = []
    }

    /// Moves the present to `target`, never backwards.
    ///
    /// Advances that overlap run one after another.
    public func advance(to target: Int64) async {
        while isAdvancing {
            await withCheckedContinuation { waiting.append($0) }
        }
        isAdvancing = true
        defer {
            isAdvancing = false
            let resumed = waiting
            waiting = []
            for continuation in resumed { continuation.resume() }
        }
        while let (instant, participant) = await earliest(upTo: target) {
            now = max(now, instant)
            await participant.perform(at: now)
        }
        now = max(now, target)
    }

    private func earliest(upTo target: Int64) async -> (Int64, any Participant)? {
        var best: (Int64, any Participant)?
        for participant in participants {
            guard let due = await participant.nextDue(), due <= target else { continue }
            if best.map({ due < $0.0 }) ?? true { best = (due, participant) }
        }
        return best
    }
}
