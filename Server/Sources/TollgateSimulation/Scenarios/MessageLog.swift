import GooglePlaySimulator
import SandboxClock
import Synchronization

/// What reached the backend so far.
final class MessageLog: Sendable {
    private struct State {
        var messages: [Recording.Message] = []
        var moments: [SimulatedGooglePlay] = []
        /// Held by the world: it pushes to those who write here.
        weak var play: SimulatedGooglePlay?
        /// The newest answer about each purchase token.
        var answers: [String: String] = [:]
        var unknownReads: Int64 = 0
    }

    /// The beginning of the tokens that nobody has bought, of which no telling needs the answers.
    static let unknownToken = "unknown-token-"

    private let state = Mutex(State())

    /// The number of reads of such tokens.
    var unknownReads: Int64 { state.withLock { $0.unknownReads } }

    var all: [Recording.Message] { state.withLock { $0.messages } }
    /// Google Play as it was at each of its messages.
    var moments: [SimulatedGooglePlay] { state.withLock { $0.moments } }

    func append(_ message: Recording.Message) {
        state.withLock { $0.messages.append(message) }
    }

    // MARK: - Google Play

    func watch(_ play: SimulatedGooglePlay) { state.withLock { $0.play = play } }

    func append(hint body: [UInt8]) async {
        await append { .hint(body, at: $0, moment: $1) }
    }

    /// Keeps what was read, unless it was known.
    func append(reading: GooglePlayReading) async {
        guard !reading.token.hasPrefix(Self.unknownToken) else {
            return state.withLock { $0.unknownReads += 1 }
        }
        let isNews = state.withLock { state in
            let before = state.answers.updateValue(reading.answer, forKey: reading.token)
            return before != reading.answer
        }
        if isNews { await append { .reading(reading, at: $0, moment: $1) } }
    }

    func append(_ message: (_ at: Int64, _ moment: Int) -> Recording.Message) async {
        guard let play = state.withLock({ $0.play }) else { return }
        let still = await play.still()
        state.withLock { state in
            let moment = state.moments.count
            state.moments.append(still)
            state.messages.append(message(play.now, moment))
        }
    }
}

/// The server of a story with Google Play: it reads as soon as a hint has come.
final class HintListener: VirtualClock.Participant {
    private let isWaiting = Mutex(false)
    private let read = Mutex<(@Sendable () async -> Void)?>(nil)

    func onHint(_ read: @escaping @Sendable () async -> Void) {
        self.read.withLock { $0 = read }
    }

    func hear() { isWaiting.withLock { $0 = true } }

    func rest() { isWaiting.withLock { $0 = false } }

    func end() { read.withLock { $0 = nil } }

    /// At once: an instant that is past is due now.
    func nextDue() async -> Int64? { isWaiting.withLock { $0 } ? 0 : nil }

    func perform(at _: Int64) async {
        rest()
        await read.withLock({ $0 })?()
    }
}
