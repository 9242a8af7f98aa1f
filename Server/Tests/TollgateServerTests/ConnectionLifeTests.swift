import NIOCore
import Testing

@testable import TollgateServer

/// H6: what a client sends, what the server answers and silence, in all orders, without a socket.
@Suite("The life of a connection")
struct ConnectionLifeTests {
    private enum Step: CaseIterable {
        case bytes, head, end, fault, answerPart, answerEnd, silence
    }

    /// What a reader of the exchange knows.
    private struct Model {
        var life = ConnectionLife(ConnectionLimits(), at: .uptimeNanoseconds(0))
        var now = NIODeadline.uptimeNanoseconds(0)
        var requests = 0
        var answers = 0
        var isReading = false
        var hasBegun = false
        var hasFault = false
        var steps: [Step] = []

        /// Whether an HTTP client and our server can take this step now.
        func allows(_ step: Step) -> Bool {
            guard !life.isOver else { return false }
            switch step {
            case .bytes: return !hasFault
            case .head: return !isReading && !hasFault
            case .end: return isReading && !hasFault
            case .fault: return !hasFault
            case .answerPart, .answerEnd: return answers < requests
            case .silence: return true
            }
        }

        mutating func take(_ step: Step) -> ConnectionLife.Action {
            steps.append(step)
            now = now + .seconds(step == .silence ? 3600 : 1)
            switch step {
            case .bytes: life.bytes(at: now)
            case .head:
                requests += 1
                isReading = true
                life.head(at: now)
            case .end:
                isReading = false
                life.end(at: now)
            case .fault:
                hasFault = true
                return life.fault(.malformedRequest, at: now)
            case .answerPart:
                hasBegun = true
                life.answerPart(at: now)
            case .answerEnd:
                answers += 1
                hasBegun = false
                return life.answerEnd(at: now)
            case .silence:
                let action = life.silence(until: now)
                // The client's time for a request is over, once earlier ones are answered.
                if action == .nothing { hasFault = true }
                return action
            }
            return .nothing
        }
    }

    /// Every sequence of at most `depth` steps.
    private static func walk(
        _ model: Model,
        _ depth: Int,
        _ check: (Model, ConnectionLife.Action) -> Void
    ) {
        guard depth > 0 else { return }
        for step in Step.allCases where model.allows(step) {
            var next = model
            let action = next.take(step)
            check(next, action)
            walk(next, depth - 1, check)
        }
    }

    @Test("H6: whatever came before, a connection ends once its client falls silent")
    func nothingLivesForEver() {
        let longest = TimeAmount.minutes(10)
        var count = 0
        var failures: [[Step]] = []
        Self.walk(Model(), 7) { model, _ in
            count += 1
            var life = model.life
            var now = model.now
            if life.deadline > now + longest { failures.append(model.steps) }
            // At most: the request is too slow, our answer to an earlier one is, nobody reads.
            var actions: [ConnectionLife.Action] = []
            for _ in 0..<3 where actions.last != .close {
                now = now + longest
                actions.append(life.silence(until: now))
            }
            if actions.last != .close { failures.append(model.steps) }
        }
        #expect(count > 5_000)
        #expect(failures.isEmpty, "\(failures.prefix(3))")
    }

    @Test("H6: nobody is sent away before the time is over")
    func patience() {
        var failures: [[Step]] = []
        Self.walk(Model(), 6) { model, _ in
            guard !model.life.isOver else { return }
            var life = model.life
            if life.silence(until: life.deadline - .nanoseconds(1)) != .nothing {
                failures.append(model.steps)
            }
        }
        #expect(failures.isEmpty, "\(failures.prefix(3))")
    }

    @Test("A refusal comes after the answers to earlier requests, and never beside another answer")
    func order() {
        var failures: [[Step]] = []
        Self.walk(Model(), 7) { model, action in
            guard case .refuse = action else { return }
            let earlier = model.requests - (model.isReading ? 1 : 0)
            if model.answers != earlier || model.hasBegun { failures.append(model.steps) }
        }
        #expect(failures.isEmpty, "\(failures.prefix(3))")
    }

    @Test("Whoever sent whole requests is waited for as long as an answer may take")
    func slowAnswers() {
        let limits = ConnectionLimits()
        Self.walk(Model(), 6) { model, _ in
            guard model.requests > model.answers, !model.isReading, !model.hasFault,
                !model.life.isOver
            else { return }
            #expect(model.life.deadline >= model.now + limits.answer - .seconds(6))
        }
    }

    @Test("The times are those of the limits")
    func times() {
        let start = NIODeadline.uptimeNanoseconds(0)
        let limits = ConnectionLimits()
        var life = ConnectionLife(limits, at: start)
        #expect(life.deadline == start + limits.firstByte)
        life.bytes(at: start)
        #expect(life.deadline == start + limits.headers)
        life.head(at: start)
        #expect(life.deadline == start + limits.body)
        // The answer does not wait for the end of the request, which comes later.
        #expect(life.answerEnd(at: start) == .nothing)
        #expect(life.deadline == start + limits.body)
        life.end(at: start)
        #expect(life.deadline == start + limits.idle)
        #expect(life.silence(until: start + limits.idle) == .close)
    }
}
