import HTTPTypes
import NIOCore
import NIOHTTPTypes
import Testing

@testable import TollgateServer

/// Messages of stores and other requests over one connection, in all orders, without a socket.
@Suite("The turns of messages on a connection")
struct MessageTurnsTests {
    private static func head(_ path: String) -> HTTPRequestPart {
        .head(HTTPRequest(method: .post, scheme: "http", authority: "x", path: path))
    }

    private static func body(_ text: String) -> HTTPRequestPart {
        .body(ByteBuffer(string: text))
    }

    /// What is done with the requests of a client that does not wait for answers.
    private struct Exchange {
        var turns = MessageTurns<String>()
        /// The parts that have not come yet, each with the number of its request.
        var coming: [(request: Int, part: HTTPRequestPart)] = []
        var held: [Int] = []
        var takenIn: (request: Int, body: String)?
        var passedOn: [Int] = []
        var answered: [Int] = []
        var bodies: [String] = []
        var isSound = true

        /// - Parameter paths: a message's begins with `m`.
        init(_ paths: [String]) {
            for (number, path) in paths.enumerated() {
                let texts = ["a", "\(number)"].map(MessageTurnsTests.body)
                let parts = [MessageTurnsTests.head(path)] + texts + [.end(nil)]
                coming += parts.map { (number, $0) }
            }
        }

        mutating func send() {
            let (request, part) = coming.removeFirst()
            if turns.holds(.part(part)) {
                held.append(request)
            } else {
                read(part, of: request)
            }
        }

        mutating func read(_ part: HTTPRequestPart, of request: Int) {
            isSound = isSound && takenIn == nil
            switch turns.read(part, { $0.path?.first == "m" ? $0.path : nil }) {
            case .keep: break
            case .passOn: if case .head = part { passedOn.append(request) }
            case .takeIn(_, let body, _):
                isSound = isSound && passedOn.isEmpty
                takenIn = (request, String(decoding: body, as: UTF8.self))
            }
        }

        mutating func answerMessage() {
            guard let (request, body) = takenIn else { return }
            takenIn = nil
            answered.append(request)
            bodies.append(body)
            let isWanted = turns.messageIsAnswered()
            isSound = isSound && isWanted
            while case .part(let part)? = turns.next() { read(part, of: held.removeFirst()) }
        }

        mutating func answerPassedOn() {
            answered.append(passedOn.removeFirst())
            turns.passedOnIsAnswered()
        }

        /// Every way in which it may go on, to its end.
        func outcomes() -> [Exchange] {
            var next: [Exchange] = []
            func add(_ step: (inout Exchange) -> Void) {
                var exchange = self
                step(&exchange)
                next += exchange.outcomes()
            }
            if !coming.isEmpty { add { $0.send() } }
            if takenIn != nil { add { $0.answerMessage() } }
            if !passedOn.isEmpty { add { $0.answerPassedOn() } }
            return next.isEmpty ? [self] : next
        }
    }

    @Test(
        "Answers keep the order of requests, and each body is its message's",
        arguments: [
            ["m", "m"], ["m", "r"], ["r", "m"], ["r", "r"], ["m", "r", "m"], ["r", "m", "m"],
        ]
    )
    func order(_ paths: [String]) {
        let outcomes = Exchange(paths).outcomes()
        #expect(outcomes.count > 1)
        #expect(outcomes.allSatisfy { $0.isSound && $0.answered == Array(paths.indices) })
        // A message behind a request without an answer is passed on, so there are fewer of them.
        #expect(
            outcomes.allSatisfy { outcome in
                outcome.bodies.allSatisfy { ["a0", "a1", "a2"].contains($0) }
            }
        )
        let whole = outcomes.map(\.bodies.count).max()
        #expect(whole == paths.count { $0 == "m" })
    }

    /// A message that has come and is not answered yet, and `count` parts behind it.
    private static func waiting(_ count: Int) -> (turns: MessageTurns<String>, held: Int) {
        var turns = MessageTurns<String>()
        for part in [head("m"), .end(nil)] { _ = turns.read(part) { $0.path } }
        var held = 0
        for _ in 0..<count where turns.holds(.part(body("a"))) { held += 1 }
        return (turns, held)
    }

    @Test(
        "Of a client that goes on before its answer hardly more is read; then it is read on, once"
    )
    func reading() {
        let most = MessageTurns<String>.mostHeld
        for count in [0, 1, most - 1, most, most + 3] {
            var (turns, held) = Self.waiting(count)
            #expect(held == count)
            let mayRead = turns.mayRead()
            #expect(mayRead == (count < most))
            // Nothing has its turn before the answer.
            if turns.next() != nil { Issue.record("it overtook the answer") }
            let isWanted = turns.messageIsAnswered()
            while turns.next() != nil { held -= 1 }
            let (reads, again) = (turns.readsOn(), turns.readsOn())
            #expect(isWanted && held == 0 && reads == !mayRead && !again)
        }
    }

    @Test("Nobody waits for an answer on a closed connection")
    func closed() {
        var (turns, _) = Self.waiting(2)
        #expect(!turns.isClosed)
        turns.close()
        let isWanted = turns.messageIsAnswered()
        let next = turns.next()
        #expect(turns.isClosed && !isWanted && next == nil)
    }
}
