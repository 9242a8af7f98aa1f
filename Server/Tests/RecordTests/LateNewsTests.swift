import Storage
import Testing
import TollgateCore
import TollgateSimulation

/// Words of the stores that come late, and what customers have been told since.
@Suite("News of the past")
struct LateNewsTests {
    /// One thing that happens.
    enum Act: Sendable {
        /// A store's word reaches us; by its own clock it may be old.
        case heard(JournalItem)
        /// The server announces, on this day, what lapsed, and tells what waits.
        case told(Double)
    }

    struct Story: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var acts: [Act]
        /// What each message says of Ann's access.
        var expected: [String]
    }

    private static let month = JournalItem.message("month", .month(0, of: "1", token: "a"))

    /// That she ended the renewal: nothing follows from it for her access.
    private static func renewalEnded(on day: Double) -> JournalItem {
        .message(
            "renewal",
            .said(.renewal(RenewalTerms(willRenew: false)), on: day, about: .appStore("1"))
        )
    }

    private static func coins(_ id: String, on day: Double) -> JournalItem {
        .message(id, .bought("coins", .consumable, id, on: day, token: "a"))
    }

    static let stories: [Story] = [
        Story(
            testDescription: "a notice from before the lapse, read after it was announced",
            acts: [
                .heard(month), .told(1), .told(31), .heard(renewalEnded(on: 29.9)), .told(32),
                .told(60),
            ],
            expected: ["granted", "revoked", "as before"]
        ),
        Story(
            testDescription: "another one after that, and a third",
            acts: [
                .heard(month), .told(1), .told(31), .heard(renewalEnded(on: 29.9)), .told(32),
                .heard(coins("c1", on: 29.8)), .heard(coins("c2", on: 29.95)), .told(33),
            ],
            expected: ["granted", "revoked", "as before", "as before", "as before"]
        ),
        Story(
            testDescription: "one that was read after a newer one, before the lapse was announced",
            acts: [
                .heard(month), .told(1), .heard(coins("c1", on: 31)),
                .heard(coins("c2", on: 29.9)), .told(31.5),
            ],
            expected: ["granted", "revoked", "as before", "as before"]
        ),
        Story(
            testDescription: "one about a month that came and went while nobody looked",
            acts: [
                .heard(.message("month", .month(10, of: "1", token: "a", said: 9))), .told(9.5),
                .told(41), .heard(renewalEnded(on: 20)), .told(42), .told(43),
            ],
            expected: ["as before", "as before"]
        ),
        Story(
            testDescription: "a renewal that was lost is access, until it ends",
            acts: [
                .heard(month), .told(1), .told(31),
                .heard(.message("again", .month(30, of: "1", token: "a", said: 29.99))), .told(32),
                .told(59), .told(61),
            ],
            expected: ["granted", "revoked", "granted", "revoked"]
        ),
        Story(
            testDescription: "a renewal that was lost, and is over when it is found",
            acts: [
                .heard(month), .told(1), .told(31), .told(70),
                .heard(.message("again", .month(30, of: "1", token: "a", said: 29.99))), .told(71),
                .told(72),
            ],
            expected: ["granted", "revoked", "as before"]
        ),
        Story(
            testDescription: "what only waited for its place is told as it was",
            acts: [.heard(month), .told(1), .heard(coins("c1", on: 5)), .told(31), .told(32)],
            expected: ["granted", "as before", "revoked"]
        ),
        Story(
            testDescription: "the first that is ever told, with what came of it since",
            acts: [.told(40), .heard(month), .told(41), .told(42), .told(43)],
            expected: ["granted", "revoked"]
        ),
    ]

    @Test(
        "Nobody is told again what they were told is over",
        arguments: stories,
        Backend.allCases
    )
    func told(_ story: Story, _ backend: Backend) async throws {
        let store = try await RecordStore.open(backend)
        _ = try await store.feed.sweep(until: .day(-1))
        _ = try await store.submit(.register("ann", .token("a")))
        for act in story.acts {
            switch act {
            case .heard(let item): _ = try await store.submit(item)
            case .told(let day):
                while try await !store.feed.sweep(until: .day(day)).isDone {}
                while try await store.feed.publish(at: .day(day), limit: 500) == 500 {}
            }
        }
        let feed = try await store.feed.messages(after: 0, limit: 100)
        #expect(feed.map(Self.word) == story.expected)
        #expect(feed.map(\.number) == feed.indices.map { Int64($0 + 1) })
        // What comes later is neither of an older answer nor of an earlier time.
        let order = zip(feed, feed.dropFirst())
        #expect(order.allSatisfy { $0.sequence <= $1.sequence && $0.created <= $1.created })
        let report = try await store.rebuilt()
        #expect(report.isIdentical, "\(report.differences)")
        await store.driver.close()
    }

    @Test("Of an erased customer nothing is left to look at", arguments: Backend.allCases)
    func erased(_ backend: Backend) async throws {
        let store = try await RecordStore.open(backend)
        func tell(_ day: Double) async throws {
            while try await !store.feed.sweep(until: .day(day)).isDone {}
            while try await store.feed.publish(at: .day(day), limit: 500) == 500 {}
        }
        _ = try await store.feed.sweep(until: .day(-1))
        _ = try await store.submit(.register("ann", .token("a")))
        _ = try await store.submit(Self.month)
        try await tell(31)
        // Known to end on day 60, which the sweep is to look at.
        _ = try await store.submit(.message("again", .month(30, of: "1", token: "a", said: 29.99)))
        try await tell(32)
        _ = try await store.submit(
            JournalItem(
                dedupeKey: RowKey("erase", "ann"),
                subject: RowKey("erase", "ann"),
                kind: .command,
                stated: .day(33),
                content: .erase(Customer.ID("ann"))
            )
        )
        try await tell(34)
        #expect(try await !store.feed.hasNews(at: .day(59)))
        try await tell(61)
        #expect(try await !store.feed.hasNews(at: .day(62)))
        await store.driver.close()
    }

    @Test("The next news is what waits, else the next lapse", arguments: Backend.allCases)
    func next(_ backend: Backend) async throws {
        let store = try await RecordStore.open(backend)
        #expect(try await store.feed.nextNews(at: .day(0)) == .day(0), "the first sweep")
        _ = try await store.feed.sweep(until: .day(0))
        #expect(try await store.feed.nextNews(at: .day(0)) == nil)
        _ = try await store.submit(.register("ann", .token("a")))
        _ = try await store.submit(Self.month)
        #expect(try await store.feed.nextNews(at: .day(1)) == .day(1), "a message waits")
        _ = try await store.feed.publish(at: .day(1), limit: 500)
        let lapse = try #require(try await store.feed.nextNews(at: .day(1)))
        #expect(lapse == .day(30))
        #expect(try await !store.feed.hasNews(at: lapse.advanced(by: -1)))
        #expect(try await store.feed.hasNews(at: lapse))
        _ = try await store.feed.sweep(until: lapse)
        _ = try await store.feed.publish(at: lapse, limit: 500)
        #expect(try await store.feed.nextNews(at: lapse) == nil)
        await store.driver.close()
    }

    private static func word(_ message: FeedMessage) -> String {
        for change in message.changes {
            switch change {
            case .granted: return "granted"
            case .changed: return "changed"
            case .revoked: return "revoked"
            case .coinsCredited, .coinsDebited: continue
            }
        }
        return "as before"
    }
}
