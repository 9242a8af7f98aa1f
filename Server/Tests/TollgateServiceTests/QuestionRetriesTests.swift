import Storage
import Testing
import TollgateCore

@testable import Stores

@Suite("When a question is asked again whose answer could not be read")
struct QuestionRetriesTests {
    private static let start = Instant(milliseconds: 1_767_225_600_000)

    @Test("after 10 s, then twice as long each time, and ten minutes at most")
    func waits() {
        let retries = QuestionRetries()
        let (one, other) = (RowKey("one"), RowKey("other"))
        var wall = Self.start
        for seconds: Int64 in [10, 20, 40, 80, 160, 320, 600, 600, 600] {
            #expect(retries.isDue(one, raised: Self.start, at: wall))
            retries.failed(one, .checkoutLines, raised: Self.start, at: wall)
            wall = wall.advanced(by: seconds * 1000)
            #expect(!retries.isDue(one, raised: Self.start, at: wall.advanced(by: -1)))
            #expect(
                retries.isDue(other, raised: Self.start, at: wall.advanced(by: -1)),
                "each waits for itself"
            )
        }
        retries.forget(one)
        retries.failed(one, .checkoutLines, raised: Self.start, at: wall)
        #expect(
            retries.isDue(one, raised: Self.start, at: wall.advanced(by: 10_000)),
            "an answer begins it anew"
        )
    }

    @Test("one that was raised anew since is asked at once")
    func raisedAnew() {
        let retries = QuestionRetries()
        let (one, later) = (RowKey("one"), Self.start.advanced(by: 1))
        retries.failed(one, .checkoutLines, raised: Self.start, at: Self.start)
        #expect(!retries.isDue(one, raised: Self.start, at: Self.start))
        #expect(retries.turn(of: one, raised: Self.start) == Self.start.advanced(by: 10_000))
        #expect(retries.isDue(one, raised: later, at: Self.start))
        #expect(retries.turn(of: one, raised: later) < Self.start)
        retries.failed(one, .checkoutLines, raised: later, at: Self.start)
        #expect(!retries.isDue(one, raised: later, at: Self.start.advanced(by: 19_999)))
        #expect(retries.isDue(one, raised: later, at: Self.start.advanced(by: 20_000)))
    }

    @Test("one that is gone is forgotten, and none of another kind")
    func gone() {
        let retries = QuestionRetries()
        let due = Self.start.advanced(by: 10_000)
        for (name, kind) in [
            ("one", Wanted.Kind.checkoutLines), ("gone", .checkoutLines), ("other", .payment),
        ] {
            retries.failed(RowKey(name), kind, raised: Self.start, at: Self.start)
        }
        #expect(!retries.hasDue(.checkoutLines, at: due.advanced(by: -1)))
        #expect(retries.hasDue(.checkoutLines, at: due))
        retries.keepOnly([RowKey("one")], of: .checkoutLines)
        #expect(retries.count == 2)
        retries.keepOnly([], of: .checkoutLines)
        #expect(!retries.hasDue(.checkoutLines, at: due))
        #expect(retries.hasDue(.payment, at: due))
    }

    @Test("a flood of them is forgotten, not kept")
    func flood() {
        let retries = QuestionRetries(capacity: 100)
        for number in 0..<1000 {
            retries.failed(
                RowKey("\(number)"),
                .checkoutLines,
                raised: Self.start,
                at: Self.start.advanced(by: Int64(number))
            )
        }
        #expect(retries.count == 100)
        let end = Self.start.advanced(by: 1000)
        #expect(retries.isDue(RowKey("899"), raised: Self.start, at: end))
        #expect(!retries.isDue(RowKey("900"), raised: Self.start, at: end))
    }
}
