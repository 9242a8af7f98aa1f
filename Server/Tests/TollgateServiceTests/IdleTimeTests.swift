import Stores
import Testing
import TollgateCore

@Suite("How long background work sleeps that has nothing to do")
struct IdleTimeTests {
    private static let now = Instant(milliseconds: 1_767_225_600_000)

    @Test(
        "until the instant at which it is due, and for five seconds at most",
        arguments: [
            (nil, 5_000), (0, 0), (-1, 0), (1, 1), (4_999, 4_999), (5_001, 5_000),
        ] as [(Int64?, Int64)]
    )
    func idleTime(due: Int64?, expected: Int64) {
        let time = Clocks.idleTime(until: due.map { Self.now.advanced(by: $0) }, at: Self.now)
        #expect(time == .milliseconds(expected))
    }

    @Test("What is due since ever, or never, overflows nothing")
    func extremes() {
        #expect(Clocks.idleTime(until: Instant(milliseconds: .min), at: Self.now) == .zero)
        let never = Clocks.idleTime(until: Instant(milliseconds: .max), at: Self.now)
        #expect(never == Clocks.longestIdleTime)
    }
}
