internal import HTTPTypes
internal import NIOCore
internal import NIOHTTPTypes

/// The order of what one connection brings as a value: which requests are messages that are taken in
/// here, which are passed on, and what waits.
///
/// Answers keep the order of requests. So a message is taken in only while nothing that was passed on is
/// unanswered, and what comes after it waits until it is answered: the route would be faster.
struct MessageTurns<Receiver> {
    /// What came after a message that has no answer yet.
    enum Held {
        case part(HTTPRequestPart)
        case event(Any)
        case error(any Error)
    }

    /// What is to be done with a part of a request.
    enum Step {
        case passOn
        /// It belongs to a message whose end has not come.
        case keep
        case takeIn(HTTPRequest, [UInt8], Receiver)
    }

    private enum State {
        case idle
        /// A message's body is being read.
        case reading(HTTPRequest, Receiver)
        /// A message's answer is not known yet.
        case takingIn
        case closed
    }

    private var state = State.idle
    /// What was read of the body; not within `state`, where each piece would copy it.
    private var body: [UInt8] = []
    private var held = CircularBuffer<Held>()
    /// Whether more is to be read as soon as the message is answered.
    private var wantsMore = false
    /// Requests that were passed on and not answered yet.
    private var passedOn = 0

    // MARK: - The client

    /// Returns `true` if it waits now; else it is the next one.
    mutating func holds(_ next: @autoclosure () -> Held) -> Bool {
        guard case .takingIn = state else { return false }
        held.append(next())
        return true
    }

    /// - Parameter receiver: who takes in a message with this head here; `nil`: it is passed on.
    mutating func read(_ part: HTTPRequestPart, _ receiver: (HTTPRequest) -> Receiver?) -> Step {
        switch (part, state) {
        case (.head(let head), _):
            guard passedOn == 0, let receiver = receiver(head) else {
                passedOn += 1
                return .passOn
            }
            state = .reading(head, receiver)
        case (.body(let bytes), .reading):
            // At first as much as came, which is mostly all of it: what is announced takes no memory.
            body.append(contentsOf: bytes.readableBytesView)
        case (.end, .reading(let head, let receiver)):
            state = .takingIn
            defer { body = [] }
            return .takeIn(head, body, receiver)
        default: return .passOn
        }
        return .keep
    }

    /// Whether more may be read now: hardly more is of a client that goes on before it was answered.
    mutating func mayRead() -> Bool {
        wantsMore = held.count >= Self.mostHeld
        return !wantsMore
    }

    var isClosed: Bool { if case .closed = state { true } else { false } }

    mutating func close() {
        state = .closed
        held.removeAll()
    }

    // MARK: - The server

    /// A request that was passed on has its answer.
    mutating func passedOnIsAnswered() { passedOn -= 1 }

    /// The message has its answer.
    ///
    /// - Returns: whether anybody waits for it.
    mutating func messageIsAnswered() -> Bool {
        guard case .takingIn = state else { return false }
        state = .idle
        return true
    }

    /// What waited and has its turn, up to the next message.
    mutating func next() -> Held? {
        if case .takingIn = state { nil } else { held.popFirst() }
    }

    /// Returns `true`, once, if more was to be read and may be read now.
    mutating func readsOn() -> Bool { wantsMore && mayRead() }

    /// How many parts of later requests are read before an answer is given; a burst may be more.
    static var mostHeld: Int { 16 }
}
