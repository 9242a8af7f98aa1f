internal import NIOCore

/// The life of one HTTP/1.1 connection as a value: what was read and answered, and how long the next
/// step may take.
///
/// A client may send several requests at once, and an answer may come before its request is complete.
/// So requests and answers are counted: the server owes an answer only while there are fewer answers
/// than requests. Every state has a deadline, so that no connection lives for ever.
struct ConnectionLife {
    /// What the server says of its own accord before it closes the connection.
    enum Refusal: Hashable, CaseIterable {
        /// 503: too many connections are open.
        case tooManyConnections
        /// 408: the request took too long.
        case timedOut
        /// 431: the headers are too large.
        case headersTooLarge
        /// 400: what came is no request.
        case malformedRequest
        /// 400: what came is no body.
        case malformedBody
    }

    /// What is to be done now.
    enum Action: Hashable {
        case nothing
        case close
        /// Answer, then close.
        case refuse(Refusal)
    }

    private let limits: ConnectionLimits
    /// Requests whose head was read.
    private(set) var requests = 0
    /// Answers that were written to their end.
    private(set) var answers = 0
    /// Whether the end of the newest request has not come yet.
    private(set) var isReading = false
    /// Whether the answer that is due has begun.
    private var hasBegun = false
    /// Whether bytes came that are no whole head yet.
    private var hasBytes = false
    /// A refusal that has to wait for the answers to earlier requests.
    private var due: Refusal?
    /// Whether the last word was said: nothing is read and nothing else is written any more.
    private(set) var isOver = false
    /// When the time of whoever has to act next is over.
    private(set) var deadline: NIODeadline

    init(_ limits: ConnectionLimits, at now: NIODeadline) {
        self.limits = limits
        deadline = now + limits.firstByte
    }

    /// Whether parts of requests are still taken.
    var isListening: Bool { !isOver && due == nil }

    /// How many requests have no complete answer.
    private var owed: Int { requests - answers }

    // MARK: - The client

    /// Bytes came that are no whole head.
    mutating func bytes(at now: NIODeadline) {
        guard isListening, !isReading, !hasBytes else { return }
        hasBytes = true
        if owed == 0 { deadline = now + limits.headers }
    }

    mutating func head(at now: NIODeadline) {
        guard isListening else { return }
        requests += 1
        isReading = true
        hasBytes = false
        deadline = now + limits.body
    }

    mutating func end(at now: NIODeadline) {
        guard isListening else { return }
        isReading = false
        wait(from: now)
    }

    /// What came is refused.
    mutating func fault(_ refusal: Refusal, at now: NIODeadline) -> Action {
        guard isListening else { return .nothing }
        let own = isReading ? 1 : 0
        // Answers keep the order of requests.
        if owed > own {
            due = refusal
            deadline = now + limits.answer
            return .nothing
        }
        return conclude(refusal, at: now)
    }

    // MARK: - The server

    /// A part of an answer is written, which is not its end.
    mutating func answerPart(at now: NIODeadline) {
        guard !isOver else { return }
        hasBegun = true
        if !isReading { deadline = now + limits.answer }
    }

    mutating func answerEnd(at now: NIODeadline) -> Action {
        guard !isOver else { return .nothing }
        answers = min(answers + 1, requests)
        hasBegun = false
        if let due, owed <= (isReading ? 1 : 0) { return conclude(due, at: now) }
        if due == nil { wait(from: now) }
        return .nothing
    }

    // MARK: - Time

    /// Nothing has happened until `now`.
    mutating func silence(until now: NIODeadline) -> Action {
        guard deadline <= now else { return .nothing }
        // A refusal that nobody reads, or an answer of ours that does not come.
        if isOver || due != nil || (owed > 0 && !isReading) { return close() }
        guard isReading || hasBytes else { return close() }
        return fault(.timedOut, at: now)
    }

    private mutating func wait(from now: NIODeadline) {
        if isReading { return }
        let time = owed > 0 ? limits.answer : hasBytes ? limits.headers : limits.idle
        deadline = now + time
    }

    /// Says `refusal`, unless the request that it is about was answered or is being answered.
    private mutating func conclude(_ refusal: Refusal, at now: NIODeadline) -> Action {
        if isReading, owed == 0 || hasBegun { return close() }
        isOver = true
        deadline = now + limits.write
        return .refuse(refusal)
    }

    private mutating func close() -> Action {
        isOver = true
        return .close
    }
}
