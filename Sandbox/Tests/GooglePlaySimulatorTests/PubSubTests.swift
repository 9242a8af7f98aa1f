import Foundation
import Testing

@testable import GooglePlaySimulator

/// The topic's subscription as a value: retries, dead letters, retention, pulling.
struct PubSubTests {
    private static func topic(_ settings: PubSubQueue.Settings) -> PubSub {
        var pubSub = PubSub(project: "p", topic: "t")
        pubSub.subscribe("s", settings, at: 0)
        pubSub.publish("one", at: 0, availableAt: 0)
        return pubSub
    }

    @Test
    func aPushThatFailsWaitsLongerEachTime() throws {
        var queue = try #require(Self.topic(.init(pushEndpoint: "http://e")).queues["s"])
        var waits: [Int64] = []
        var now: Int64 = 0
        for _ in 0..<8 {
            let entry = queue.nextToPush(at: now)
            queue.pushed(try #require(entry).message.id, .failed("503"), at: now)
            let next = try #require(queue.nextPush)
            waits.append((next - now) / 1000)
            now = next
        }
        #expect(waits == [10, 20, 40, 80, 160, 320, 600, 600])
        #expect(queue.entries.map(\.lastError) == ["503"])
        let entry = queue.nextToPush(at: now)
        queue.pushed(try #require(entry).message.id, .accepted, at: now)
        #expect(queue.entries.isEmpty)
    }

    @Test
    func afterItsAttemptsAMessageIsADeadLetter() throws {
        var queue = try #require(
            Self.topic(.init(pushEndpoint: "http://e", maxDeliveryAttempts: 5)).queues["s"]
        )
        var now: Int64 = 0
        for _ in 0..<5 {
            now = queue.nextPush ?? now
            let entry = queue.nextToPush(at: now)
            queue.pushed(try #require(entry).message.id, .failed("503"), at: now)
        }
        #expect(queue.entries.isEmpty && queue.deadLetters.count == 1)
    }

    @Test
    func aMessageThatNobodyAcknowledgesIsLostAfterAWeek() throws {
        var queue = try #require(Self.topic(.init()).queues["s"])
        let early = queue.pull(10, at: 6 * Timestamp.day)
        #expect(early.count == 1)
        let late = queue.pull(10, at: 8 * Timestamp.day)
        #expect(late.isEmpty)
    }

    @Test
    func whatIsPulledComesBackUnlessItIsAcknowledged() throws {
        var queue = try #require(Self.topic(.init()).queues["s"])
        var pulls: [[PubSubQueue.Entry]] = []
        for instant in [0, 5000, 10_000] as [Int64] {
            pulls.append(queue.pull(10, at: instant))
        }
        #expect(pulls.map(\.count) == [1, 0, 1])
        let second = try #require(pulls[2].first?.ackID)
        #expect(second != pulls[0].first?.ackID)
        queue.modify(second, deadline: 0, at: 10_000)
        let third = queue.pull(10, at: 10_000).first?.ackID
        queue.acknowledge(try #require(third), at: 10_000)
        let last = queue.pull(10, at: Timestamp.day)
        #expect(last.isEmpty)
    }

    @Test
    func anUnusedSubscriptionIsDeletedIfItIsSoSetUp() {
        var pubSub = Self.topic(.init(expiresAfterDays: 31))
        pubSub.deleteExpired(at: 31 * Timestamp.day)
        #expect(pubSub.queues.count == 1)
        pubSub.deleteExpired(at: 32 * Timestamp.day)
        #expect(pubSub.queues.isEmpty)
    }

    @Test(arguments: [
        (Instance.day, "2026-04-22T18:39:58.270Z"), (0, "1970-01-01T00:00:00.000Z"),
        (1_709_210_096_789, "2024-02-29T12:34:56.789Z"),
    ])
    func instantsAreWrittenAndReadAsGoogleDoes(_ instant: Int64, _ text: String) {
        #expect(Timestamp.text(instant) == text)
        #expect(Timestamp.parse(text) == instant)
    }

    enum Instance {
        static let day: Int64 = 1_776_883_198_270
    }

    @Test
    func reportsLiveInPacificTime() throws {
        let summer = try #require(Timestamp.parse("2026-07-01T06:30:00Z"))
        #expect(PacificTime(summer).words == "Jun 30, 2026")
        #expect(PacificTime(summer).clockWords == "11:30:00 PM PDT")
        let winter = try #require(Timestamp.parse("2026-12-01T08:00:00Z"))
        #expect(PacificTime(winter).dashed == "2026-12-01")
        #expect(PacificTime(winter).clockWords == "12:00:00 AM PST")
    }

    /// Clocks change on 8 March and 1 November 2026, at two o'clock.
    @Test(arguments: ["2026-03-07", "2026-10-31"])
    func everyDayOfAChangeOfClocksIsThereOnce(_ first: String) throws {
        var day = PacificTime.dayStart(try #require(Timestamp.parse(first + "T20:00:00Z")))
        var days: [String] = []
        for _ in 0..<3 {
            #expect(PacificTime(day).clockWords.hasPrefix("12:00:00 AM"))
            days.append(PacificTime(day).dashed)
            day = PacificTime.dayStart(day + 26 * Timestamp.hour)
        }
        let expected =
            first == "2026-03-07"
            ? ["2026-03-07", "2026-03-08", "2026-03-09"]
            : ["2026-10-31", "2026-11-01", "2026-11-02"]
        #expect(days == expected)
    }

    @Test
    func anArchiveOfTheTwentySecondCenturyHasTheLastYearOfItsFormat() throws {
        let instant = try #require(Timestamp.parse("2140-05-06T00:00:00Z"))
        let archive = ZipFile.containing(Data("a".utf8), named: "a.csv", at: instant)
        // Bytes 12 and 13: years from 1980 in seven bits, the month in four, the day in five.
        let date = UInt16(archive[12]) | UInt16(archive[13]) << 8
        #expect(date == 127 << 9 | 5 << 5 | 6)
    }
}
