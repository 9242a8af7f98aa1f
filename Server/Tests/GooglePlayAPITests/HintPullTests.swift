import GooglePlayAPI
import Testing

@Suite("Pulling hints")
struct HintPullTests {
    @Test("Durable messages are acknowledged before the next pull, at once after a full one")
    func order() {
        var pull = GooglePlay.HintPull()
        #expect(pull.step(now: 0) == .pull(maximum: 100))
        pull.pulled(2, now: 0)
        pull.kept("a1", now: 1)
        pull.kept("a2", now: 2)
        #expect(pull.step(now: 3) == .acknowledge(["a1", "a2"]))
        pull.acknowledged(["a1", "a2"], now: 4)
        #expect(pull.step(now: 4) == .pull(maximum: 100))
        pull.pulled(0, now: 5)
        #expect(pull.step(now: 6) == .rest(until: 1005))
        #expect(pull.step(now: 1005) == .pull(maximum: 100))
    }

    @Test("What is not durable is never acknowledged")
    func storageFails() {
        var pull = GooglePlay.HintPull()
        pull.pulled(2, now: 0)
        pull.kept("a1", now: 1)
        pull.couldNotKeep(now: 1)
        #expect(pull.step(now: 2) == .rest(until: 1001))
        #expect(pull.step(now: 1001) == .acknowledge(["a1"]))
    }

    @Test("Faults are waited out for ever longer, and as long as Google asks for")
    func ladder() {
        var pull = GooglePlay.HintPull()
        var now: Int64 = 0
        for pause in [1, 2, 4, 8, 16, 32, 60, 60] as [Int64] {
            pull.failed(retryAfter: nil, now: now)
            #expect(pull.step(now: now) == .rest(until: now + pause * 1000))
            now += pause * 1000
            #expect(pull.step(now: now) == .pull(maximum: 100))
        }
        pull.failed(retryAfter: 300, now: now)
        #expect(pull.step(now: now) == .rest(until: now + 300_000))
        // A clock that goes back by years does not freeze it.
        #expect(pull.step(now: now - 1_000_000_000) == .pull(maximum: 100))
        pull.pulled(1, now: now)
        pull.failed(retryAfter: nil, now: now)
        #expect(pull.step(now: now) == .rest(until: now + 1000))
    }

    @Test("Acknowledgements that keep failing do not keep hints away: they are delivered again")
    func badAcknowledgement() {
        var pull = GooglePlay.HintPull()
        pull.pulled(1, now: 0)
        pull.kept("a1", now: 0)
        var now: Int64 = 0
        for _ in 0..<4 {
            #expect(pull.step(now: now) == .acknowledge(["a1"]))
            pull.failed(retryAfter: nil, now: now)
            now += 60_000
        }
        #expect(pull.step(now: now) == .pull(maximum: 100))
        // An id is of no use after the longest deadline that Pub/Sub knows.
        pull.kept("a2", now: now)
        #expect(pull.step(now: now + 600_001) == .pull(maximum: 100))
    }
}
