import Stores
import Testing
import TollgateAPI
import TollgateCore
import TollgateService

@Suite("How often Stripe is asked for a caller")
struct CallLimitTests {
    static func instant(_ seconds: Double) -> Instant {
        Instant(milliseconds: 1_767_225_600_000 + Int64(seconds * 1000))
    }

    private func isAdmitted(_ limit: CallLimit, _ caller: String, _ seconds: Double) -> Bool {
        (try? limit.admit(caller, at: Self.instant(seconds))) != nil
    }

    @Test("so many calls at once, then one each time that a call has come back")
    func bucket() throws {
        let limit = CallLimit(calls: 5, seconds: 10)
        for _ in 0..<5 { #expect(isAdmitted(limit, "a", 0)) }
        #expect(!isAdmitted(limit, "a", 0))
        #expect(isAdmitted(limit, "b", 0))
        #expect(!isAdmitted(limit, "a", 1.9))
        #expect(isAdmitted(limit, "a", 2))
        #expect(!isAdmitted(limit, "a", 2))
        // What was refused was not counted.
        #expect(isAdmitted(limit, "a", 4))
        for _ in 0..<5 { #expect(isAdmitted(limit, "a", 60)) }
        #expect(!isAdmitted(limit, "a", 60))
    }

    @Test("a refusal says when to come back")
    func refusal() throws {
        let limit = CallLimit(calls: 1, seconds: 60)
        try limit.admit("a", at: Self.instant(0))
        let refusal = #expect(throws: Refusal.self) { try limit.admit("a", at: Self.instant(15.5)) }
        #expect(refusal?.status == 429)
        #expect(refusal?.error.code == .rateLimited)
        #expect(refusal?.retryAfter == 45)
    }

    @Test("a clock that is set back locks nobody out for long")
    func clockSetBack() {
        let limit = CallLimit(calls: 2, seconds: 10)
        for _ in 0..<2 { #expect(isAdmitted(limit, "a", 100_000)) }
        #expect(!isAdmitted(limit, "a", 0))
        #expect(isAdmitted(limit, "a", 5))
    }

    @Test("a flood of addresses is forgotten, not kept")
    func flood() {
        let limit = CallLimit(calls: 1, seconds: 60, capacity: 100)
        for number in 0..<1000 { #expect(isAdmitted(limit, "\(number)", 0)) }
        #expect(!isAdmitted(limit, "999", 0))
    }
}
