import Storage
import Testing
import TollgateCore

@testable import GooglePlayConnector

/// When a purchase is read again though nothing was said.
@Suite("What is awaited of Google Play")
struct PlayOverdueTests {
    private static let minute: Int64 = 60_000
    private static let aDay: Int64 = 86_400_000

    private static func day(_ day: Double) -> Instant {
        Instant(milliseconds: 1_767_225_600_000 + Int64(day * 86_400_000))
    }

    private static func purchase(_ statement: Statement, readOn day: Double) -> Purchase {
        let key = Purchase.Key(
            store: .googlePlay,
            environment: .production,
            application: "com.example.app",
            id: "token"
        )
        let fact = Fact(
            purchase: key,
            source: "read:token",
            stated: Stated(Self.day(day), isRead: true),
            statement: statement
        )
        return Purchase(key: key, joining: [fact])
    }

    /// A plan with an add-on, and which of their ends is awaited.
    struct Story: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var state = "ACTIVE"
        var read: Double
        var ends: (plan: Double, addOn: Double)
        var addOnRenews = true
        var isAddOnRemoved = false
        var expected: Double

        var purchase: Purchase {
            PlayOverdueTests.purchase(
                .googlePlaySubscription(
                    GooglePlaySubscription(
                        state: state,
                        start: PlayOverdueTests.day(0),
                        items: [
                            .init(
                                product: "silver",
                                expiry: PlayOverdueTests.day(ends.plan),
                                order: "GPA.1",
                                renews: state != "CANCELED"
                            ),
                            .init(
                                product: "sports",
                                expiry: PlayOverdueTests.day(ends.addOn),
                                order: "GPA.1",
                                renews: addOnRenews && state != "CANCELED",
                                isRemoved: isAddOnRemoved
                            ),
                        ]
                    )
                ),
                readOn: read
            )
        }
    }

    // https://developer.android.com/google/play/billing/subscription-with-addons
    static let stories = [
        Story(
            testDescription: "the add-on falls due first",
            read: 1,
            ends: (31, 7),
            expected: 7
        ),
        Story(
            testDescription: "the add-on is in grace, and Google moves its end on day by day",
            state: "IN_GRACE_PERIOD",
            read: 7,
            ends: (31, 8),
            expected: 8
        ),
        Story(
            testDescription: "the add-on's renewal is declined, which is silent for a day",
            read: 7.5,
            ends: (31, 7),
            expected: 7
        ),
        Story(
            testDescription: "a read three days later still states the add-on's end: it is over",
            read: 10,
            ends: (31, 7),
            expected: 31
        ),
        Story(
            testDescription: "the add-on is removed, and runs out",
            read: 1,
            ends: (31, 7),
            isAddOnRemoved: true,
            expected: 31
        ),
        Story(
            testDescription: "the add-on does not renew",
            read: 1,
            ends: (31, 7),
            addOnRenews: false,
            expected: 31
        ),
        Story(
            testDescription: "nothing renews any more: the last end is awaited",
            state: "CANCELED",
            read: 1,
            ends: (31, 7),
            expected: 31
        ),
        Story(
            testDescription: "all items are on hold",
            state: "ON_HOLD",
            read: 15,
            ends: (15, 7),
            expected: 15
        ),
    ]

    @Test(
        "Of several items the one that falls due first is awaited, if it may be renewed",
        arguments: stories
    )
    func items(_ story: Story) throws {
        let awaited = try #require(story.purchase.awaited)
        #expect(awaited.since == Self.day(story.expected).advanced(by: 5 * Self.minute))
        let latest = max(story.ends.plan, story.ends.addOn)
        #expect(awaited.until == Self.day(latest + 60))
    }

    @Test("A device that shows a plan is not answered from the record once one item has fallen due")
    func shown() {
        let story = Self.stories[0]
        let history = CatalogHistory()
        #expect(story.purchase.isAnswer(at: Self.day(6), in: history))
        #expect(!story.purchase.isAnswer(at: Self.day(8), in: history))
        // What nobody renews needs no read.
        let removed = Self.stories[4]
        #expect(removed.purchase.isAnswer(at: Self.day(8), in: history))
    }

    private static func pending(release: Double?) -> Purchase {
        purchase(
            .googlePlayPurchase(
                GooglePlayPurchase(
                    state: "PENDING",
                    completed: nil,
                    lines: [.init(product: "game", release: release.map(day))]
                )
            ),
            readOn: 0
        )
    }

    // https://developer.android.com/google/play/billing/lifecycle/one-time
    @Test("A pre-order is read once a day, more often after its release, and for a year after it")
    func preOrder() throws {
        let ordered = Self.pending(release: 142)
        let awaited = try #require(ordered.awaited)
        #expect(awaited.since == Self.day(0).advanced(by: 60 * Self.minute))
        #expect(awaited.until >= Self.day(142 + 365))
        #expect(awaited.until < Self.day(142 + 367))
        #expect(ordered.pauseBetweenReads(at: Self.day(100)) == Self.aDay)
        #expect(ordered.pauseBetweenReads(at: Self.day(143)) == Self.aDay / 4)
        // The developer may have moved the release.
        #expect(ordered.pauseBetweenReads(at: Self.day(142 + 31)) == Self.aDay)
        #expect(Self.pending(release: -1).awaited?.until ?? Self.day(0) > Self.day(365))
        // Cash is paid within days, or never.
        let cash = Self.pending(release: nil)
        #expect(cash.awaited?.until == Self.day(30))
        #expect(cash.pauseBetweenReads(at: Self.day(1)) == Self.aDay / 4)
    }
}
