import Testing
import TollgateCore

@testable import AppStoreConnector

@Suite("What looks overdue")
struct OverdueTests {
    /// A story: what was stated on which day of a period that ends on day 30.
    struct Story: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var status: (day: Double, value: Int64)?
        var renewal: (day: Double, graceEnd: Double?)?
        /// On which days the store should be asked.
        var expected: [Double: Bool]
    }

    static let stories = [
        Story(
            testDescription: "nobody said anything since it began",
            status: (1, 1),
            renewal: (1, nil),
            expected: [29: false, 30: false, 30.01: true, 200: true, 211: false]
        ),
        Story(
            testDescription: "it was said to have expired",
            status: (30.1, 2),
            renewal: (30.1, nil),
            expected: [30.2: false, 90: false]
        ),
        Story(
            testDescription: "it was revoked",
            status: (30.1, 5),
            renewal: nil,
            expected: [31: false]
        ),
        Story(
            testDescription: "it is in grace: the end of that is awaited",
            status: (30, 4),
            renewal: (30, 46),
            expected: [31: false, 45.9: false, 46.01: true]
        ),
        Story(
            testDescription: "payment is tried again: asked daily, for two months",
            status: (30.1, 3),
            renewal: (30.1, nil),
            expected: [30.5: false, 31.2: true, 91: true, 93: false]
        ),
        Story(
            testDescription: "it was said to go on, yet no period came",
            status: (30.1, 1),
            renewal: (30.1, nil),
            expected: [30.11: false, 30.2: true]
        ),
        Story(
            testDescription: "only a period is known",
            status: nil,
            renewal: nil,
            expected: [29: false, 31: true]
        ),
    ]

    static func instant(_ day: Double) -> Instant {
        Instant(milliseconds: 1_767_225_600_000 + Int64(day * 86_400_000))
    }

    static let key = Purchase.Key(
        store: .appStore,
        environment: .production,
        application: "com.example.app",
        id: "1"
    )

    static func fact(_ day: Double, _ statement: Statement) -> Fact {
        Fact(purchase: key, source: "n", stated: Stated(instant(day)), statement: statement)
    }

    static func period(_ kind: Period.Kind, end: Double?) -> Statement {
        .period(
            Period(
                id: "1",
                transactionID: "1",
                product: "monthly",
                kind: kind,
                start: instant(0),
                end: end.map(instant)
            )
        )
    }

    @Test("a subscription is asked about until somebody explains its end", arguments: stories)
    func subscriptions(_ story: Story) {
        var facts = [Self.fact(0, Self.period(.autoRenewable, end: 30))]
        if let (day, value) = story.status {
            facts.append(Self.fact(day, .status(SubscriptionStatus(value: value))))
        }
        if let (day, graceEnd) = story.renewal {
            let terms = RenewalTerms(willRenew: true, graceEnd: graceEnd.map(Self.instant))
            facts.append(Self.fact(day, .renewal(terms)))
        }
        let purchase = Purchase(key: Self.key, joining: facts)
        for (day, isOverdue) in story.expected.sorted(by: { $0.key < $1.key }) {
            #expect(purchase.looksOverdue(at: Self.instant(day)) == isOverdue, "day \(day)")
        }
    }

    /// A story of several periods, by the days of their starts and ends.
    struct Succession: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var facts: [Fact]
        var expected: [Double: Bool]
    }

    static let successions = [
        Succession(
            testDescription: "a renewal never began: the year in its place is awaited",
            facts: [
                paid("1", 0, 30), paid("2", 29, 394),
                paid("3", 30, 60, said: 29.5) { $0.isUpgraded = true },
                fact(29.5, .status(SubscriptionStatus(value: 1))),
            ],
            expected: [31: false, 61: false, 239: false, 393.9: false, 394.01: true]
        ),
        Succession(
            testDescription: "an older purchase is shared again: its end is awaited",
            facts: [
                paid("1", 5, 370, said: 50) { $0.isFamilyShared = true },
                paid("2", 30, 60, said: 40) {
                    $0.isFamilyShared = true
                    $0.revoked = instant(40)
                },
            ],
            expected: [55: false, 61: false, 371: true]
        ),
        Succession(
            testDescription: "a year ends where a month begins",
            facts: [paid("1", 0, 365), paid("2", 60, 90)],
            expected: [61: false, 89: false, 91: true]
        ),
        Succession(
            testDescription: "a later status 5 ends the period, and nothing is awaited",
            facts: [
                paid("1", 0, 30), fact(10, .status(SubscriptionStatus(value: 5))),
            ],
            expected: [11: false, 31: false]
        ),
        Succession(
            testDescription: "the newest was refunded, and no status says what is left",
            facts: [
                paid("1", 0, 30), paid("2", 30, 60, said: 40) { $0.revoked = instant(40) },
            ],
            expected: [41: true]
        ),
        Succession(
            testDescription: "all that is known was upgraded",
            facts: [paid("1", 0, 30, said: 10) { $0.isUpgraded = true }],
            expected: [29: false, 31: true]
        ),
    ]

    static func paid(
        _ id: String,
        _ from: Double,
        _ to: Double,
        said day: Double? = nil,
        _ change: (inout Period) -> Void = { _ in }
    ) -> Fact {
        var period = Period(
            id: id,
            transactionID: id,
            product: "plan \(to - from > 100 ? "yearly" : "monthly")",
            kind: .autoRenewable,
            start: instant(from),
            end: instant(to)
        )
        change(&period)
        return fact(day ?? from, .period(period))
    }

    @Test("the period that ends last and was not replaced is awaited", arguments: successions)
    func succeeding(_ story: Succession) {
        for facts in [story.facts, story.facts.reversed()] {
            let purchase = Purchase(key: Self.key, joining: facts)
            for (day, isOverdue) in story.expected.sorted(by: { $0.key < $1.key }) {
                #expect(purchase.looksOverdue(at: Self.instant(day)) == isOverdue, "day \(day)")
            }
        }
    }

    @Test(
        "what does not renew is never overdue",
        arguments: [
            Period.Kind.consumable, .nonConsumable, .nonRenewing,
        ]
    )
    func others(_ kind: Period.Kind) {
        let facts = [Self.fact(0, Self.period(kind, end: nil))]
        let purchase = Purchase(key: Self.key, joining: facts)
        for day in [0.0, 31, 400] { #expect(!purchase.looksOverdue(at: Self.instant(day))) }
    }
}
